//  SPDX-License-Identifier: Apache-2.0
#include "common/forms.h"

#include <string.h>

enum { NAME_BYTES = 64 };

static bool
is_one_of (char c, const char *set)
{
    return c && strchr (set, c);
}

static bool
is_digit (char c)
{
    return c >= '0' && c <= '9';
}

static bool
is_lower (char c)
{
    return c >= 'a' && c <= 'z';
}

bool
ag_is_name (struct ag_str text)
{
    bool good = text.n >= 2 && text.n <= NAME_BYTES && is_lower (text.p[0]);
    for (size_t i = 1; good && i < text.n; i++)
        good = is_lower (text.p[i]) || is_digit (text.p[i]) || text.p[i] == '_';
    return good;
}

//  What is left of a text while it is read.
static bool
take (struct ag_str *rest, const char *word)
{
    size_t n = strlen (word);
    if (rest->n < n || memcmp (rest->p, word, n))
        return false;
    rest->p += n;
    rest->n -= n;
    return true;
}

static bool
take_digits (struct ag_str *rest)
{
    size_t n = 0;
    while (n < rest->n && is_digit (rest->p[n]))
        n++;
    rest->p += n;
    rest->n -= n;
    return n > 0;
}

//  A release that is not final, and a local name: a1 b1 rc1 .post1 .dev1 +local.1
static bool
take_suffixes (struct ag_str *rest)
{
    bool good = true;
    if (take (rest, "a") || take (rest, "b") || take (rest, "rc"))
        good = take_digits (rest);
    if (good && take (rest, ".post"))
        good = take_digits (rest);
    if (good && take (rest, ".dev"))
        good = take_digits (rest);
    if (!good || !take (rest, "+"))
        return good;
    size_t part = 0;
    for (; good && rest->n; rest->p++, rest->n--) {
        char c = rest->p[0];
        good = is_lower (c) || is_digit (c) || (c == '.' && part > 0);
        part = c == '.' ? 0 : part + 1;
    }
    return good && part > 0;
}

bool
ag_is_version (struct ag_str rest)
{
    take (&rest, "v");
    if (!take_digits (&rest))
        return false;
    while (rest.n > 1 && rest.p[0] == '.' && is_digit (rest.p[1])) {
        take (&rest, ".");
        take_digits (&rest);
    }
    return take_suffixes (&rest) && !rest.n;
}

static struct ag_str
trimmed (struct ag_str text)
{
    for (; text.n && is_one_of (text.p[0], " \t"); text.p++, text.n--)
        ;
    while (text.n && is_one_of (text.p[text.n - 1], " \t"))
        text.n--;
    return text;
}

bool
ag_specifier_next (struct ag_str *rest, struct ag_specifier *one)
{
    static const char *const words[] = {"===", "~=", "==", "!=", "<=", ">=", "<", ">"};
    if (!rest->p)
        return false;
    const char *comma = rest->n ? memchr (rest->p, ',', rest->n) : NULL;
    size_t n = comma ? (size_t)(comma - rest->p) : rest->n;
    struct ag_str text = trimmed ((struct ag_str){rest->p, n});
    *rest = comma ? (struct ag_str){comma + 1, rest->n - n - 1} : (struct ag_str){0};
    *one = (struct ag_specifier){.is = AG_NO_OPERATOR};
    for (size_t i = 0; i < sizeof words / sizeof *words && one->is == AG_NO_OPERATOR; i++)
        if (take (&text, words[i]))
            one->is = (enum ag_operator)i;
    one->version = trimmed (text);
    one->prefix = (one->is == AG_EQUAL || one->is == AG_OTHER) && one->version.n > 2 &&
                  !memcmp (one->version.p + one->version.n - 2, ".*", 2);
    one->version.n -= one->prefix ? 2 : 0;
    return true;
}

static bool
has_point (struct ag_str text)
{
    return text.n && memchr (text.p, '.', text.n);
}

//  What is compatible with a version differs in its last part, so it has two at least.
bool
ag_is_range (struct ag_str text)
{
    struct ag_specifier one;
    bool good = text.n > 0;
    while (good && ag_specifier_next (&text, &one))
        good = one.is != AG_NO_OPERATOR && ag_is_version (one.version) &&
               (one.is != AG_COMPATIBLE || has_point (one.version));
    return good;
}

bool
ag_is_hash (struct ag_str text)
{
    bool good = text.n == 71 && take (&text, "sha256:");
    for (size_t i = 0; good && i < text.n; i++)
        good = is_digit (text.p[i]) || (text.p[i] >= 'a' && text.p[i] <= 'f');
    return good;
}
