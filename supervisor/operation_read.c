//  SPDX-License-Identifier: Apache-2.0
#include "supervisor/operation_read.h"

#include <stddef.h>
#include <string.h>

static const char *const names[] = {
#define OP(NAME, name, doc) name,
#define FIELD(NAME, field, kind, needed, doc)
#define END(NAME)
#include "schemas/operations.def"
};

enum field_kind { ID, TYPE, TEXT, MAP, UINT, LIST };

//  How a field of each kind is written, and what it is called when it is not. All but texts are kept whole.
static const struct {
    enum ag_kind kind;
    const char *name;
} kinds[] = {[ID] = {AG_TEXT, "text"}, [TYPE] = {AG_TEXT, "text"},   [TEXT] = {AG_TEXT, "text"},
             [MAP] = {AG_MAP, "map"},  [UINT] = {AG_UINT, "number"}, [LIST] = {AG_LIST, "list"}};

static const struct field {
    enum ag_op op;
    const char *name;
    size_t offset;
    enum field_kind kind;
    bool needed;
} fields[] = {
#define OP(NAME, name, doc)
#define FIELD(NAME, field, kind, needed, doc)                                                      \
    {AG_OP_##NAME, #field, offsetof (struct ag_operation, field), kind, needed},
#define END(NAME)
#include "schemas/operations.def"
};

enum { FIELDS = sizeof fields / sizeof *fields };

const char *
ag_op_name (enum ag_op op)
{
    return names[op];
}

static struct ag_str *
place (struct ag_operation *operation, const struct field *field)
{
    return (struct ag_str *)((char *)operation + field->offset);
}

static int
read_op (struct ag_str map, struct ag_operation *operation, struct ag_err *err)
{
    struct ag_str name;
    if (ag_map_text (map, "op", &name))
        return ag_fail (err, AG_E_BAD_OPERATION, "no map with a text `op`");
    for (int op = 0; op < AG_OPS; op++)
        if (ag_str_is (name, names[op])) {
            operation->op = (enum ag_op)op;
            return 0;
        }
    return ag_fail (err, AG_E_BAD_OPERATION, "unknown operation `%.*s`", AG_STR_ARG (name));
}

static const struct field *
find (enum ag_op op, struct ag_str name)
{
    for (size_t i = 0; i < FIELDS; i++)
        if (fields[i].op == op && ag_str_is (name, fields[i].name))
            return &fields[i];
    return NULL;
}

static int
read_field (struct ag_operation *operation, struct ag_str name, struct ag_str value,
            struct ag_err *err)
{
    const struct field *field = find (operation->op, name);
    struct ag_cursor in = ag_cursor (value);
    struct ag_head head;
    if (!field)
        return ag_fail (err, AG_E_BAD_OPERATION, "unknown field `%.*s`", AG_STR_ARG (name));
    if (ag_next (&in, &head) || head.kind != kinds[field->kind].kind)
        return ag_fail (err, AG_E_BAD_OPERATION, "`%s` is no %s", field->name,
                        kinds[field->kind].name);
    *place (operation, field) = head.kind == AG_TEXT ? head.s : value;
    return 0;
}

static int
check_needed (struct ag_operation *operation, struct ag_err *err)
{
    for (size_t i = 0; i < FIELDS; i++)
        if (fields[i].op == operation->op && fields[i].needed && !place (operation, &fields[i])->p)
            return ag_fail (err, AG_E_BAD_OPERATION, "`%s` is missing", fields[i].name);
    return 0;
}

int
ag_operation_read (struct ag_str map, struct ag_operation *operation, struct ag_err *err)
{
    struct ag_cursor in = ag_cursor (map);
    struct ag_head head, key;
    struct ag_str value;
    *operation = (struct ag_operation){0};
    if (read_op (map, operation, err))
        return -1;
    if (ag_next (&in, &head))
        return ag_fail (err, AG_E_BAD_OPERATION, "unreadable");
    for (uint32_t i = 0; i < head.count; i++) {
        if (ag_next (&in, &key) || key.kind != AG_TEXT || ag_take (&in, &value))
            return ag_fail (err, AG_E_BAD_OPERATION, "unreadable");
        if (!ag_str_is (key.s, "op") && read_field (operation, key.s, value, err))
            return -1;
    }
    return check_needed (operation, err);
}
