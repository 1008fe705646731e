/*  daemon - the skeleton of supervisor and broker.
 *
 *      struct ag_daemon daemon;
 *      if (ag_daemon_init (&daemon, "agsup-broker", argv[1], &err) == 0)
 *          ...make sockets, add them to daemon.loop...
 *          ag_daemon_run (&daemon, &err)
 *      ag_daemon_fini (&daemon)
 *
 *  In this order: the log's name, not dumpable, SIGPIPE ignored, descriptors, the home, the loop with its
 *  signals, and only then the ZeroMQ context. SIGTERM and SIGINT end the loop; SIGHUP does nothing.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_DAEMON_H
#define AG_DAEMON_H
#include "common/home.h"
#include "common/loop.h"
#include "common/net.h"

enum { AG_DAEMON_FILES = 65536 }; //  at most, AG_HOME_FILES at least

struct ag_daemon {
    struct ag_home home;
    ag_loop_t *loop;
    void *context;      //  ZeroMQ's; every socket is closed before ag_daemon_fini
    size_t connections; //  that this process can hold and still be far from its descriptor limit
};

//  On failure everything is undone.
int ag_daemon_init (struct ag_daemon *self, const char *name, const char *home, struct ag_err *err);
void ag_daemon_fini (struct ag_daemon *self);
//  Until a signal or ag_loop_stop.
int ag_daemon_run (struct ag_daemon *self, struct ag_err *err);

//  Say on stderr what err holds and give the exit status of its code, for the end of main.
int ag_daemon_exit (const struct ag_err *err);
#endif
