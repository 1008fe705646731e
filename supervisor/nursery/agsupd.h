/*  agsupd - the nursery: it makes and ends processes, and does nothing else.
 *
 *  One thread, one poll loop, no descriptor that blocks; after the start it reads and writes only /proc,
 *  its control groups and the pair to the supervisor. Errors.def 75: another house holds the home.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_AGSUPD_H
#define AG_AGSUPD_H
#include <sys/resource.h>
#include "common/err.h"

struct ag_agsupd_options {
    const char *home, *config; //  config: absolute or NULL
    const char *programs;      //  the directory of agsup-supervisor and agsup-broker
    int ready_fd;              //  gets a line when the supervisor is ready, then closes; or -1
    unsigned stop_ms;          //  how long the supervisor may take to end the fleet in order
    int in, log;               //  for the house's processes
    struct rlimit open_files;  //  for children
};

//  Live until told to stop: the exit status, or -1 when the house cannot be started.
int ag_agsupd_run (const struct ag_agsupd_options *options, struct ag_err *err);
#endif
