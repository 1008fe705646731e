//  SPDX-License-Identifier: Apache-2.0
#include "supervisor/output.h"
#include "common/home.h"
#include "common/log.h"
#include "common/value.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PIECE = 16384, PAGE = 256 << 10, DRAIN_PIECES = 64 };

struct pipe_end {
    ag_output_t *output;
    int fd;
    bool is_stderr;
};

struct ag_output {
    char *dir, *name;
    char *stem; //  what its files are called by: the name without the `/` that a label may have
    ag_loop_t *loop;
    int file;        //  the segment that is being written, -1: none
    uint64_t base;   //  offset of its first byte
    uint64_t end;    //  offset after the last byte
    uint64_t oldest; //  offset of the oldest byte kept
    bool broken;     //  the disk refused; said once
    bool looked;     //  the offsets are known: many units never say or are asked anything
    struct pipe_end pipes[2];
    char *tail;        //  AG_OUTPUT_TAIL bytes, from the first byte of stderr on
    uint64_t tail_end; //  bytes of stderr so far
};

static char *
segment (const ag_output_t *self, uint64_t base)
{
    return ag_xprintf ("%s/%s.%012" PRIu64 ".log", self->dir, self->stem, base);
}

//  The base offset in a segment's file name, or -1 when the file is another unit's.
static int
base_of (const ag_output_t *self, const char *file, uint64_t *base)
{
    size_t n = strlen (self->stem);
    if (strncmp (file, self->stem, n) || file[n] != '.')
        return -1;
    const char *digits = file + n + 1;
    if (strspn (digits, "0123456789") != 12 || strcmp (digits + 12, ".log"))
        return -1;
    *base = strtoull (digits, NULL, 10);
    return 0;
}

//  Where earlier output ended: the newest segment goes on.
static void
find_segments (ag_output_t *self)
{
    if (self->looked)
        return;
    self->looked = true;
    DIR *dir = opendir (self->dir);
    bool any = false;
    for (struct dirent *entry; dir && (entry = readdir (dir));) {
        uint64_t base;
        if (base_of (self, entry->d_name, &base))
            continue;
        self->oldest = !any || base < self->oldest ? base : self->oldest;
        self->base = !any || base > self->base ? base : self->base;
        any = true;
    }
    if (dir)
        closedir (dir);
    char *path = segment (self, self->base);
    struct stat st;
    self->end = self->base + (!stat (path, &st) ? (uint64_t)st.st_size : 0);
    free (path);
}

ag_output_t *
ag_output_new (const char *dir, const char *name, ag_loop_t *loop)
{
    ag_output_t *self = ag_xcalloc (1, sizeof *self);
    self->dir = ag_xstrdup (dir);
    self->name = ag_xstrdup (name);
    self->stem = ag_xstrdup (name);
    for (char *p = self->stem; *p; p++)
        *p = *p == '/' ? '@' : *p; //  which no label has
    self->loop = loop;
    self->file = -1;
    for (int i = 0; i < 2; i++)
        self->pipes[i] = (struct pipe_end){self, -1, i == 1};
    if (mkdir (dir, 0700) && errno != EEXIST)
        ag_log (AG_WARN, "output of %s is not kept: cannot make %s: %s", name, dir,
                strerror (errno));
    return self;
}

static void
shut (struct pipe_end *end)
{
    if (end->fd < 0)
        return;
    ag_loop_remove_fd (end->output->loop, end->fd);
    close (end->fd);
    end->fd = -1;
}

void
ag_output_destroy (ag_output_t **self_p)
{
    ag_output_t *self = *self_p;
    if (!self)
        return;
    shut (&self->pipes[0]);
    shut (&self->pipes[1]);
    if (self->file >= 0)
        close (self->file);
    free (self->dir);
    free (self->name);
    free (self->stem);
    free (self->tail);
    free (self);
    *self_p = NULL;
}

//  A new segment, and the oldest one dropped when there are too many.
static void
rotate (ag_output_t *self, struct ag_err *err)
{
    if (self->file >= 0)
        close (self->file);
    if (self->end - self->base >= AG_OUTPUT_SEGMENT)
        self->base = self->end;
    char *path = segment (self, self->base);
    self->file = ag_home_open_file (path, O_WRONLY | O_CREAT | O_APPEND, err);
    free (path);
    while (self->base - self->oldest >= (uint64_t)AG_OUTPUT_SEGMENT * AG_OUTPUT_SEGMENTS) {
        path = segment (self, self->oldest);
        unlink (path);
        free (path);
        self->oldest += AG_OUTPUT_SEGMENT;
    }
}

