/*  resident - a process of the house itself: supervisor or broker, started again whenever it dies.
 *
 *  At once the first time; after that, while it dies without having been ready in between, the delay
 *  doubles from 50 ms to 5 s. It is called as `PROGRAM --home DIR [--config FILE]`, with AGSUP_HOME_ID and a new
 *  AGSUP_NONCE in the environment of the nursery, and with the descriptors of its setting from 3 on.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_RESIDENT_H
#define AG_RESIDENT_H
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include "common/spawn.h"

//  What the nursery gives along.
struct ag_setting {
    const char *home, *home_id, *config; //  config may be NULL
    int in, log;                         //  standard input; standard output and error
    int give[2], given;                  //  become 3, 4
};

struct ag_resident {
    const char *name;
    char program[PATH_MAX];
    char nonce[AG_NONCE];
    pid_t pid; //  0 while it does not live
    int pidfd;
    unsigned deaths;   //  since it was last ready
    uint64_t start_ms; //  not before
};

//  How it ended: exit status, or -1 and the signal.
struct ag_death {
    int code, signal;
};

//  Find the program NAME in a directory; AG_E_SYSTEM when it cannot be executed.
int ag_resident_init (struct ag_resident *self, const char *name, const char *dir,
                      struct ag_err *err);
//  Start it; a start that the system refuses counts as a death. 0 or -1.
int ag_resident_start (struct ag_resident *self, const struct ag_setting *setting,
                       struct ag_err *err);
void ag_resident_ready (struct ag_resident *self);
//  Reap it when it has ended: true, and the next start is due after its delay.
bool ag_resident_reap (struct ag_resident *self, struct ag_death *death);
void ag_resident_signal (const struct ag_resident *self, int signal);
//  The delay before the start that follows so many deaths.
uint64_t ag_resident_delay_ms (unsigned deaths);
#endif
