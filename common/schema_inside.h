/*  schema_inside - a schema as schema.c reads it and schema_fit.c holds values against it.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_SCHEMA_INSIDE_H
#define AG_SCHEMA_INSIDE_H
#include "common/schema.h"

//  The words of `type`; a schema without one takes any value.
enum ag_shape {
    AG_SHAPE_OBJECT,
    AG_SHAPE_ARRAY,
    AG_SHAPE_STRING,
    AG_SHAPE_INTEGER,
    AG_SHAPE_NUMBER,
    AG_SHAPE_BOOLEAN,
    AG_SHAPE_NULL,
    AG_SHAPES
};
extern const char *const ag_shape_names[AG_SHAPES];

//  Different texts, sorted.
struct ag_words {
    struct ag_str *list;
    size_t count;
};
bool ag_words_have (const struct ag_words *words, struct ag_str word);

struct ag_field {
    struct ag_str name;
    struct ag_schema *schema;
    bool required;
};

struct ag_schema {
    unsigned shapes;                 //  1 << enum ag_shape; 0: any value
    struct ag_words words;           //  empty: any text
    struct ag_str minimum, maximum;  //  numbers; p NULL: none
    uint64_t min_length, max_length; //  of a text, in characters
    uint64_t min_items, max_items;
    struct ag_schema *items; //  NULL: any
    struct ag_field *fields; //  sorted by name
    size_t field_count;
    bool closed;                    //  no other fields
    struct ag_str fallback;         //  what stands for it where it is left out; p NULL: nothing
    struct ag_words source, target; //  of a relation; empty: any
};

//  The field of a name, or field_count.
size_t ag_schema_field (const struct ag_schema *self, struct ag_str name);
#endif
