/*  probe - what this machine lets a child be held by: `agsupd --probe`, asked by `agsup doctor`.
 *
 *  For each net and layer a child is started as any worker is, with that one required, and tries what it is to
 *  keep away. Prints lines `KIND<TAB>NAME<TAB>0|1<TAB>DETAIL`, 1 where it held.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_PROBE_H
#define AG_PROBE_H
#include "common/err.h"

//  In eight seconds at most. -1 when nothing could be tried.
int ag_probe (struct ag_err *err);
//  Inside such a child: the exit status is 0 where the wall held, or what came through (1). 64: no such name.
int ag_probe_inside (const char *name, const char *argument);
#endif
