/*  home - where a fleet lives: its lock, identity, token, sockets, data.
 *
 *      HOME/lock   flock'd by the nursery for as long as the house stands; holds its pid
 *      HOME/id     32 hex characters, made once; ID, which AGSUP_HOME_ID says, is made of them and of the
 *                  device and inode of this file, so that a copy of a home is another house
 *      HOME/run    0700: token, and the sockets unless their paths would be longer than 90 bytes; those
 *                  live in /run/agsup/ID (a root house) or $XDG_RUNTIME_DIR/agsup/ID then
 *      HOME/data   the store          HOME/log   what processes printed
 *
 *  The workers of a root house have uids of their own and cannot cross HOME: their socket always lives in
 *  /run/agsup/ID (0711). Every process finds the same paths by itself. All strings belong to the struct.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_HOME_H
#define AG_HOME_H
#include "common/buf.h"
#include "common/err.h"
#include <sys/types.h>

enum {
    AG_HOME_ID = 32,
    AG_TOKEN = 64,
    AG_HOME_SOCKET = 90,
    AG_HOME_FILES = 4096 //  that each process of the house may at least have open
};

struct ag_home {
    char *dir; //  absolute, without symbolic links
    char id[AG_HOME_ID + 1];
    char *lock, *run, *token, *data, *log;
    char *client, *monitor, *broker, *worker; //  paths of the sockets
};

//  Make dir (0700) and its identity where they do not exist. AG_E_CONFIG for a folder that is no home and
//  holds other things.
int ag_home_make (const char *dir, struct ag_err *err);
//  A home that exists; AG_E_NOT_ALLOWED for one of somebody else. On failure nothing is to be freed.
int ag_home_open (struct ag_home *self, const char *dir, struct ag_err *err);
void ag_home_fini (struct ag_home *self);

//  Take the lock and write our pid into it: the descriptor (close-on-exec), which holds the lock until its
//  last duplicate is closed. AG_E_RUNNING names who holds it.
int ag_home_lock (const struct ag_home *self, struct ag_err *err);
//  The pid of the process that holds the lock; 0 when nobody does, -1 when that cannot be told.
pid_t ag_home_holder (const struct ag_home *self, struct ag_err *err);

//  A file, of the home or named by the operator, that is to be one, close-on-exec: a pipe in its place would keep
//  whoever opens it.
//  AG_E_NOT_FOUND, or AG_E_EXISTS where something else has its name.
int ag_home_open_file (const char *path, int flags, struct ag_err *err);

//  By the holder of the lock, at each `up`: the directories of sockets, data and log, and a new token.
int ag_home_prepare (const struct ag_home *self, struct ag_err *err);
//  At the end, by the holder of the lock: the directories outside the home that `prepare` made, with the
//  sockets of processes that were killed. What else lies there stays.
void ag_home_leave (const struct ag_home *self);
//  The token of this `up`: AG_TOKEN hex characters and a NUL. AG_E_NO_SUPERVISOR when there is none.
int ag_home_token (const struct ag_home *self, char token[AG_TOKEN + 1], struct ag_err *err);
#endif
