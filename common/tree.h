/*  tree - a folder that is taken away with all that is in it.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_TREE_H
#define AG_TREE_H
#include <stdbool.h>
#include <stddef.h>

//  Of one file system, however deep; a link goes, not what it leads to. What cannot be taken away stays, under
//  another name may be, and is logged in one line, and the rest goes nevertheless. A folder that is not there is none.
void ag_tree_remove (const char *dir);

//  The same bit by bit, for who has other things to do meanwhile. `dir`, made if it is not there, is on the file
//  system of what it is to take and holds nothing else.
typedef struct ag_tree ag_tree_t;
ag_tree_t *ag_tree_new (const char *dir);
//  It is not at its path any more; where it cannot be moved into dir it is removed at once.
void ag_tree_take (ag_tree_t *self, const char *path);
//  So many steps, each a call or two into the kernel. True: there is more to do.
bool ag_tree_step (ag_tree_t *self, size_t most);
//  What is still there stays.
void ag_tree_destroy (ag_tree_t **self_p);
#endif
