//  SPDX-License-Identifier: Apache-2.0
//  Nothing here names a message but the examples: every rule is tried on every row of messages.def.
#include "common/wire.h"
#include "common/net.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

//  A value of exactly n bytes for a field of this kind, appended to out.
static void
put_sized (struct ag_buf *out, enum ag_field_kind kind, size_t n)
{
    static const uint8_t smallest[] = {
        [AG_FIELD_VAL] = 0xc0, [AG_FIELD_LIST] = 0x90, [AG_FIELD_MAP] = 0x80};
    static const uint8_t openings[][4] = {
        [AG_FIELD_LIST] = {0x91}, [AG_FIELD_MAP] = {0x81, 0xa1, 'k'}};
    if (kind == AG_FIELD_STR || n == 1) {
        memset (ag_buf_grow (out, n), kind == AG_FIELD_STR ? 'x' : smallest[kind], n);
        return;
    }
    size_t before = kind == AG_FIELD_VAL ? 0 : strlen ((const char *)openings[kind]);
    ag_buf_add (out, openings[kind], before);
    size_t text = n - before - 5;
    uint8_t head[5] = {0xdb, (uint8_t)(text >> 24), (uint8_t)(text >> 16), (uint8_t)(text >> 8),
                       (uint8_t)text};
    ag_buf_add (out, head, 5);
    memset (ag_buf_grow (out, text), 'x', text);
}

//  A request under construction, with what its fields point to.
struct probe {
    struct ag_msg msg;
    struct ag_buf held[64];
    size_t count;
    struct ag_buf frame;
};

static void
set (struct probe *self, const struct ag_field *field, uint64_t size)
{
    void *to = (char *)&self->msg + field->at;
    if (field->kind == AG_FIELD_UINT)
        *(uint64_t *)to = size;
    else if (field->kind == AG_FIELD_BOOL)
        *(bool *)to = size != 0;
    else {
        struct ag_buf *held = &self->held[self->count++];
        ag_buf_grow (held, 1); //  an empty text has a place too
        ag_buf_clear (held);
        put_sized (held, field->kind, size);
        *(struct ag_str *)to = ag_buf_str (held);
    }
}

enum size { SMALLEST, LARGEST };

static uint64_t
bound (const struct ag_field *field, enum size size)
{
    return size == SMALLEST ? field->min : field->max;
}

//  Every field of the shape at one end of its range.
static struct probe
probe_new (enum ag_msg_type type, enum size size)
{
    struct probe self = {.msg = {.type = type}};
    const struct ag_shape *shape = ag_wire_shape (type);
    assert_true (shape->count < 60); //  wire.c keeps a bit per field
    for (size_t i = 0; i < shape->count; i++)
        set (&self, &shape->fields[i], bound (&shape->fields[i], size));
    if (shape->from == AG_PEER_CLIENT) {
        self.msg.token = AG_LIT ("secret");
        self.msg.id = AG_LIT ("id/1");
    }
    return self;
}

static struct ag_str
written (struct probe *self)
{
    ag_buf_clear (&self->frame);
    ag_wire_write (&self->msg, &self->frame);
    return ag_buf_str (&self->frame);
}

static void
probe_fini (struct probe *self)
{
    for (size_t i = 0; i < self->count; i++)
        ag_buf_fini (&self->held[i]);
    ag_buf_fini (&self->frame);
}

static void
assert_same_field (const struct ag_field *field, const struct ag_msg *a, const struct ag_msg *b)
{
    const void *x = (const char *)a + field->at, *y = (const char *)b + field->at;
    if (field->kind == AG_FIELD_UINT)
        assert_true (*(const uint64_t *)x == *(const uint64_t *)y);
    else if (field->kind == AG_FIELD_BOOL)
        assert_int_equal (*(const bool *)x, *(const bool *)y);
    else {
        assert_true (ag_str_eq (*(const struct ag_str *)x, *(const struct ag_str *)y));
        assert_int_equal (!((const struct ag_str *)x)->p, !((const struct ag_str *)y)->p);
    }
}

static void
assert_same (const struct ag_msg *a, const struct ag_msg *b)
{
    const struct ag_shape *shape = ag_wire_shape (a->type);
    assert_int_equal (a->type, b->type);
    assert_true (ag_str_eq (a->token, b->token));
    assert_true (ag_str_eq (a->id, b->id));
    for (size_t i = 0; i < shape->count; i++)
        assert_same_field (&shape->fields[i], a, b);
}

static void
assert_reads (struct probe *self)
{
    struct ag_msg out;
    struct ag_err err = {0};
    if (ag_wire_read (ag_wire_shape (self->msg.type)->from, written (self), &out, &err))
        fail_msg ("%s", err.text);
    assert_same (&self->msg, &out);
}

