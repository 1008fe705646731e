/*  match - which behaviours an event concerns: registrations checked, then compared with events.
 *
 *  A registration is the `behaviors` list of a hello or register, kept as the normal value it is:
 *  [{name, pack?, on: [type…], where?, pattern?, relation_type?, view?, activate_after?, priority?}].
 *  docs/design/behaviours.md says what each means.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_MATCH_H
#define AG_MATCH_H
#include "common/value.h"

enum { AG_BEHAVIORS_MAX = 256, AG_DELAY_MAX = 1000000000 };

//  Check a normal value that a worker sent. Each behaviour has a name of 1 to 64 bytes, unique in the
//  list, and at least one event type, or a pattern. AG_E_BAD_MESSAGE names the behaviour and what to write.
int ag_match_check (struct ag_str behaviors, struct ag_err *err);

//  Of one element of a checked list:
//  Does it want an event of this type and payload? Its pattern, and a relation behaviour's relations, are the
//  caller's to find.
bool ag_match_event (struct ag_str behavior, struct ag_str type, struct ag_str payload);
//  After how many events it is handed out; 0: at once.
uint64_t ag_match_delay (struct ag_str behavior);
//  Higher comes first.
int64_t ag_match_priority (struct ag_str behavior);

//  Call fn for each text anywhere in a value that could be an id, which a key of a map is not: it names a field.
//  Stops early when fn returns true.
typedef bool ag_text_fn (void *context, struct ag_str text);
bool ag_match_texts (struct ag_str value, ag_text_fn *fn, void *context);
#endif
