//  SPDX-License-Identifier: Apache-2.0
#include "worker/pattern.h"

#include <ctype.h>
#include <string.h>

enum kind { ONE, BALANCED, FRONTIER, BACK, OPEN, POSITION, CLOSE, END };

static const size_t NONE = SIZE_MAX;

//  Reading: text to items, each single-byte item a set of 256 bits.

struct reader {
    struct ag_pattern *out;
    const uint8_t *p, *end;
    uint8_t open[AG_PATTERN_CAPTURES]; //  captures not closed yet
    unsigned depth;
    struct ag_err *err;
};

static void
include (uint32_t *set, unsigned from, unsigned to)
{
    for (unsigned c = from; c <= to; c++)
        set[c / 32] |= 1u << c % 32;
}

static bool
holds (const uint32_t *set, uint8_t c)
{
    return set[c / 32] >> c % 32 & 1;
}

//  The classes of the "C" locale as ranges, two bytes each.
static const char *
ranges_of (uint8_t letter, size_t *n)
{
    static const struct {
        char letter, ranges[9];
        uint8_t n;
    } classes[] = {
        {'a', "AZaz", 4},   {'c', "\0\x1f\x7f\x7f", 4}, {'d', "09", 2},     {'g', "!~", 2},
        {'l', "az", 2},     {'p', "!/:@[`{~", 8},       {'s', "\t\r  ", 4}, {'u', "AZ", 2},
        {'w', "09AZaz", 6}, {'x', "09AFaf", 6},
    };
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++)
        if (classes[i].letter == letter) {
            *n = classes[i].n;
            return classes[i].ranges;
        }
    return NULL;
}

//  What %c stands for: a class, its complement when upper case, or the byte itself.
static void
include_escaped (uint32_t *set, uint8_t letter)
{
    uint32_t class[8] = {0};
    size_t n;
    const char *ranges = ranges_of ((uint8_t)(isupper (letter) ? letter + 32 : letter), &n);
    if (!ranges) {
        include (set, letter, letter);
        return;
    }
    for (size_t i = 0; i < n; i += 2)
        include (class, (uint8_t)ranges[i], (uint8_t)ranges[i + 1]);
    for (int i = 0; i < 8; i++)
        set[i] |= isupper (letter) ? ~class[i] : class[i];
}

static int
broken (struct reader *in, const char *what)
{
    return ag_fail (in->err, AG_E_BAD_VALUE, "malformed pattern: %s", what);
}

//  Where the set that starts after "[" and "^" ends: its first byte is a member even when it is "]".
static const uint8_t *
set_end (const struct reader *in)
{
    const uint8_t *p = in->p;
    do {
        if (p < in->end && *p == '%')
            p++;
        p++;
    } while (p < in->end && *p != ']');
    return p < in->end ? p : NULL;
}

static int
read_set (struct reader *in, uint32_t *set)
{
    bool without = in->p < in->end && *in->p == '^';
    in->p += without;
    const uint8_t *end = set_end (in);
    if (!end)
        return broken (in, "a [ has no ]");
    while (in->p < end) {
        if (*in->p == '%') {
            include_escaped (set, in->p[1]);
            in->p += 2;
        } else if (in->p + 2 < end && in->p[1] == '-') {
            include (set, in->p[0], in->p[2]);
            in->p += 3;
        } else {
            include (set, *in->p, *in->p);
            in->p++;
        }
    }
    in->p = end + 1;
    for (int i = 0; without && i < 8; i++)
        set[i] = ~set[i];
    return 0;
}

static int
read_one (struct reader *in, struct ag_pattern_item *item)
{
    uint8_t c = *in->p++;
    item->kind = ONE;
    if (c == '[') {
        if (read_set (in, item->set))
            return -1;
    } else if (c == '%')
        include_escaped (item->set, *in->p++);
    else if (c == '.')
        memset (item->set, 0xff, sizeof item->set);
    else
        include (item->set, c, c);
    if (in->p < in->end && memchr ("*+-?", *in->p, 4))
        item->repeat = *in->p++;
    return 0;
}