//  Refused with this code, and the text names the request and the field.
static void
assert_refused (struct probe *self, const char *field, enum ag_code code)
{
    const struct ag_shape *shape = ag_wire_shape (self->msg.type);
    struct ag_msg out;
    struct ag_err err = {0};
    char name[128];
    snprintf (name, sizeof name, "%s.%s ", shape->word, field);
    assert_int_equal (ag_wire_read (shape->from, written (self), &out, &err), -1);
    assert_int_equal (err.code, code);
    if (strncmp (err.text, name, strlen (name)))
        fail_msg ("\"%s\" does not name %s", err.text, name);
}

//  How it is used: fill a struct, write it, read it on the other side.
static void
a_request_is_a_struct_on_both_sides (void **state)
{
    (void)state;
    struct ag_buf frame = {0};
    struct ag_msg out, in = {.type = AG_MSG_tell, .token = AG_LIT ("t")};
    struct ag_err err;
    in.tell = (struct ag_msg_tell){AG_LIT ("auditor"), AG_LIT ("note"), {"\x80", 1}};
    ag_wire_write (&in, &frame);
    assert_int_equal (ag_wire_read (AG_PEER_CLIENT, ag_buf_str (&frame), &out, &err), 0);
    assert_int_equal (out.type, AG_MSG_tell);
    assert_true (ag_str_is (out.tell.run, "auditor"));
    assert_true (ag_str_is (out.token, "t"));
    assert_null (out.id.p);
    ag_buf_fini (&frame);
}

static void
every_message_comes_back_equal_at_its_smallest_and_at_its_largest (void **state)
{
    (void)state;
    for (int type = 0; type < AG_MSGS; type++)
        for (int size = SMALLEST; size <= LARGEST; size++) {
            struct probe probe = probe_new ((enum ag_msg_type)type, (enum size)size);
            assert_reads (&probe);
            probe_fini (&probe);
        }
}

//  A frame beyond it is cut by libzmq without a word.
static void
the_largest_of_every_message_fits_a_frame (void **state)
{
    (void)state;
    char token[128], id[64];
    memset (token, 'x', sizeof token);
    memset (id, 'x', sizeof id);
    for (int type = 0; type < AG_MSGS; type++) {
        struct probe probe = probe_new ((enum ag_msg_type)type, LARGEST);
        if (probe.msg.token.p) {
            probe.msg.token = (struct ag_str){token, sizeof token};
            probe.msg.id = (struct ag_str){id, sizeof id};
        }
        assert_reads (&probe);
        if (written (&probe).n > AG_NET_FRAME_BYTES)
            fail_msg ("%s can have %zu bytes", ag_wire_shape (probe.msg.type)->word,
                      written (&probe).n);
        probe_fini (&probe);
    }
}

static void
every_bound_holds_on_both_sides_of_it (void **state)
{
    (void)state;
    for (int type = 0; type < AG_MSGS; type++) {
        const struct ag_shape *shape = ag_wire_shape ((enum ag_msg_type)type);
        for (size_t i = 0; i < shape->count; i++) {
            const struct ag_field *field = &shape->fields[i];
            if (field->kind == AG_FIELD_BOOL)
                continue;
            struct probe probe = probe_new ((enum ag_msg_type)type, SMALLEST);
            set (&probe, field, field->max);
            assert_reads (&probe);
            if (field->max < UINT64_MAX) {
                bool sized = field->kind != AG_FIELD_UINT;
                set (&probe, field, field->max + 1);
                assert_refused (&probe, field->name, sized ? AG_E_TOO_LARGE : AG_E_BAD_MESSAGE);
            }
            bool zero = field->kind == AG_FIELD_UINT && field->min == 1; //  written as absent
            if (field->min > 0 && !zero && field->kind <= AG_FIELD_UINT) {
                set (&probe, field, field->min - 1);
                assert_refused (&probe, field->name, AG_E_BAD_MESSAGE);
            }
            probe_fini (&probe);
        }
    }
}

