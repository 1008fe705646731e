/*  mounts - the file system of a child that has a mount namespace of its own.
 *
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_MOUNTS_H
#define AG_MOUNTS_H
#include <stdbool.h>

//  What there is, by the paths it has outside. Lists end with NULL; what does not exist is left out.
struct ag_mounts {
    char *const *readable; //  never written, no devices
    const char *dir;       //  "/": none
    char *const *own;      //  as dir, also where they lie below what is hidden
    char *const *hidden;   //  empty directories instead, wherever they would be seen
    bool proc; //  a process table of its own: the caller is the first of a pid namespace
};

//  In a new mount namespace: from here on there is nothing else but /proc and five devices, the root cannot
//  be written, and the working directory is `dir`. 0, or -1 with errno and everything as it was for this
//  process. What is held open stays so.
int ag_mounts_enter (const struct ag_mounts *self);
#endif
