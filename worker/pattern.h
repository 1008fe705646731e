/*  pattern - the patterns of Lua, read once and matched within a budget.
 *
 *  Lua's own matcher backtracks without bound inside one C call, where no hook can stop it: sixty
 *  characters and five `.-` take most of a second, a hundred and twenty take for ever. This one asks its
 *  caller every few thousand steps whether to go on. A pattern is read before it is matched, so a
 *  malformed one is an error even where the subject would never have reached the fault.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_PATTERN_H
#define AG_PATTERN_H
#include "common/buf.h"
#include "common/err.h"

enum { AG_PATTERN_ITEMS = 256, AG_PATTERN_CAPTURES = 32, AG_PATTERN_STEPS = 4096 };

struct ag_pattern_item {
    uint8_t kind, repeat, a, b; //  a and b: delimiters of %b, number of a capture
    uint32_t set[8];            //  the bytes that match, as bits
};

struct ag_pattern {
    bool anchored;
    unsigned count, captures;
    struct ag_pattern_item items[AG_PATTERN_ITEMS];
};

struct ag_capture {
    size_t at, n;
    bool position; //  "()": at is the value
};

struct ag_match {
    size_t start, end; //  of the whole match
    struct ag_capture captures[AG_PATTERN_CAPTURES];
};

//  Called every AG_PATTERN_STEPS steps; false stops the match.
typedef bool ag_spend_fn (void *arg);

//  Read a pattern. Where anchors is false a leading ^ stands for itself (as in string.gmatch).
int ag_pattern_read (struct ag_pattern *self, struct ag_str text, bool anchors, struct ag_err *err);

//  Find the first match that starts at or after `at`: 1 and match filled, 0 none, -1 spend said no.
int ag_pattern_find (const struct ag_pattern *self, struct ag_str subject, size_t at,
                     ag_spend_fn *spend, void *arg, struct ag_match *match);
#endif