//  The frame {do: word, field: value} with a value of a kind that the field does not have.
static void
refuse_kinds (const struct ag_shape *shape, const struct ag_field *field)
{
    static const struct ag_str values[] = {
        {"\xc3", 1},    {"\x07", 1},    {"\xa1x", 2}, {"\x90", 1},
        {"\x80", 1},    {"\xff", 1},    {"\xc0", 1},  {"\xcb\0\0\0\0\0\0\0\0", 9},
        {"\xc4\1x", 3}, {"\xa1\xff", 2}};
    static const int own[] = {[AG_FIELD_STR] = 2,
                              [AG_FIELD_UINT] = 1,
                              [AG_FIELD_BOOL] = 0,
                              [AG_FIELD_LIST] = 3,
                              [AG_FIELD_MAP] = 4};
    for (int i = 0; field->kind != AG_FIELD_VAL && i < 10; i++) {
        struct ag_buf frame = {0};
        struct ag_msg out;
        struct ag_err err = {0};
        ag_put_map (&frame, 2);
        ag_put_lit (&frame, "do");
        ag_put_lit (&frame, shape->word);
        ag_put_lit (&frame, field->name);
        ag_put_value (&frame, values[i]);
        int rc = ag_wire_read (shape->from, ag_buf_str (&frame), &out, &err);
        bool of_kind = rc == 0 || !strstr (err.text, " is not ");
        if (of_kind != (i == own[field->kind]))
            fail_msg ("%s.%s, value %d: %d %s", shape->word, field->name, i, rc, err.text);
        ag_buf_fini (&frame);
    }
}

static void
a_field_of_another_kind_is_refused (void **state)
{
    (void)state;
    for (int type = 0; type < AG_MSGS; type++) {
        const struct ag_shape *shape = ag_wire_shape ((enum ag_msg_type)type);
        for (size_t i = 0; i < shape->count; i++)
            refuse_kinds (shape, &shape->fields[i]);
    }
}

//  A field is taken away by its name: the frame is the same but for that key.
static void
a_needed_field_that_is_missing_is_named_and_an_optional_one_has_its_default (void **state)
{
    (void)state;
    for (int type = 0; type < AG_MSGS; type++) {
        const struct ag_shape *shape = ag_wire_shape ((enum ag_msg_type)type);
        for (size_t i = 0; i < shape->count; i++) {
            const struct ag_field *field = &shape->fields[i];
            struct probe probe = probe_new ((enum ag_msg_type)type, SMALLEST);
            void *at = (char *)&probe.msg + field->at;
            if (field->kind == AG_FIELD_UINT)
                *(uint64_t *)at = field->min;
            else if (field->kind == AG_FIELD_BOOL)
                *(bool *)at = false;
            else
                *(struct ag_str *)at = (struct ag_str){0};
            bool scalar = field->kind == AG_FIELD_UINT || field->kind == AG_FIELD_BOOL;
            if (field->needed && !scalar)
                assert_refused (&probe, field->name, AG_E_BAD_MESSAGE);
            else
                assert_reads (&probe);
            probe_fini (&probe);
        }
    }
}

static void
every_truncation_is_refused (void **state)
{
    (void)state;
    for (int type = 0; type < AG_MSGS; type++) {
        struct probe probe = probe_new ((enum ag_msg_type)type, SMALLEST);
        struct ag_str whole = written (&probe);
        for (size_t n = 0; n < whole.n; n++) {
            char *cut = malloc (n ? n : 1); //  exactly n bytes, so that a step beyond them is seen
            struct ag_msg out;
            struct ag_err err = {0};
            assert_non_null (cut);
            memcpy (cut, whole.p, n);
            assert_int_equal (ag_wire_read (ag_wire_shape ((enum ag_msg_type)type)->from,
                                            (struct ag_str){cut, n}, &out, &err),
                              -1);
            assert_int_equal (err.code, AG_E_BAD_MESSAGE);
            free (cut);
        }
        probe_fini (&probe);
    }
}

//  Two sides may use one word ("log"): then each reads its own row.
static void
a_request_of_another_side_is_not_allowed (void **state)
{
    (void)state;
    for (int type = 0; type < AG_MSGS; type++) {
        const struct ag_shape *shape = ag_wire_shape ((enum ag_msg_type)type);
        struct probe probe = probe_new ((enum ag_msg_type)type, SMALLEST);
        for (int from = AG_PEER_CLIENT; from <= AG_PEER_BROKER; from++) {
            struct ag_msg out = {0};
            struct ag_err err = {0};
            int rc = ag_wire_read ((enum ag_side)from, written (&probe), &out, &err);
            if (from == (int)shape->from)
                assert_int_equal (rc, 0);
            else if (rc == 0 || err.code != AG_E_NOT_ALLOWED)
                assert_int_not_equal ((int)out.type, type);
            else
                assert_non_null (strstr (err.text, shape->word));
        }
        probe_fini (&probe);
    }
}

static struct ag_err
refusal (enum ag_side from, struct ag_str frame)
{
    struct ag_msg out;
    struct ag_err err = {0};
    assert_int_equal (ag_wire_read (from, frame, &out, &err), -1);
    return err;
}

