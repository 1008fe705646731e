/*  hears - events of one agent's run, told to another's as message.received.
 *
 *  Delivered in the batch of the event itself, or later; how far each hearer has heard each run is kept
 *  in the same batch, so each event is told once. See docs/design/fleet.md.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_HEARS_H
#define AG_HEARS_H
#include "supervisor/house.h"

//  A bounded number of events; the rest with the next turns. A link that cannot deliver is logged once, tried
//  again each turn and touches no other.
void ag_hears_deliver (struct ag_house *house);
#endif
