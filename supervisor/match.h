/*  match - which behaviours an event concerns: registrations checked, then compared with events.
 *
 *  A registration is the `behaviors` list of a hello or register, kept as the normal value it is:
 *  [{name, pack?, on: [type…], where?: {"dotted.path": literal}, relation_type?}].
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_MATCH_H
#define AG_MATCH_H
#include "common/value.h"

enum { AG_BEHAVIORS_MAX = 256 };

//  Check a normal value that a worker sent. Each behaviour has a name of 1 to 64 bytes, unique in the
//  list, and at least one event type. Refused by name, not ignored: unknown fields, `pattern`, `view`,
//  `activate_after`, and `where` beyond equality (AG_E_NOT_BUILT); everything else AG_E_BAD_MESSAGE.
int ag_match_check (struct ag_str behaviors, struct ag_err *err);

//  Does this behaviour (one element of a checked list) want an event of this type and payload?
//  A relation behaviour's relations are the caller's to find.
bool ag_match_event (struct ag_str behavior, struct ag_str type, struct ag_str payload);

//  Call fn for each text anywhere in a value that could be an id; stops early when fn returns true.
typedef bool ag_text_fn (void *context, struct ag_str text);
bool ag_match_texts (struct ag_str value, ag_text_fn *fn, void *context);
#endif
