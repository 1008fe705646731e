//  SPDX-License-Identifier: Apache-2.0
#include "common/version.h"
#include "common/forms.h"

#include <string.h>
#include <strings.h>

//  A version in its parts. Numbers stay texts, so that none is too large.
struct version {
    struct ag_str release; //  "1.2.3"
    char pre;              //  'a', 'b', 'c' (rc), or 0
    bool has_post, has_dev;
    struct ag_str pre_number, post, dev, local;
};

static struct ag_str
take_while (struct ag_str *rest, bool points)
{
    struct ag_str part = {rest->p, 0};
    while (part.n < rest->n && ((rest->p[part.n] >= '0' && rest->p[part.n] <= '9') ||
                                (points && rest->p[part.n] == '.' && part.n + 1 < rest->n &&
                                 rest->p[part.n + 1] >= '0' && rest->p[part.n + 1] <= '9')))
        part.n++;
    rest->p += part.n;
    rest->n -= part.n;
    return part;
}

static bool
take (struct ag_str *rest, const char *word)
{
    size_t n = strlen (word);
    if (!ag_str_starts (*rest, word))
        return false;
    rest->p += n;
    rest->n -= n;
    return true;
}

static struct version
parse (struct ag_str text)
{
    struct version self = {0};
    take (&text, "v");
    self.release = take_while (&text, true);
    if (take (&text, "a"))
        self.pre = 'a';
    else if (take (&text, "b"))
        self.pre = 'b';
    else if (take (&text, "rc"))
        self.pre = 'c';
    if (self.pre)
        self.pre_number = take_while (&text, false);
    if ((self.has_post = take (&text, ".post")))
        self.post = take_while (&text, false);
    if ((self.has_dev = take (&text, ".dev")))
        self.dev = take_while (&text, false);
    if (take (&text, "+"))
        self.local = text;
    return self;
}

static int
sign (long long n)
{
    return (n > 0) - (n < 0);
}

//  Digits, of any length; none is 0.
static int
by_number (struct ag_str a, struct ag_str b)
{
    for (; a.n && *a.p == '0'; a.p++, a.n--)
        ;
    for (; b.n && *b.p == '0'; b.p++, b.n--)
        ;
    if (a.n != b.n)
        return a.n < b.n ? -1 : 1;
    return a.n ? sign (memcmp (a.p, b.p, a.n)) : 0;
}

//  The part before the next point.
static struct ag_str
take_part (struct ag_str *rest)
{
    const char *point = rest->n ? memchr (rest->p, '.', rest->n) : NULL;
    struct ag_str part = {rest->p, point ? (size_t)(point - rest->p) : rest->n};
    size_t n = part.n + (point != NULL);
    rest->p += n;
    rest->n -= n;
    return part;
}

static int
by_release (struct ag_str a, struct ag_str b)
{
    int order = 0;
    while (!order && (a.n || b.n)) {
        struct ag_str x = take_part (&a), y = take_part (&b);
        order = by_number (x, y);
    }
    return order;
}

static bool
is_number (struct ag_str text)
{
    struct ag_str rest = text;
    take_while (&rest, false);
    return text.n && !rest.n;
}

//  Part by part: a number is more than a name, and what goes on is more than what ends.
static int
by_local (struct ag_str a, struct ag_str b)
{
    int order = 0;
    while (!order && a.n && b.n) {
        struct ag_str x = take_part (&a), y = take_part (&b);
        bool m = is_number (x), n = is_number (y);
        order = m && n ? by_number (x, y) : m != n ? (int)m - (int)n : ag_str_cmp (x, y);
    }
    return order ? sign (order) : sign ((long long)a.n - (long long)b.n);
}

//  1.0.dev1 < 1.0a1 < 1.0b1 < 1.0rc1 < 1.0
static int
stage_of (const struct version *self)
{
    if (self->pre)
        return self->pre;
    return self->has_dev && !self->has_post ? 0 : 'z';
}

