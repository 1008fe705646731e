/*  pager - what is longer than the screen goes through $PAGER, where a person looks on.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_PAGER_H
#define AG_PAGER_H
#include "client/look.h"

#include <sys/types.h>

//  Where stdout is a terminal and neither --json nor --quiet was said, stdout goes to $AGSUP_PAGER, $PAGER or
//  `less` (where there is one) from here on; LESS is FRX unless set, so that one screen is shown as it is. An
//  empty one or `cat` is none.
struct ag_pager {
    pid_t pid; //  0: there is none
    int saved; //  the terminal
};
void ag_pager_begin (struct ag_pager *self, const struct ag_look *look);
//  Returns when the person has left it; stdout is the terminal again.
void ag_pager_end (struct ag_pager *self);
#endif
