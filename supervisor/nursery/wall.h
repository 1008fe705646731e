/*  wall - Landlock around a program, raised in the nursery's child just before exec.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_WALL_H
#define AG_WALL_H

//  From here on this thread reaches: below each path of the list, reading and executing; the program
//  (an open descriptor) likewise; below dir and the paths of own, everything; /dev/null. Where the kernel
//  can, no signals and no abstract sockets to processes outside. A path that does not exist grants nothing.
//  0, or -1 with errno.
int ag_wall_landlock (char *const *readable, char *const *own, const char *dir, int program);
#endif
