//  SPDX-License-Identifier: Apache-2.0
#include "common/err.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct row {
    const char *name;
    int status;
    bool retryable;
    const char *hint;
};

static const struct row rows[] = {
    {"ok", 0, false, ""},
#define ERR(code, name, status, retryable, hint) {name, status, retryable, hint},
#include "schemas/errors.def"
};

//  "…" instead of a torn end, so that a reader sees that the text was longer.
static void
mark_cut (char *text, size_t size, int length)
{
    size_t at = size - 4;
    if (length < (int)size)
        return;
    while (at > 0 && (text[at] & 0xc0) == 0x80) //  not within a character
        at--;
    memcpy (text + at, "...", 4);
}

int (ag_fail) (struct ag_err *err, enum ag_code code, const char *format, ...)
{
    va_list list;
    va_start (list, format);
    err->code = code;
    int n = vsnprintf (err->text, sizeof err->text, format, list);
    va_end (list);
    mark_cut (err->text, sizeof err->text, n);
    return -1;
}

int
ag_wrap (struct ag_err *err, const char *format, ...)
{
    char inner[sizeof err->text];
    memcpy (inner, err->text, sizeof inner);

    va_list list;
    va_start (list, format);
    int n = vsnprintf (err->text, sizeof err->text, format, list);
    va_end (list);
    if (n >= 0 && (size_t)n < sizeof err->text)
        n += snprintf (err->text + n, sizeof err->text - (size_t)n, ": %s", inner);
    mark_cut (err->text, sizeof err->text, n);
    return -1;
}

const char *
ag_code_name (enum ag_code code)
{
    return rows[code].name;
}

const char *
ag_code_hint (enum ag_code code)
{
    return rows[code].hint;
}

int
ag_code_status (enum ag_code code)
{
    return rows[code].status;
}

bool
ag_code_retryable (enum ag_code code)
{
    return rows[code].retryable;
}

enum ag_code
ag_code_of (const char *name, unsigned long length)
{
    for (int code = 0; code < AG_CODES; code++)
        if (strlen (ag_code_name (code)) == length && !memcmp (ag_code_name (code), name, length))
            return code;
    return AG_E_FAILED;
}
