/*  change_test - a copy of a value with one place of it changed, each place in turn.
 *
 *  Each scalar becomes another one, each map and list gets one more, each key is left out.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_CHANGE_TEST_H
#define AG_CHANGE_TEST_H
#include "supervisor/core_test.h"

struct change {
    uint32_t left;    //  places before it; at the end, what was not reached
    struct ag_buf at; //  its path so far
    char path[200];   //  empty: there is no such place
};

static inline bool
is_here (struct change *change)
{
    if (change->path[0] || change->left--)
        return false;
    snprintf (change->path, sizeof change->path, "%.*s", AG_STR_ARG (ag_buf_str (&change->at)));
    return true;
}

static inline void
put_other (struct ag_str value, struct ag_buf *out)
{
    struct ag_cursor in = ag_cursor (value);
    struct ag_head head;
    assert_int_equal (ag_next (&in, &head), 0);
    if (head.kind == AG_TEXT)
        ag_put_textf (out, "%.*sx", AG_STR_ARG (head.s));
    else if (head.kind == AG_BOOL)
        ag_put_bool (out, !head.b);
    else if (head.kind == AG_UINT)
        ag_put_uint (out, head.u + 1);
    else
        ag_put_lit (out, "other");
}

static inline void
step_into (struct change *change, const char *format, struct ag_str key, uint32_t n)
{
    if (format)
        ag_buf_text (&change->at, format, n);
    else
        ag_buf_text (&change->at, ".%.*s", AG_STR_ARG (key));
}

static inline void
put_changed (struct ag_str value, struct change *change, struct ag_buf *out)
{
    struct ag_cursor in = ag_cursor (value);
    struct ag_head head, key = {0};
    struct ag_str inner;
    size_t before = change->at.n;
    assert_int_equal (ag_next (&in, &head), 0);
    bool map = head.kind == AG_MAP;
    if (!map && head.kind != AG_LIST) {
        is_here (change) ? put_other (value, out) : ag_put_value (out, value);
        return;
    }
    uint32_t count = head.count;
    size_t open = map ? ag_open_map (out) : ag_open_list (out);
    for (uint32_t i = 0; i < head.count; i++) {
        if (map)
            assert_int_equal (ag_next (&in, &key), 0);
        assert_int_equal (ag_take (&in, &inner), 0);
        step_into (change, map ? NULL : "[%u]", key.s, i);
        if (map && is_here (change))
            count--;
        else {
            if (map)
                ag_put_text (out, key.s);
            put_changed (inner, change, out);
        }
        change->at.n = before;
    }
    step_into (change, map ? NULL : "[%u]", AG_LIT ("more"), head.count);
    if (is_here (change)) {
        if (map)
            ag_put_lit (out, "more");
        ag_put_uint (out, ++count);
    }
    change->at.n = before;
    ag_close (out, open, count);
}
#endif