//  Without their local names.
static int
by_public (const struct version *a, const struct version *b)
{
    int order = by_release (a->release, b->release);
    if (!order)
        order = sign (stage_of (a) - stage_of (b));
    if (!order)
        order = by_number (a->pre_number, b->pre_number);
    if (!order)
        order = (int)a->has_post - (int)b->has_post;
    if (!order)
        order = by_number (a->post, b->post);
    if (!order)
        order = (int)b->has_dev - (int)a->has_dev;
    return order ? order : by_number (a->dev, b->dev);
}

int
ag_version_cmp (struct ag_str a, struct ag_str b)
{
    struct version x = parse (a), y = parse (b);
    int order = by_public (&x, &y);
    return order ? order : by_local (x.local, y.local);
}

/*  Ranges  */

//  A version that is held against a specifier.
struct held {
    struct version is, than;
    struct ag_str text; //  of the version
    struct ag_specifier one;
};

//  The first parts of the version are those that are said.
static bool
has_prefix (const struct version *is, const struct version *than)
{
    struct ag_str a = is->release, b = than->release;
    while (b.n) {
        struct ag_str x = take_part (&a), y = take_part (&b);
        if (by_number (x, y))
            return false;
    }
    if (than->pre &&
        (by_release (a, b) || is->pre != than->pre || by_number (is->pre_number, than->pre_number)))
        return false;
    return !than->has_post || (is->has_post && !by_number (is->post, than->post));
}

static bool
equals (const struct held *held)
{
    if (held->one.prefix)
        return has_prefix (&held->is, &held->than);
    return !by_public (&held->is, &held->than) &&
           (!held->than.local.n || !by_local (held->is.local, held->than.local));
}

static bool
differs (const struct held *held)
{
    return !equals (held);
}

static bool
is_at_least (const struct held *held)
{
    return by_public (&held->is, &held->than) >= 0;
}

static bool
is_at_most (const struct held *held)
{
    return by_public (&held->is, &held->than) <= 0;
}

static bool
has_same_release (const struct held *held)
{
    return !by_release (held->is.release, held->than.release);
}

//  1.0rc1 is not below 1.0 here, unless the bound is not final either.
static bool
is_below (const struct held *held)
{
    bool early = held->is.pre || held->is.has_dev, bound = held->than.pre || held->than.has_dev;
    return by_public (&held->is, &held->than) < 0 && !(early && !bound && has_same_release (held));
}

//  1.0.post1 is not above 1.0 here, unless the bound is such a one too.
static bool
is_above (const struct held *held)
{
    return by_public (&held->is, &held->than) > 0 &&
           !(held->is.has_post && !held->than.has_post && has_same_release (held));
}

//  ~=1.4.2 is >=1.4.2 and ==1.4.*
static bool
is_compatible (const struct held *held)
{
    struct version series = {.release = held->than.release};
    const char *point = memrchr (series.release.p, '.', series.release.n);
    series.release.n = point ? (size_t)(point - series.release.p) : 0;
    return is_at_least (held) && has_prefix (&held->is, &series);
}

static bool
is_same_text (const struct held *held)
{
    struct ag_str than = held->one.version;
    return held->text.n == than.n && !strncasecmp (held->text.p, than.p, than.n);
}

typedef bool holds_fn (const struct held *held);
static holds_fn *const operators[] = {
    [AG_SAME_TEXT] = is_same_text, [AG_COMPATIBLE] = is_compatible, [AG_EQUAL] = equals,
    [AG_OTHER] = differs,          [AG_AT_MOST] = is_at_most,       [AG_AT_LEAST] = is_at_least,
    [AG_BELOW] = is_below,         [AG_ABOVE] = is_above,
};

bool
ag_version_fits (struct ag_str version, struct ag_str range)
{
    struct held held = {.is = parse (version), .text = version};
    bool fits = true;
    while (fits && ag_specifier_next (&range, &held.one)) {
        held.than = parse (held.one.version);
        fits = held.one.is != AG_NO_OPERATOR && operators[held.one.is](&held);
    }
    return fits;
}
