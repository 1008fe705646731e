/*  host - the life of agsup-worker: walls, hello, more walls, packs, then one invocation after the other.
 *
 *  No byte of a pack is looked at before every wall stands. Returns when the supervisor says stop (0), or
 *  with -1 and a reason; the code's exit status is the process's. AG_E_NET: a limit of the script host
 *  was met, which is told to the supervisor first; the process has to end, since a script that met one
 *  cannot be trusted to have stopped.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_HOST_H
#define AG_HOST_H
#include "common/err.h"

//  What the environment says beside where to connect; every pointer may be NULL.
struct ag_host_place {
    const char *files;    //  AGSUP_FILES: granted directories, separated by colons
    const char *landlock; //  AGSUP_LANDLOCK: "off" leaves that wall out; it is up else
};

int ag_host_run (const struct ag_host_place *place, struct ag_err *err);
#endif
