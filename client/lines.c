//  SPDX-License-Identifier: Apache-2.0
#include "client/lines.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LINE_BYTES = 8 << 20, PIPE_MS = 30000 };

//  Opened without waiting for who writes a pipe, so that the wait can have an end.
static int
await_writer (const struct ag_client *client, int fd, const char *file, struct ag_err *err)
{
    struct stat st;
    struct pollfd poll_fd = {fd, POLLIN, 0};
    int64_t left_ms = ag_client_left_ms (client, PIPE_MS);
    if (!fstat (fd, &st) && S_ISFIFO (st.st_mode) &&
        poll (&poll_fd, 1, left_ms < INT_MAX ? (int)left_ms : INT_MAX) == 0)
        return ag_fail (err, AG_E_TIMEOUT, "%s is a pipe into which nobody writes", file);
    fcntl (fd, F_SETFL, fcntl (fd, F_GETFL) & ~O_NONBLOCK);
    return 0;
}

int
ag_lines_open (struct ag_lines *self, const struct ag_client *client, const char *file,
               struct ag_err *err)
{
    *self = (struct ag_lines){.in = stdin, .name = "standard input"};
    if (!strcmp (file, "-"))
        return 0;
    int fd = open (file, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return ag_fail (err, AG_E_USAGE, "%s: %s", file, strerror (errno));
    if (await_writer (client, fd, file, err)) {
        close (fd);
        return -1;
    }
    self->name = file;
    self->in = fdopen (fd, "r");
    assert (self->in);
    return 0;
}

//  Into `line`: 1, 0 at the end, -1. getline would take any length.
static int
read_line (struct ag_lines *self, struct ag_err *err)
{
    int c;
    ag_buf_clear (&self->line);
    self->number++;
    while ((c = getc_unlocked (self->in)) != EOF && c != '\n' && self->line.n < LINE_BYTES)
        ag_buf_add (&self->line, &(char){(char)c}, 1);
    if (c == EOF && ferror (self->in))
        return ag_fail (err, AG_E_SYSTEM, "%s: %s", self->name, strerror (errno));
    if (self->line.n == LINE_BYTES && c != '\n' && c != EOF)
        return ag_fail (err, AG_E_TOO_LARGE, "%s, line %" PRIu64 ": more than %d bytes", self->name,
                        self->number, LINE_BYTES);
    return c != EOF || self->line.n > 0;
}

int
ag_lines_next (struct ag_lines *self, struct ag_str *line, struct ag_err *err)
{
    int rc;
    while ((rc = read_line (self, err)) > 0) {
        *line = ag_buf_str (&self->line);
        while (line->n && memchr (" \t\r\n", line->p[line->n - 1], 4))
            line->n--;
        if (line->n)
            return 1;
    }
    return rc;
}

void
ag_lines_close (struct ag_lines *self)
{
    if (self->in != stdin)
        fclose (self->in);
    ag_buf_fini (&self->line);
}
