/*  verification - verifications that clients wait for: one at a time, a piece of some milliseconds a turn.
 *
 *  Nothing of one is stored. It lives as long as somebody asks for it, as a replay does.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_VERIFICATION_H
#define AG_VERIFICATION_H
#include "supervisor/house.h"

//  Once a turn, when what it wrote is on disk: a piece of the first one in line; what nobody asks for is forgotten.
void ag_verifications_pump (struct ag_house *house);
void ag_verifications_destroy (struct ag_house *house);
#endif
