/*  operation_read - one operation out of its map, by the table in operations.def.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_OPERATION_READ_H
#define AG_OPERATION_READ_H
#include "common/value.h"

enum ag_op {
#define OP(NAME, name, doc) AG_OP_##NAME,
#define FIELD(NAME, field, kind, needed, doc)
#define END(NAME)
#include "schemas/operations.def"
    AG_OPS
};
const char *ag_op_name (enum ag_op op);

//  Fields that the operation does not have, or that were left out, have p NULL. All borrow from the map.
struct ag_operation {
    enum ag_op op;
    struct ag_str type, data, id, as, source, target, payload;
    struct ag_str patch, change, rationale, reason;
    struct ag_str evidence;
    struct ag_str expected_version; //  a value: the number
};

//  AG_E_BAD_OPERATION: no map, an unknown operation or field, a field missing or of another kind.
int ag_operation_read (struct ag_str map, struct ag_operation *operation, struct ag_err *err);
#endif
