/*  jail - the walls that agsup-worker builds around itself; their filters are made by worker/filters.
 *
 *  Two steps, because Landlock confines the calling thread only and seccomp must come after ZeroMQ has
 *  made its socket: `ag_jail_files` while the process has one thread, `ag_jail_calls` once the link
 *  stands and before any byte of a pack is looked at. Neither can be taken back. Each says in `walls`
 *  what is in force, or "off: " and why; what the kernel lacks is not an error here, the supervisor
 *  decides whether that is enough. A step that the kernel has and that fails is an error.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_JAIL_H
#define AG_JAIL_H
#include "common/err.h"

#include <stdbool.h>

struct ag_walls {
    char landlock[128]; //  "abi 6: read below 2 directories", and what an older one leaves open
    char seccomp[96];   //  "standard"
};

enum ag_profile {
    AG_PROFILE_OFF,
    AG_PROFILE_STANDARD, //  what a script host never needs answers EPERM
    AG_PROFILE_STRICT,   //  it ends the process
};

//  Stands in a filter for the pid of who enters it.
#define AG_FILTER_OWN_PID 0x7e57ab1eu

//  The profile of a name; -1 when there is none.
int ag_profile_of (const char *name);

//  Nothing of the file system can be opened any more but for reading, below the directories of a
//  colon-separated list (NULL or empty: none at all); no TCP, no signals or abstract sockets out.
int ag_jail_files (const char *directories, struct ag_walls *walls, struct ag_err *err);

//  An allow-list of system calls for all threads: no new sockets, programs, processes or threads, no
//  signals to others, no executable memory; with `files` an open for reading is left, else none.
int ag_jail_calls (enum ag_profile profile, bool files, struct ag_walls *walls, struct ag_err *err);
#endif