static void
keep (ag_output_t *self, const char *bytes, size_t n)
{
    struct ag_err err;
    find_segments (self);
    while (n > 0) {
        if (self->file < 0 || self->end - self->base >= AG_OUTPUT_SEGMENT)
            rotate (self, &err);
        size_t room = AG_OUTPUT_SEGMENT - (self->end - self->base);
        size_t part = n < room ? n : room;
        ssize_t written = self->file < 0 ? -1 : write (self->file, bytes, part);
        if (written <= 0) {
            if (!self->broken)
                ag_log (AG_WARN, "output of %s is not kept: %s", self->name,
                        self->file < 0 ? err.text : strerror (errno));
            self->broken = true;
            return;
        }
        self->broken = false;
        self->end += (uint64_t)written;
        bytes += written;
        n -= (size_t)written;
    }
}

static void
remember (ag_output_t *self, const char *bytes, size_t n)
{
    if (!self->tail)
        self->tail = ag_xmalloc (AG_OUTPUT_TAIL);
    for (size_t i = 0; i < n; i++)
        self->tail[self->tail_end++ % AG_OUTPUT_TAIL] = bytes[i];
}

//  One bounded piece of a pipe; true while there may be more.
static bool
read_piece (void *context)
{
    struct pipe_end *end = context;
    char bytes[PIECE];
    ssize_t n = read (end->fd, bytes, sizeof bytes);
    if (n > 0) {
        keep (end->output, bytes, (size_t)n);
        if (end->is_stderr)
            remember (end->output, bytes, (size_t)n);
        return n == sizeof bytes;
    }
    if (n == 0 || (errno != EAGAIN && errno != EINTR))
        shut (end);
    return false;
}

void
ag_output_watch (ag_output_t *self, int stdout_fd, int stderr_fd)
{
    self->tail_end = 0;
    int fds[2] = {stdout_fd, stderr_fd};
    for (int i = 0; i < 2; i++) {
        shut (&self->pipes[i]);
        self->pipes[i].fd = fds[i];
        if (fds[i] >= 0)
            ag_loop_add_fd (self->loop, fds[i], read_piece, &self->pipes[i]);
    }
}

void
ag_output_remove (ag_output_t *self)
{
    shut (&self->pipes[0]);
    shut (&self->pipes[1]);
    if (self->file >= 0)
        close (self->file);
    self->file = -1;
    find_segments (self);
    for (uint64_t base = self->oldest; base <= self->base; base += AG_OUTPUT_SEGMENT) {
        char *path = segment (self, base);
        unlink (path);
        free (path);
    }
    self->looked = false;
    self->base = self->end = self->oldest = 0;
}

void
ag_output_line (ag_output_t *self, struct ag_str text)
{
    keep (self, text.p, text.n);
    keep (self, "\n", 1);
}

void
ag_output_drain (ag_output_t *self)
{
    for (int i = 0; i < 2; i++)
        for (int piece = 0; piece < DRAIN_PIECES && self->pipes[i].fd >= 0; piece++)
            if (!read_piece (&self->pipes[i]))
                break;
}

//  Bytes that are not text, and a character torn at the front, become '?'.
void
ag_output_tail (const ag_output_t *self, struct ag_buf *out)
{
    uint64_t from = self->tail_end > AG_OUTPUT_TAIL ? self->tail_end - AG_OUTPUT_TAIL : 0;
    size_t start = out->n;
    for (uint64_t i = from; i < self->tail_end; i++)
        ag_buf_add (out, &self->tail[i % AG_OUTPUT_TAIL], 1);
    struct ag_str text = {(const char *)out->p + start, out->n - start};
    if (!ag_utf8 (text))
        for (size_t i = start; i < out->n; i++)
            if (out->p[i] >= 128)
                out->p[i] = '?';
}

int
ag_output_read (ag_output_t *self, uint64_t after, struct ag_buf *out, uint64_t *next,
                struct ag_err *err)
{
    struct ag_err why;
    find_segments (self);
    after = after < self->oldest ? self->oldest : after;
    *next = after;
    while (*next < self->end && *next - after < PAGE) {
        uint64_t base = self->base;
        if (*next < base) //  segments before the newest are full, so they lie one size apart
            base = self->base - ((self->base - *next + AG_OUTPUT_SEGMENT - 1) / AG_OUTPUT_SEGMENT) *
                                    AG_OUTPUT_SEGMENT;
        char *path = segment (self, base);
        int file = ag_home_open_file (path, O_RDONLY, &why);
        uint8_t *room = ag_buf_grow (out, PAGE);
        ssize_t n = file < 0 ? -1 : pread (file, room, PAGE, (off_t)(*next - base));
        out->n -= PAGE - (n > 0 ? (size_t)n : 0);
        if (file < 0)
            ag_fail (err, AG_E_SYSTEM, "output of %s at %" PRIu64 ": %s", self->name, *next,
                     why.text);
        else if (n <= 0)
            ag_fail (err, AG_E_SYSTEM, "output of %s at %" PRIu64 " in %s: %s", self->name, *next,
                     path, n < 0 ? strerror (errno) : "ends early");
        if (file >= 0)
            close (file);
        free (path);
        if (n <= 0)
            return -1;
        *next += (uint64_t)n;
    }
    return 0;
}
