//  value - reading what a supervisor sent, by paths; none of it is trusted.
//  SPDX-License-Identifier: Apache-2.0
#include "worker/libagsup/inside.h"

#include <string.h>

//  The place that a name is in a list; UINT32_MAX: it is none.
static uint32_t
place_of (struct ag_str name)
{
    uint32_t place = 0;
    if (!name.n || name.n > 9)
        return UINT32_MAX;
    for (size_t i = 0; i < name.n; i++) {
        if (name.p[i] < '0' || name.p[i] > '9')
            return UINT32_MAX;
        place = place * 10 + (uint32_t)(name.p[i] - '0');
    }
    return place;
}

static bool
is_text (struct ag_str value, struct ag_str text)
{
    struct ag_cursor in = ag_cursor (value);
    struct ag_head head;
    return !ag_next (&in, &head) && head.kind == AG_TEXT && ag_str_eq (head.s, text);
}

//  What a list or map has by this name.
static struct ag_str
child (struct ag_str of, struct ag_str name)
{
    struct ag_cursor in = ag_cursor (of);
    struct ag_head head;
    struct ag_str key, value;
    if (ag_next (&in, &head) || (head.kind != AG_MAP && head.kind != AG_LIST))
        return (struct ag_str){0};
    uint32_t place = place_of (name);
    for (uint32_t i = 0; i < head.count; i++) {
        if ((head.kind == AG_MAP && ag_take (&in, &key)) || ag_take (&in, &value))
            break;
        if (head.kind == AG_MAP ? is_text (key, name) : i == place)
            return value;
    }
    return (struct ag_str){0};
}

static struct ag_str
find (struct agsup_value in, const char *path)
{
    struct ag_str at = ag_bytes_of (in);
    while (path && *path && at.n) {
        size_t n = strcspn (path, ".");
        at = child (at, (struct ag_str){path, n});
        path += n + (path[n] == '.');
    }
    return at;
}

//  Its head; of none, and of what is malformed, no head.
static int
head_of (struct agsup_value in, const char *path, struct ag_head *head)
{
    struct ag_cursor cursor = ag_cursor (find (in, path));
    return ag_next (&cursor, head);
}

struct agsup_value
agsup_find (struct agsup_value in, const char *path)
{
    return ag_value_of (find (in, path));
}

int
agsup_kind (struct agsup_value in, const char *path)
{
    static const int kinds[] = {
        [AG_NULL] = AGSUP_NULL,   [AG_BOOL] = AGSUP_BOOL,    [AG_INT] = AGSUP_NUMBER,
        [AG_UINT] = AGSUP_NUMBER, [AG_FLOAT] = AGSUP_NUMBER, [AG_TEXT] = AGSUP_TEXT,
        [AG_BYTES] = AGSUP_NONE,  [AG_LIST] = AGSUP_LIST,    [AG_MAP] = AGSUP_MAP,
    };
    struct ag_head head;
    return head_of (in, path, &head) ? AGSUP_NONE : kinds[head.kind];
}

int64_t
agsup_integer (struct agsup_value in, const char *path, int64_t otherwise)
{
    struct ag_head head;
    if (head_of (in, path, &head))
        return otherwise;
    if (head.kind == AG_BOOL)
        return head.b;
    if (head.kind == AG_INT || (head.kind == AG_UINT && head.u <= INT64_MAX))
        return head.i;
    const double most = 9223372036854775808.0; //  2^63
    bool whole = head.kind == AG_FLOAT && head.f >= -most && head.f < most &&
                 head.f == (double)(int64_t)head.f;
    return whole ? (int64_t)head.f : otherwise;
}

double
agsup_number (struct agsup_value in, const char *path, double otherwise)
{
    struct ag_head head;
    if (head_of (in, path, &head))
        return otherwise;
    return head.kind == AG_FLOAT  ? head.f
           : head.kind == AG_INT  ? (double)head.i
           : head.kind == AG_UINT ? (double)head.u
           : head.kind == AG_BOOL ? head.b
                                  : otherwise;
}

const char *
agsup_text (agsup_t *self, struct agsup_value in, const char *path, const char *otherwise)
{
    struct ag_head head;
    if (head_of (in, path, &head) || head.kind != AG_TEXT || memchr (head.s.p, 0, head.s.n))
        return otherwise;
    char *text = ag_keep (self, head.s.n + 1);
    memcpy (text, head.s.p, head.s.n);
    text[head.s.n] = 0;
    return text;
}

//  A buffer's content, kept.
static const char *
keep (agsup_t *self, const struct ag_buf *buf)
{
    char *kept = ag_keep (self, buf->n + 1);
    if (buf->n)
        memcpy (kept, buf->p, buf->n);
    kept[buf->n] = 0;
    return kept;
}

const char *
agsup_json (agsup_t *self, struct agsup_value in)
{
    struct ag_buf text = {0};
    struct ag_cursor cursor = ag_cursor (ag_bytes_of (in));
    struct ag_str whole;
    if (!ag_take (&cursor, &whole))
        ag_json_write (whole, AG_JSON_LINE, &text);
    const char *kept = keep (self, &text);
    ag_buf_fini (&text);
    return kept;
}

int
agsup_parse (agsup_t *self, struct agsup_value *value, const char *json)
{
    struct ag_buf bytes = {0};
    struct ag_err err;
    int rc = json ? ag_json_read (ag_str (json), &bytes, &err)
                  : ag_fail (&err, AG_E_BAD_VALUE, "a text that is NULL");
    if (!rc)
        *value = (struct agsup_value){keep (self, &bytes), bytes.n};
    ag_buf_fini (&bytes);
    return rc ? ag_failed (self, &err) : 0;
}

//  Where the elements begin, and how many there are.
static void
begin (struct agsup_walk *walk)
{
    struct ag_cursor in = ag_cursor (ag_bytes_of (walk->of));
    struct ag_head head;
    bool good = !ag_next (&in, &head) && (head.kind == AG_LIST || head.kind == AG_MAP);
    walk->left = good ? head.count : 0;
    walk->rest = (struct agsup_value){in.p, (size_t)(in.end - in.p)};
}

bool
agsup_walk (struct agsup_walk *walk, struct agsup_value *key, struct agsup_value *element)
{
    struct ag_str name = {0}, value;
    if (!walk->rest.bytes)
        begin (walk);
    struct ag_cursor in = ag_cursor (ag_bytes_of (walk->rest));
    if (!walk->left || (agsup_kind (walk->of, "") == AGSUP_MAP && ag_take (&in, &name)) ||
        ag_take (&in, &value)) {
        walk->left = 0;
        return false;
    }
    walk->left--;
    walk->rest = (struct agsup_value){in.p, (size_t)(in.end - in.p)};
    if (key)
        *key = ag_value_of (name);
    *element = ag_value_of (value);
    return true;
}
