/*  output - what the processes of one unit print: bounded, kept in segments on disk, readable by offset.
 *
 *  Bytes are stored exactly as printed. A unit keeps its newest AG_OUTPUT_SEGMENTS segments of
 *  AG_OUTPUT_SEGMENT bytes; older ones are dropped, and a reader is told where what it gets begins.
 *  Reading is bounded per turn, so a flood slows its writer and nobody else. A file that cannot be
 *  written costs the output, not the process: it is said once in the log, and the pipe is drained on.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_OUTPUT_H
#define AG_OUTPUT_H
#include "common/buf.h"
#include "common/err.h"
#include "common/loop.h"

enum { AG_OUTPUT_SEGMENT = 1 << 20, AG_OUTPUT_SEGMENTS = 4, AG_OUTPUT_TAIL = 4096 };

typedef struct ag_output ag_output_t;

//  The unit's output in folder dir (made when missing) under name; goes on where an earlier one ended.
ag_output_t *ag_output_new (const char *dir, const char *name, ag_loop_t *loop);
void ag_output_destroy (ag_output_t **self_p);

//  Take the read ends of a new process's stdout and stderr (-1: none) and read them until they end.
//  The tail begins anew.
void ag_output_watch (ag_output_t *self, int stdout_fd, int stderr_fd);

//  Its end: what was printed is gone, the tail is not.
void ag_output_remove (ag_output_t *self);

//  Append a line of the house or of a worker's `log`.
void ag_output_line (ag_output_t *self, struct ag_str text);

//  Read everything that the pipes hold now: called when the process is known to be gone, before its tail
//  is asked for.
void ag_output_drain (ag_output_t *self);

//  The last AG_OUTPUT_TAIL bytes of stderr, as valid UTF-8 text appended to out.
void ag_output_tail (const ag_output_t *self, struct ag_buf *out);

//  Bytes from offset `after` on, 256 KiB at most, appended to out; *next is the offset to go on from. An
//  offset that has been dropped begins at the oldest byte kept.
int ag_output_read (ag_output_t *self, uint64_t after, struct ag_buf *out, uint64_t *next,
                    struct ag_err *err);
#endif