static void
an_unknown_request_is_told_the_nearest_name_of_its_side (void **state)
{
    (void)state;
    struct ag_err err = refusal (AG_PEER_CLIENT, AG_LIT ("\x81\xa2"
                                                         "do\xa7"
                                                         "promotr"));
    assert_int_equal (err.code, AG_E_BAD_MESSAGE);
    assert_string_equal (err.text, "no request is called \"promotr\"; did you mean \"promote\"?");
    err = refusal (AG_PEER_WORKER, AG_LIT ("\x81\xa2"
                                           "do\xa7"
                                           "promotr"));
    assert_string_equal (err.text, "no request is called \"promotr\"");
    err = refusal (AG_PEER_CLIENT, AG_LIT ("\x81\xa2"
                                           "do\xa3\x1b[m"));
    assert_string_equal (err.text, "no request is called \"?[m\"");
}

static void
what_is_no_request_is_refused (void **state)
{
    (void)state;
    static const struct ag_str frames[] = {
        {"", 0},
        {"\xc0", 1},
        {"\x80", 1},
        {"\x81\xa2"
         "do\x01",
         5},
        {"\x81\xa2"
         "do\xa4"
         "down\xc0",
         10}, //  a byte after the end
        {"\x82\xa2"
         "do\xa4"
         "down\x01\x02",
         11}, //  a key that is no text
        {"\xdf\xff\xff\xff\xff\xa2"
         "do\xa4"
         "down",
         13}, //  a count that cannot be
        {"\xdd\xff\xff\xff\xff", 5},
    };
    for (size_t i = 0; i < sizeof frames / sizeof *frames; i++)
        assert_int_equal (refusal (AG_PEER_CLIENT, frames[i]).code, AG_E_BAD_MESSAGE);
}

static void
fields_that_we_do_not_know_are_ignored_and_known_ones_come_once (void **state)
{
    (void)state;
    struct ag_msg out;
    struct ag_err err = {0};
    struct ag_str more = AG_LIT ("\x83\xa1z\x91\x80\xa2"
                                 "do\xa4"
                                 "down\xa1z\xc0");
    assert_int_equal (ag_wire_read (AG_PEER_CLIENT, more, &out, &err), 0);
    err = refusal (AG_PEER_CLIENT, AG_LIT ("\x83\xa2"
                                           "do\xa4"
                                           "down\xa2id\xa1"
                                           "a\xa2id\xa1"
                                           "b"));
    assert_string_equal (err.text, "down.id is there twice");
    err = refusal (AG_PEER_CLIENT, AG_LIT ("\x82\xa2"
                                           "do\xa4"
                                           "down\xa8protocol\x02"));
    assert_string_equal (err.text, "down.protocol is 2, not 0 to 1");
}

//  A number at zero is left out by the writer; a peer may send it.
static void
a_number_below_its_least_is_refused_and_an_absent_one_is_its_least (void **state)
{
    (void)state;
    struct ag_msg out;
    struct ag_err err = refusal (AG_PEER_CLIENT, AG_LIT ("\x83\xa2"
                                                         "do\xa4"
                                                         "fork\xa5"
                                                         "point\xa1"
                                                         "x\xa5"
                                                         "count\0"));
    assert_string_equal (err.text, "fork.count is 0, not 1 to 256");
    struct ag_str none = AG_LIT ("\x82\xa2"
                                 "do\xa4"
                                 "fork\xa5"
                                 "point\xa1"
                                 "x");
    assert_int_equal (ag_wire_read (AG_PEER_CLIENT, none, &out, &err), 0);
    assert_int_equal (out.fork.count, 1);
    assert_false (out.fork.no_start);
    assert_null (out.fork.label.p);
}

int
main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (a_request_is_a_struct_on_both_sides),
        cmocka_unit_test (every_message_comes_back_equal_at_its_smallest_and_at_its_largest),
        cmocka_unit_test (the_largest_of_every_message_fits_a_frame),
        cmocka_unit_test (every_bound_holds_on_both_sides_of_it),
        cmocka_unit_test (a_field_of_another_kind_is_refused),
        cmocka_unit_test (
            a_needed_field_that_is_missing_is_named_and_an_optional_one_has_its_default),
        cmocka_unit_test (every_truncation_is_refused),
        cmocka_unit_test (a_request_of_another_side_is_not_allowed),
        cmocka_unit_test (an_unknown_request_is_told_the_nearest_name_of_its_side),
        cmocka_unit_test (what_is_no_request_is_refused),
        cmocka_unit_test (a_number_below_its_least_is_refused_and_an_absent_one_is_its_least),
        cmocka_unit_test (fields_that_we_do_not_know_are_ignored_and_known_ones_come_once),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
