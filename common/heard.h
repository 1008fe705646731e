/*  heard - an event type that somebody waits for: can such an event ever come?
 *
 *  The house keeps some first words of types for itself (FAMILY in schemas/events.def), and below them there are no
 *  types but its own (EVENT). All others are free. Of its own, behaviours are given only those that are queued; another
 *  agent hears (`hears`) every one.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_HEARD_H
#define AG_HEARD_H
#include "common/buf.h"

enum ag_hearer { AG_BEHAVIOR, AG_OTHER_AGENT };

//  False with why, and the type that was probably meant, appended: "`goal.creted` never comes: ...".
bool ag_heard (struct ag_str type, enum ag_hearer hearer, struct ag_buf *why);
#endif
