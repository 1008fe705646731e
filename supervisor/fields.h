/*  fields - the top-level fields of a map: of an object's data merged, of any two compared.
 *
 *  Every map is a normal one. Work grows with n log n of the fields, whatever an author sends.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_FIELDS_H
#define AG_FIELDS_H
#include "common/value.h"

//  Append data with the fields of change set: a field that data has keeps its place, a new one comes
//  after it.
void ag_fields_merge (struct ag_str data, struct ag_str change, struct ag_buf *out);

//  Append what has to be set in data for it to become `after`, which has all of its fields: those that asked
//  names, and those that are not as they were.
void ag_fields_change (struct ag_str data, struct ag_str after, struct ag_str asked,
                       struct ag_buf *out);

//  Append {field: {old, new}} of the fields that differ between two maps; a missing side is null.
void ag_fields_diff (struct ag_str before, struct ag_str after, struct ag_buf *out);

//  Calls fn with each field of one map or the other, in their order, the first one's before those that only the other
//  one has, until it returns true: whether it did. A side that lacks the field has p NULL.
typedef bool ag_fields_fn (void *arg, struct ag_str key, struct ag_str one, struct ag_str other);
bool ag_fields_each (struct ag_str one, struct ag_str other, ag_fields_fn *fn, void *arg);
#endif
