/*  filter - system calls that a process of the house, or a program it runs, is denied.
 *
 *  Each filter allows everything but what its process never has a reason to do; what is denied fails with
 *  EPERM, what a program may try and do without (clone3, io_uring) with ENOSYS, as on a kernel without it. Calls by
 *  another architecture's numbers (x32, int 0x80) end the process. Packs written in Lua have a stricter one
 *  of their own (worker/jail.h).
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_FILTER_H
#define AG_FILTER_H
#include "common/buf.h"
#include "common/err.h"

enum ag_filter {
    AG_FILTER_SUPERVISOR, //  neither exec nor internet sockets
    AG_FILTER_BROKER,     //  no exec
    AG_FILTER_PROGRAM, //  an agent's program: Unix sockets only, nothing that reaches other processes
                       //  or the kernel's insides
    AG_FILTER_NETWORK //  the same with internet sockets, as granted
};

//  In force for every thread of this process from now on. AG_E_SYSTEM.
int ag_filter_enter (enum ag_filter filter, struct ag_err *err);
//  Append the filter as an array of struct sock_filter, for a child that has no code of ours. strict: who
//  reaches for other processes or the kernel's insides ends by SIGSYS.
int ag_filter_export (enum ag_filter filter, bool strict, struct ag_buf *out, struct ag_err *err);
#endif
