/*  schema - what the data of a type has to be: a closed part of JSON Schema, and its canonical form.
 *
 *      type (a text or a list of texts), enum (texts), minimum, maximum, minLength, maxLength, minItems, maxItems,
 *      items, properties, required, additionalProperties (a bool), default, description
 *
 *  of JSON Schema, with its meaning; docs/design/packs.md says where it is narrower. What is no keyword here is
 *  refused, never passed over. Reading and checking report everything that is wrong, each with its place.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_SCHEMA_H
#define AG_SCHEMA_H
#include "common/toml.h"

enum {
    AG_SCHEMA_DEPTH = 8,   //  of properties and items in each other
    AG_SCHEMA_MOST = 256,  //  properties of a thing, words of an enum
    AG_SCHEMA_NODES = 4096 //  of one type
};

typedef struct ag_schema ag_schema_t;

//  One thing that is wrong; the path (NULL: the whole) lives as long as the call.
typedef void ag_schema_fn (void *arg, const struct ag_toml_path *path, const char *what);

//  The schema of a type: of a map. Relation: it may name the types of its ends (source, target). The table is a
//  normal value, and the schema borrows from it. NULL when something is wrong with it; all of that was reported.
ag_schema_t *ag_schema_new (struct ag_str table, bool relation, const struct ag_toml_path *path,
                            ag_schema_fn *fn, void *arg);
void ag_schema_destroy (ag_schema_t **self_p);

//  Append the canonical form of a normal value: what it is, with each default where a property is left out, and
//  whole numbers written as integers where only those fit. The canonical form of that is itself. Path: of the value;
//  NULL for one that stands for itself. Returns how much does not fit (each reported); then out is as it was. More
//  than `most` bytes do not fit either.
size_t ag_schema_fit (const ag_schema_t *self, struct ag_str value, const struct ag_toml_path *path,
                      size_t most, struct ag_buf *out, ag_schema_fn *fn, void *arg);

//  May a relation of this type go from an object of one type to one of another? How much does not fit, reported.
size_t ag_schema_fit_ends (const ag_schema_t *self, struct ag_str source, struct ag_str target,
                           ag_schema_fn *fn, void *arg);
#endif
