/*  near - the name that somebody probably meant.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_NEAR_H
#define AG_NEAR_H
#include "common/buf.h"

//  Of count names (NULL entries are skipped) the one with the fewest typing errors to word (a letter
//  missing, too many, wrong, or two swapped); NULL when none is within a third of word's length.
const char *ag_near (struct ag_str word, const char *const *names, size_t count);
#endif
