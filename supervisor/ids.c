//  SPDX-License-Identifier: Apache-2.0
#include "supervisor/ids.h"
#include "common/units.h"
#include "common/value.h"

#include <inttypes.h>
#include <string.h>

enum { TYPE_BYTES = 200 };

void
ag_run_id (uint64_t number, char text[AG_RUN_TEXT])
{
    text[0] = 'r';
    ag_base32 (number, text + 1);
}

int
ag_run_number (struct ag_str id, uint64_t *number)
{
    if (id.n < 2 || id.p[0] != 'r')
        return -1;
    return ag_base32_read ((struct ag_str){id.p + 1, id.n - 1}, number);
}

//  C0, space, DEL, '@', and C1, which is two bytes in UTF-8.
static bool
has_forbidden (struct ag_str text)
{
    const uint8_t *p = (const uint8_t *)text.p;
    for (size_t i = 0; i < text.n; i++)
        if (p[i] <= ' ' || p[i] == 0x7f || p[i] == '@' ||
            (p[i] == 0xc2 && i + 1 < text.n && p[i + 1] < 0xa0))
            return true;
    return false;
}

static int
check (struct ag_str text, size_t max, const char *what, struct ag_err *err)
{
    if (text.n == 0 || text.n > max)
        return ag_fail (err, AG_E_BAD_OPERATION, "%s has %zu bytes, not 1 to %zu", what, text.n,
                        max);
    if (!ag_utf8 (text))
        return ag_fail (err, AG_E_BAD_OPERATION, "%s is not UTF-8", what);
    if (has_forbidden (text))
        return ag_fail (err, AG_E_BAD_OPERATION, "%s holds a control character, a space or '@'",
                        what);
    return 0;
}

int
ag_id_check (struct ag_str id, const char *what, struct ag_err *err)
{
    return check (id, AG_NAME_BYTES, what, err);
}

int
ag_type_check (struct ag_str type, const char *what, struct ag_err *err)
{
    return check (type, TYPE_BYTES, what, err);
}

static bool
has_shell_sign (struct ag_str text)
{
    for (size_t i = 0; i < text.n; i++)
        if (strchr ("$`\"'\\;&|<>()*?[]{}!#~", text.p[i]))
            return true;
    return false;
}

static bool
ends_with (struct ag_str text, const char *end)
{
    size_t n = strlen (end);
    return text.n >= n && !memcmp (text.p + text.n - n, end, n);
}

int
ag_label_check (struct ag_str label, struct ag_err *err)
{
    if (check (label, AG_LABEL_BYTES, "the label", err)) {
        err->code = AG_E_USAGE;
        return -1;
    }
    if (ag_looks_like_run (label))
        return ag_fail (err, AG_E_USAGE, "the label `%.*s` looks like a run id",
                        AG_STR_ARG (label));
    if (has_shell_sign (label))
        return ag_fail (err, AG_E_USAGE,
                        "the label `%.*s` has a sign that a shell would take for its own",
                        AG_STR_ARG (label));
    if (ends_with (label, ".program") || ends_with (label, ".replay"))
        return ag_fail (err, AG_E_USAGE,
                        "the label `%.*s` ends as the name of a process of a run does: .program, "
                        ".replay",
                        AG_STR_ARG (label));
    return 0;
}

static bool
read_number (struct ag_str text, uint64_t *number)
{
    *number = 0;
    for (size_t i = 0; i < text.n; i++) {
        if (text.p[i] < '0' || text.p[i] > '9')
            return false;
        if (*number <= AG_MINTED_MAX)
            *number = *number * 10 + (uint64_t)(text.p[i] - '0');
    }
    if (*number > AG_MINTED_MAX)
        *number = AG_MINTED_MAX + 1;
    return text.n > 0;
}

//  "7" or "r3f.7"
static bool
read_tail (struct ag_str tail, struct ag_minted *minted)
{
    const char *dot = tail.n ? memchr (tail.p, '.', tail.n) : NULL;
    minted->run = 0;
    if (dot) {
        size_t n = (size_t)(dot - tail.p);
        if (ag_run_number ((struct ag_str){tail.p, n}, &minted->run))
            return false;
        tail = (struct ag_str){dot + 1, tail.n - n - 1};
    }
    return read_number (tail, &minted->number);
}

static const char *const prefixes[] = {[AG_MINTED_RELATION] = "rel_",
                                       [AG_MINTED_PATCH] = "patch_",
                                       [AG_MINTED_APPROVAL] = "approval_",
                                       [AG_MINTED_FRAME] = "frame_"};

bool
ag_minted_read (enum ag_minted_kind kind, struct ag_str id, struct ag_minted *minted)
{
    size_t head;
    if (kind == AG_MINTED_OBJECT) {
        const char *mark = id.n ? memrchr (id.p, '#', id.n) : NULL;
        if (!mark || mark == id.p)
            return false;
        head = (size_t)(mark - id.p) + 1;
    } else {
        if (!ag_str_starts (id, prefixes[kind]))
            return false;
        head = strlen (prefixes[kind]);
    }
    return read_tail ((struct ag_str){id.p + head, id.n - head}, minted);
}

void
ag_minted_write (enum ag_minted_kind kind, struct ag_str type, const struct ag_minted *minted,
                 struct ag_buf *out)
{
    char tag[AG_RUN_TEXT] = "";
    const char *dot = minted->run ? "." : "";
    if (minted->run)
        ag_run_id (minted->run, tag);
    if (kind == AG_MINTED_OBJECT)
        ag_buf_text (out, "%.*s#%s%s%" PRIu64, AG_STR_ARG (type), tag, dot, minted->number);
    else
        ag_buf_text (out, "%s%s%s%03" PRIu64, prefixes[kind], tag, dot, minted->number);
}