static int
read_open (struct reader *in, struct ag_pattern_item *item)
{
    if (in->out->captures == AG_PATTERN_CAPTURES)
        return broken (in, "more than 32 captures");
    item->a = (uint8_t)in->out->captures++;
    item->kind = in->p + 1 < in->end && in->p[1] == ')' ? POSITION : OPEN;
    in->p += item->kind == POSITION ? 2 : 1;
    if (item->kind == OPEN)
        in->open[in->depth++] = item->a;
    return 0;
}

static int
read_close (struct reader *in, struct ag_pattern_item *item)
{
    if (!in->depth)
        return broken (in, "a ) has no (");
    item->kind = CLOSE;
    item->a = in->open[--in->depth];
    in->p++;
    return 0;
}

static int
read_back (struct reader *in, struct ag_pattern_item *item)
{
    unsigned number = (unsigned)in->p[1] - '1';
    item->kind = BACK;
    item->a = (uint8_t)number;
    in->p += 2;
    for (unsigned i = 0; i < in->depth; i++)
        if (in->open[i] == number)
            return broken (in, "a %1 to %9 inside the capture it names");
    return number < in->out->captures ? 0 : broken (in, "a %1 to %9 names no capture before it");
}

static int
read_balanced (struct reader *in, struct ag_pattern_item *item)
{
    if (in->end - in->p < 4)
        return broken (in, "%b needs two characters");
    item->kind = BALANCED;
    item->a = in->p[2];
    item->b = in->p[3];
    in->p += 4;
    return 0;
}

static int
read_frontier (struct reader *in, struct ag_pattern_item *item)
{
    if (in->end - in->p < 3 || in->p[2] != '[')
        return broken (in, "%f needs a [set]");
    item->kind = FRONTIER;
    in->p += 3;
    return read_set (in, item->set);
}

static int
read_escape (struct reader *in, struct ag_pattern_item *item)
{
    if (in->end - in->p < 2)
        return broken (in, "it ends with %");
    if (isdigit (in->p[1]))
        return read_back (in, item);
    if (in->p[1] == 'b')
        return read_balanced (in, item);
    if (in->p[1] == 'f')
        return read_frontier (in, item);
    return read_one (in, item);
}

static int
read_item (struct reader *in, struct ag_pattern_item *item)
{
    *item = (struct ag_pattern_item){0};
    if (*in->p == '(')
        return read_open (in, item);
    if (*in->p == ')')
        return read_close (in, item);
    if (*in->p == '%')
        return read_escape (in, item);
    if (*in->p != '$' || in->p + 1 < in->end)
        return read_one (in, item);
    item->kind = END;
    in->p++;
    return 0;
}

int
ag_pattern_read (struct ag_pattern *self, struct ag_str text, bool anchors, struct ag_err *err)
{
    struct reader in = {.out = self, .err = err, .p = (const uint8_t *)text.p};
    in.end = in.p + text.n;
    self->count = self->captures = 0;
    self->anchored = anchors && text.n && text.p[0] == '^';
    in.p += self->anchored;
    while (in.p < in.end) {
        if (self->count == AG_PATTERN_ITEMS)
            return broken (&in,
                           "more than 256 items; plain text is found with find (s, text, 1, true)");
        if (read_item (&in, &self->items[self->count++]))
            return -1;
    }
    return in.depth ? broken (&in, "a ( has no )") : 0;
}

//  Matching. Every call is for a later item than its caller's, so the depth is bounded by their number.

struct run {
    const struct ag_pattern *pattern;
    const uint8_t *s;
    size_t n;
    struct ag_match *match;
    ag_spend_fn *spend;
    void *arg;
    unsigned steps;
    bool stopped;
};

static size_t match_from (struct run *run, unsigned i, size_t s);

static bool
step (struct run *run)
{
    if (++run->steps % AG_PATTERN_STEPS == 0 && !run->spend (run->arg))
        run->stopped = true;
    return !run->stopped;
}

