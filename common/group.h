/*  group - the control group of this process, where version 2 is mounted: alone, or beside version 1.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_GROUP_H
#define AG_GROUP_H

//  Its directory, opened; with its path, which the caller frees, unless path is NULL. -1 with errno and no
//  path: there is none to be seen from here.
int ag_group_open (char **path);
#endif
