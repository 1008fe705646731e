/*  look - how output looks: for people or for programs, with colour or without, safe for a terminal.
 *
 *  stdout is data, stderr is words. What came from outside may hold anything; on its way to a person it
 *  goes through ag_look_text, which shows control characters instead of sending them.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_LOOK_H
#define AG_LOOK_H
#include "client/parse.h"
#include "common/value.h"

#include <stdio.h>

struct ag_look {
    bool json, quiet;
    bool color, words_color; //  on stdout, on stderr
    bool terminal;           //  stdout is one
    bool progress;           //  stderr is one, and nobody asked for quiet
    int columns;             //  of the terminal that stdout is; 0: as many as it takes
    int64_t now;             //  seconds since 1970, for "3m ago"
};

enum ag_paint { AG_PLAIN, AG_BOLD, AG_DIM, AG_RED, AG_GREEN, AG_YELLOW, AG_CYAN };

struct ag_look ag_look (const struct ag_call *call);

//  The escape sequence for stdout, or "" where there is no colour.
const char *ag_paint (const struct ag_look *look, enum ag_paint paint);
//  The colour that a state is shown in ("ready", "failed", ...).
enum ag_paint ag_state_paint (struct ag_str state);

//  Text on one line: control characters as \n or \x1b, marks that turn its direction as \u202e, all else as it is.
void ag_look_text (FILE *out, struct ag_str text);
//  The same with line breaks and tabs left as they are.
void ag_look_lines (FILE *out, struct ag_str text);
//  Text that ends with "…" where it would take more columns (0: it never does), by the width of its letters;
//  colours take none and are kept.
void ag_look_cut (FILE *out, struct ag_str text, int columns);
//  The rest of a line after `indent` columns: as ag_look_text, cut at the terminal's edge, with its end.
void ag_look_line (const struct ag_look *look, struct ag_str text, int indent);
//  What makes a word one of so many: "" of 1, "s" of any other number.
const char *ag_look_s (uint64_t count);
//  "3m ago", "in 5s", of an RFC 3339 time; the text itself when it is none, "-" when it is absent.
void ag_look_when (const struct ag_look *look, struct ag_str time, char room[40]);

//  A value on one line of output (AG_JSON_PRETTY for a person that asked for JSON).
void ag_look_json (const struct ag_look *look, struct ag_str value);
//  A value as a line of a stream.
void ag_look_json_line (struct ag_str value);

//  The last thing before the end, and after each part of a stream: 0, or -1 when nobody reads (err says
//  AG_OK: end quietly) or the output cannot be written.
int ag_look_flush (struct ag_err *err);
//  Print an error as this call wants it, in words where a document cannot be written; returns the exit status.
int ag_look_error (const struct ag_call *call, const struct ag_err *err);
#endif
