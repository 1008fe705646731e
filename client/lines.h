/*  lines - a text that is read line by line: a file, a pipe, or what stands on standard input.
 *
 *  Nothing that is read is believed to end: a line has a limit, and a pipe that nobody writes into is given up.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_LINES_H
#define AG_LINES_H
#include "client/client.h"

struct ag_lines {
    FILE *in;
    const char *name; //  for errors; borrowed
    uint64_t number;  //  of the last line, from 1
    struct ag_buf line;
};

//  "-" is standard input. A pipe has as long as --timeout leaves for its first bytes. AG_E_USAGE names the file; on
//  failure nothing is to be closed.
int ag_lines_open (struct ag_lines *self, const struct ag_client *client, const char *file,
                   struct ag_err *err);
//  The next line that is not empty, without the spaces at its end, until the next call: 1, 0 at the end, -1.
//  AG_E_TOO_LARGE for one of more than 8 MiB.
int ag_lines_next (struct ag_lines *self, struct ag_str *line, struct ag_err *err);
void ag_lines_close (struct ag_lines *self);
#endif
