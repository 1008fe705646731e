/*  fields - the top-level fields of an object's data: merged, and compared.
 *
 *  Data is a normal map. Work grows with n log n of the fields, whatever an author sends.
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
#endif
