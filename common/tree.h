/*  tree - a folder that is taken away with all that is in it.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_TREE_H
#define AG_TREE_H

//  Of one file system, however deep; a link goes, not what it leads to. What cannot be taken away stays, under
//  another name may be, and is logged in one line, and the rest goes nevertheless. A folder that is not there is none.
void ag_tree_remove (const char *dir);
#endif
