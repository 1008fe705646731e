/*  private - the directory that one process of a worker may write to: made before it, removed after it.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_PRIVATE_H
#define AG_PRIVATE_H
#include "supervisor/fleet.h"

enum { AG_PRIVATE_FILES = 4096, AG_PRIVATE_BYTES = 64 << 20 };

//  Make unit->dir, empty, owned by unit->uid when that is not 0. A program (host: its part of the spec; p
//  NULL for our own worker) finds its folder there, where it lies below the configuration's, as a copy when it has a
//  uid of its own, since it could not read the original; *work is then NULL, else the configuration's folder, which
//  the caller frees. Not copied are links, names with a dot before them, and what others may not read. One that came
//  in a pack finds the files of the last pack of its host.
int ag_private_make (struct ag_house *house, struct ag_unit *unit, struct ag_str host, char **work,
                     struct ag_err *err);
//  Take it away with all it holds, bit by bit: once a turn, true while there is more. What cannot go is logged.
void ag_private_remove (struct ag_house *house, struct ag_unit *unit);
bool ag_private_pump (struct ag_house *house);
//  Take away what an earlier house left; and at the end of a house that leaves, all, with the folder of the worker
//  socket.
void ag_private_begin (struct ag_house *house);
void ag_private_end (struct ag_house *house);
#endif