static size_t
match_greedy (struct run *run, unsigned i, size_t s)
{
    const struct ag_pattern_item *item = &run->pattern->items[i];
    size_t least = s + (item->repeat == '+'), end = s;
    size_t most = item->repeat == '?' && s < run->n ? s + 1 : run->n;
    while (end < most && holds (item->set, run->s[end]) && step (run))
        end++;
    for (; end >= least && step (run); end--) {
        size_t found = match_from (run, i + 1, end);
        if (found != NONE || end == 0)
            return found;
    }
    return NONE;
}

static size_t
match_lazy (struct run *run, unsigned i, size_t s)
{
    const struct ag_pattern_item *item = &run->pattern->items[i];
    for (; step (run); s++) {
        size_t found = match_from (run, i + 1, s);
        if (found != NONE)
            return found;
        if (s == run->n || !holds (item->set, run->s[s]))
            return NONE;
    }
    return NONE;
}

static size_t
match_balanced (struct run *run, const struct ag_pattern_item *item, size_t s)
{
    if (s == run->n || run->s[s] != item->a)
        return NONE;
    size_t depth = 1;
    while (++s < run->n && step (run)) {
        if (run->s[s] == item->b) {
            if (--depth == 0)
                return s + 1;
        } else if (run->s[s] == item->a)
            depth++;
    }
    return NONE;
}

static bool
at_frontier (const struct run *run, const struct ag_pattern_item *item, size_t s)
{
    uint8_t before = s ? run->s[s - 1] : 0, here = s < run->n ? run->s[s] : 0;
    return !holds (item->set, before) && holds (item->set, here);
}

static size_t
match_back (const struct run *run, const struct ag_pattern_item *item, size_t s)
{
    const struct ag_capture *capture = &run->match->captures[item->a];
    if (capture->position || run->n - s < capture->n)
        return NONE;
    return memcmp (run->s + capture->at, run->s + s, capture->n) ? NONE : s + capture->n;
}

//  An item that either fits in one way or does not: where it ends, or NONE.
static size_t
match_item (struct run *run, const struct ag_pattern_item *item, size_t s)
{
    struct ag_capture *capture = &run->match->captures[item->a];
    switch (item->kind) {
    case ONE:
        return s < run->n && holds (item->set, run->s[s]) ? s + 1 : NONE;
    case BALANCED:
        return match_balanced (run, item, s);
    case FRONTIER:
        return at_frontier (run, item, s) ? s : NONE;
    case BACK:
        return match_back (run, item, s);
    case END:
        return s == run->n ? s : NONE;
    case CLOSE:
        capture->n = s - capture->at;
        return s;
    default:
        *capture = (struct ag_capture){.at = s, .position = item->kind == POSITION};
        return s;
    }
}

static size_t
match_from (struct run *run, unsigned i, size_t s)
{
    for (; i < run->pattern->count; i++) {
        const struct ag_pattern_item *item = &run->pattern->items[i];
        if (!step (run))
            return NONE;
        if (item->repeat == '-')
            return match_lazy (run, i, s);
        if (item->repeat)
            return match_greedy (run, i, s);
        s = match_item (run, item, s);
        if (s == NONE)
            return NONE;
    }
    return run->stopped ? NONE : s;
}

int
ag_pattern_find (const struct ag_pattern *self, struct ag_str subject, size_t at,
                 ag_spend_fn *spend, void *arg, struct ag_match *match)
{
    struct run run = {.pattern = self, .s = (const uint8_t *)subject.p, .n = subject.n};
    run.match = match;
    run.spend = spend;
    run.arg = arg;
    for (size_t s = at; s <= subject.n; s++) {
        size_t end = match_from (&run, 0, s);
        if (run.stopped)
            return -1;
        if (end != NONE) {
            match->start = s;
            match->end = end;
            return 1;
        }
        if (self->anchored)
            return 0;
    }
    return 0;
}
