//  SPDX-License-Identifier: Apache-2.0
#include "common/wire.h"

#include "common/near.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

//  One list of fields per message; the last entry only ends it, since a message may have no other.
// clang-format off
#define MSG(name, word, from, doc) static const struct ag_field fields_##name[] = {
#define FIELD(name, field, kind, needed, min, max, doc)                                            \
    {#field, AG_FIELD_##kind, needed, min, max, offsetof (struct ag_msg, name.field), doc},
#define END(name) {NULL, AG_FIELD_STR, false, 0, 0, 0, NULL}};
// clang-format on
#include "schemas/messages.def"

static const struct ag_shape shapes[AG_MSGS] = {
#define MSG(name, word, from, doc)                                                                 \
    {word, AG_PEER_##from, doc, fields_##name, sizeof fields_##name / sizeof *fields_##name - 1},
#define FIELD(...)
#define END(name)
#include "schemas/messages.def"
};

//  What every request of a client may carry.
static const struct ag_field common_fields[] = {
    {"token", AG_FIELD_STR, false, 1, 128, offsetof (struct ag_msg, token), "HOME/run/token"},
    {"id", AG_FIELD_STR, false, 1, 64, offsetof (struct ag_msg, id), "Request id"},
    {"protocol", AG_FIELD_UINT, false, 0, 1, offsetof (struct ag_msg, protocol), "Version"},
};
enum { COMMON = sizeof common_fields / sizeof *common_fields };

static const char *const peer_names[] = {"client", "worker", "broker"};

const struct ag_shape *
ag_wire_shape (enum ag_msg_type type)
{
    assert (type < AG_MSGS);
    return &shapes[type];
}

//  A stranger's word as it may stand in an error text: bounded, printable.
static struct ag_str
quotable (struct ag_str word, char room[48])
{
    size_t n = word.n < 47 ? word.n : 47;
    for (size_t i = 0; i < n; i++)
        room[i] = word.p[i] > ' ' && word.p[i] < 0x7f ? word.p[i] : '?';
    return (struct ag_str){room, n};
}

static int
fail_unknown (enum ag_side from, struct ag_str word, struct ag_err *err)
{
    const char *names[AG_MSGS];
    char room[48];
    for (int i = 0; i < AG_MSGS; i++)
        names[i] = shapes[i].from == from ? shapes[i].word : NULL;
    const char *near = ag_near (word, names, AG_MSGS);
    word = quotable (word, room);
    return ag_fail (err, AG_E_BAD_MESSAGE, "no request is called \"%.*s\"%s%s%s", AG_STR_ARG (word),
                    near ? "; did you mean \"" : "", near ? near : "", near ? "\"?" : "");
}

//  The row of this word for this side.
static int
find (enum ag_side from, struct ag_str word, enum ag_msg_type *type, struct ag_err *err)
{
    const struct ag_shape *other = NULL;
    for (int i = 0; i < AG_MSGS; i++) {
        if (!ag_str_is (word, shapes[i].word))
            continue;
        *type = (enum ag_msg_type)i;
        if (shapes[i].from == from)
            return 0;
        other = &shapes[i];
    }
    if (other)
        return ag_fail (err, AG_E_NOT_ALLOWED, "%s is a request of a %s, not of a %s", other->word,
                        peer_names[other->from], peer_names[from]);
    return fail_unknown (from, word, err);
}

static int
fail_kind (const struct ag_shape *shape, const struct ag_field *field, struct ag_err *err)
{
    static const char *const kinds[] = {"text in UTF-8",   "a whole number", "true or false",
                                        "one whole value", "a list",         "a map"};
    return ag_fail (err, AG_E_BAD_MESSAGE, "%s.%s is not %s", shape->word, field->name,
                    kinds[field->kind]);
}

static int
check_bounds (const struct ag_shape *shape, const struct ag_field *field, uint64_t n,
              struct ag_err *err)
{
    if (n >= field->min && n <= field->max)
        return 0;
    bool large = n > field->max && field->kind != AG_FIELD_UINT;
    return ag_fail (err, large ? AG_E_TOO_LARGE : AG_E_BAD_MESSAGE,
                    "%s.%s is %" PRIu64 "%s, not %" PRIu64 " to %" PRIu64, shape->word, field->name,
                    n, field->kind == AG_FIELD_UINT ? "" : " bytes", field->min, field->max);
}

static int
read_scalar (const struct ag_shape *shape, const struct ag_field *field, struct ag_str value,
             void *to, struct ag_err *err)
{
    struct ag_cursor in = ag_cursor (value);
    struct ag_head head;
    if (ag_next (&in, &head))
        return fail_kind (shape, field, err);
    if (field->kind == AG_FIELD_BOOL && head.kind == AG_BOOL) {
        *(bool *)to = head.b;
        return 0;
    }
    if (field->kind == AG_FIELD_UINT && head.kind == AG_UINT) {
        *(uint64_t *)to = head.u;
        return check_bounds (shape, field, head.u, err);
    }
    if (field->kind == AG_FIELD_STR && head.kind == AG_TEXT && ag_utf8 (head.s)) {
        *(struct ag_str *)to = head.s;
        return check_bounds (shape, field, head.s.n, err);
    }
    return fail_kind (shape, field, err);
}

static int
read_field (const struct ag_shape *shape, const struct ag_field *field, struct ag_str value,
            struct ag_msg *out, struct ag_err *err)
{
    void *to = (char *)out + field->at;
    if (field->kind <= AG_FIELD_BOOL)
        return read_scalar (shape, field, value, to, err);

    enum ag_kind kind = ag_kind_of (value);
    if ((field->kind == AG_FIELD_LIST && kind != AG_LIST) ||
        (field->kind == AG_FIELD_MAP && kind != AG_MAP))
        return fail_kind (shape, field, err);
    *(struct ag_str *)to = value;
    return check_bounds (shape, field, value.n, err);
}

static void
set_default (const struct ag_field *field, struct ag_msg *out)
{
    void *to = (char *)out + field->at;
    if (field->kind == AG_FIELD_UINT)
        *(uint64_t *)to = field->min;
    else if (field->kind == AG_FIELD_BOOL)
        *(bool *)to = false;
    else
        *(struct ag_str *)to = (struct ag_str){0};
}

//  The fields that this shape may carry, one after the other: its own, then a client's common ones.
static const struct ag_field *
field_at (const struct ag_shape *shape, size_t i)
{
    if (i < shape->count)
        return &shape->fields[i];
    i -= shape->count;
    return shape->from == AG_PEER_CLIENT && i < COMMON ? &common_fields[i] : NULL;
}

//  One pair of the map: a field of ours is read, anything else is skipped. seen has a bit per field.
static int
read_pair (const struct ag_shape *shape, struct ag_str key, struct ag_str value, uint64_t *seen,
           struct ag_msg *out, struct ag_err *err)
{
    const struct ag_field *field;
    for (size_t i = 0; (field = field_at (shape, i)); i++) {
        if (!ag_str_is (key, field->name))
            continue;
        if (*seen & UINT64_C (1) << i)
            return ag_fail (err, AG_E_BAD_MESSAGE, "%s.%s is there twice", shape->word,
                            field->name);
        *seen |= UINT64_C (1) << i;
        return read_field (shape, field, value, out, err);
    }
    return 0;
}

static int
read_fields (const struct ag_shape *shape, struct ag_cursor *in, uint32_t pairs, struct ag_msg *out,
             struct ag_err *err)
{
    uint64_t seen = 0;
    assert (shape->fields && shape->count + COMMON <= 64); //  a bit of `seen` for each
    for (uint32_t i = 0; i < pairs; i++) {
        struct ag_head key;
        struct ag_str value;
        if (ag_next (in, &key) || key.kind != AG_TEXT || ag_take (in, &value))
            return ag_fail (err, AG_E_BAD_MESSAGE,
                            "%s: pair %" PRIu32 " of %" PRIu32 " is malformed", shape->word, i + 1,
                            pairs);
        if (read_pair (shape, key.s, value, &seen, out, err))
            return -1;
    }
    if (in->p != in->end)
        return ag_fail (err, AG_E_BAD_MESSAGE, "%s: %zu bytes follow its end", shape->word,
                        (size_t)(in->end - in->p));
    for (size_t i = 0; i < shape->count; i++)
        if (shape->fields[i].needed && !(seen & UINT64_C (1) << i))
            return ag_fail (err, AG_E_BAD_MESSAGE, "%s.%s is missing", shape->word,
                            shape->fields[i].name);
    return 0;
}

int
ag_wire_read (enum ag_side from, struct ag_str bytes, struct ag_msg *out, struct ag_err *err)
{
    struct ag_cursor in = ag_cursor (bytes);
    struct ag_head head;
    struct ag_str word;
    if (ag_next (&in, &head) || head.kind != AG_MAP)
        return ag_fail (err, AG_E_BAD_MESSAGE, "%zu bytes that are no map", bytes.n);
    if (ag_map_text (bytes, "do", &word))
        return ag_fail (err, AG_E_BAD_MESSAGE, "a map of %zu bytes without the text \"do\"",
                        bytes.n);
    if (find (from, word, &out->type, err))
        return -1;

    const struct ag_shape *shape = &shapes[out->type];
    out->token = out->id = (struct ag_str){0};
    out->protocol = 0;
    const struct ag_field *field;
    for (size_t i = 0; (field = field_at (shape, i)); i++)
        set_default (field, out);
    return read_fields (shape, &in, head.count, out, err);
}

static bool
is_default (const struct ag_field *field, const void *from)
{
    if (field->kind == AG_FIELD_UINT)
        return *(const uint64_t *)from == field->min;
    if (field->kind == AG_FIELD_BOOL)
        return !*(const bool *)from;
    return !((const struct ag_str *)from)->p;
}

static void
write_field (const struct ag_field *field, const void *from, struct ag_buf *out)
{
    ag_put_lit (out, field->name);
    if (field->kind == AG_FIELD_UINT)
        ag_put_uint (out, *(const uint64_t *)from);
    else if (field->kind == AG_FIELD_BOOL)
        ag_put_bool (out, *(const bool *)from);
    else if (field->kind == AG_FIELD_STR)
        ag_put_text (out, *(const struct ag_str *)from);
    else
        ag_put_value (out, *(const struct ag_str *)from);
}

//  Text, lists, maps and values that are absent cannot be written, needed or not: the reader says so.
static bool
is_written (const struct ag_field *field, const void *from)
{
    bool scalar = field->kind == AG_FIELD_UINT || field->kind == AG_FIELD_BOOL;
    return !is_default (field, from) || (field->needed && scalar);
}

void
ag_wire_write (const struct ag_msg *msg, struct ag_buf *out)
{
    const struct ag_shape *shape = ag_wire_shape (msg->type);
    size_t at = ag_open_map (out);
    uint32_t pairs = 1;
    ag_put_lit (out, "do");
    ag_put_lit (out, shape->word);
    const struct ag_field *field;
    for (size_t i = 0; (field = field_at (shape, i)); i++) {
        const void *from = (const char *)msg + field->at;
        if (!is_written (field, from))
            continue;
        write_field (field, from, out);
        pairs++;
    }
    ag_close (out, at, pairs);
}
