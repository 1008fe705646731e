//  SPDX-License-Identifier: Apache-2.0
#include "common/items.h"
#include "common/json.h"
#include "common/near.h"
#include "common/schema_inside.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_TEXT = 300 };

const char *const ag_shape_names[AG_SHAPES] = {"object", "array",   "string", "integer",
                                               "number", "boolean", "null"};

//  One schema while it is read.
struct reading {
    ag_schema_fn *fn;
    void *arg;
    size_t problems, nodes;
    unsigned depth;
};

//  A keyword and what it was given.
struct given {
    const struct ag_toml_path *path;
    struct ag_str value;
};

static void __attribute__ ((format (printf, 3, 4)))
say (struct reading *self, const struct ag_toml_path *path, const char *format, ...)
{
    char text[MOST_TEXT];
    va_list list;
    va_start (list, format);
    vsnprintf (text, sizeof text, format, list);
    va_end (list);
    self->problems++;
    self->fn (self->arg, path, text);
}

bool
ag_words_have (const struct ag_words *words, struct ag_str word)
{
    return words->count &&
           bsearch (&word, words->list, words->count, sizeof *words->list, ag_str_order);
}

static int
by_name (const void *a, const void *b)
{
    return ag_str_cmp (((const struct ag_field *)a)->name, ((const struct ag_field *)b)->name);
}

size_t
ag_schema_field (const struct ag_schema *self, struct ag_str name)
{
    const struct ag_field key = {.name = name};
    const struct ag_field *found =
        self->field_count
            ? bsearch (&key, self->fields, self->field_count, sizeof *self->fields, by_name)
            : NULL;
    return found ? (size_t)(found - self->fields) : self->field_count;
}

/*  One function per keyword  */

typedef void read_fn (struct reading *self, const struct given *given, struct ag_schema *out);

static unsigned
shape_of (struct ag_str word)
{
    for (unsigned i = 0; i < AG_SHAPES; i++)
        if (ag_str_is (word, ag_shape_names[i]))
            return 1u << i;
    return 0;
}

//  A list of 1 to AG_SCHEMA_MOST different texts, in the order of their bytes.
static void
read_words (struct reading *self, const struct given *given, struct ag_words *words)
{
    struct ag_cursor in = ag_cursor (given->value);
    struct ag_head list, word;
    bool good = !ag_next (&in, &list) && list.kind == AG_LIST && list.count > 0 &&
                list.count <= AG_SCHEMA_MOST;
    words->list = good ? ag_xcalloc (list.count, sizeof *words->list) : NULL;
    for (uint32_t i = 0; good && i < list.count; i++) {
        good = !ag_next (&in, &word) && word.kind == AG_TEXT;
        if (good)
            words->list[words->count++] = word.s;
    }
    if (words->count)
        qsort (words->list, words->count, sizeof *words->list, ag_str_order);
    for (size_t i = 1; good && i < words->count; i++)
        good = !ag_str_eq (words->list[i - 1], words->list[i]);
    if (!good)
        say (self, given->path, "is no list of 1 to %d different texts", AG_SCHEMA_MOST);
}

static void
read_type (struct reading *self, const struct given *given, struct ag_schema *out)
{
    struct ag_words words = {0};
    struct ag_cursor in = ag_cursor (given->value);
    struct ag_head head;
    if (!ag_next (&in, &head) && head.kind == AG_TEXT) {
        words.list = ag_xcalloc (1, sizeof *words.list);
        words.list[words.count++] = head.s;
    } else
        read_words (self, given, &words);
    for (size_t i = 0; i < words.count; i++) {
        unsigned shape = shape_of (words.list[i]);
        if (!shape)
            say (self, given->path,
                 "is not object, array, string, integer, number, boolean or null: %.*s",
                 AG_STR_ARG (words.list[i]));
        out->shapes |= shape;
    }
    free (words.list);
    if (self->depth == 1 && out->shapes != 1u << AG_SHAPE_OBJECT)
        say (self, given->path, "is not object, as every type is");
}

static void
read_enum (struct reading *self, const struct given *given, struct ag_schema *out)
{
    read_words (self, given, &out->words);
}

static void
read_source (struct reading *self, const struct given *given, struct ag_schema *out)
{
    read_words (self, given, &out->source);
}

static void
read_target (struct reading *self, const struct given *given, struct ag_schema *out)
{
    read_words (self, given, &out->target);
}

static bool
is_number (struct ag_str value)
{
    enum ag_kind kind = ag_kind_of (value);
    return kind == AG_INT || kind == AG_UINT || kind == AG_FLOAT;
}

static void
read_minimum (struct reading *self, const struct given *given, struct ag_schema *out)
{
    out->minimum = given->value;
    if (!is_number (given->value))
        say (self, given->path, "is no number");
}

static void
read_maximum (struct reading *self, const struct given *given, struct ag_schema *out)
{
    int order;
    out->maximum = given->value;
    if (!is_number (given->value))
        say (self, given->path, "is no number");
    else if (out->minimum.p && ag_value_order (out->minimum, out->maximum, &order) && order > 0)
        say (self, given->path, "is below the minimum");
}

static void
read_count (struct reading *self, const struct given *given, uint64_t least, uint64_t *out)
{
    struct ag_cursor in = ag_cursor (given->value);
    struct ag_head head;
    if (ag_next (&in, &head) || head.kind != AG_UINT)
        say (self, given->path, "is no number from 0 on");
    else if (head.u < least)
        say (self, given->path, "is below the least number");
    else
        *out = head.u;
}

static void
read_min_length (struct reading *self, const struct given *given, struct ag_schema *out)
{
    read_count (self, given, 0, &out->min_length);
}

static void
read_max_length (struct reading *self, const struct given *given, struct ag_schema *out)
{
    read_count (self, given, out->min_length, &out->max_length);
}

static void
read_min_items (struct reading *self, const struct given *given, struct ag_schema *out)
{
    read_count (self, given, 0, &out->min_items);
}

static void
read_max_items (struct reading *self, const struct given *given, struct ag_schema *out)
{
    read_count (self, given, out->min_items, &out->max_items);
}

static struct ag_schema *read_node (struct reading *self, struct ag_str table, bool relation,
                                    const struct ag_toml_path *path);

static void
read_items (struct reading *self, const struct given *given, struct ag_schema *out)
{
    out->items = read_node (self, given->value, false, given->path);
}

static void
read_properties (struct reading *self, const struct given *given, struct ag_schema *out)
{
    struct ag_items pairs = ag_pairs_of (given->value);
    struct ag_str name, table;
    if (ag_kind_of (given->value) != AG_MAP || pairs.left > AG_SCHEMA_MOST) {
        say (self, given->path, "is no table of at most %d properties", AG_SCHEMA_MOST);
        return;
    }
    out->fields = ag_xcalloc (pairs.left + 1, sizeof *out->fields);
    while (ag_pairs_next (&pairs, &name, &table)) {
        struct ag_toml_path path = {given->path, name, 0};
        out->fields[out->field_count++] =
            (struct ag_field){name, read_node (self, table, false, &path), false};
        if (self->depth == 1 && ag_str_is (name, "provenance"))
            say (self, &path, "is written by the house alone");
    }
    if (out->field_count)
        qsort (out->fields, out->field_count, sizeof *out->fields, by_name);
}

static void
read_required (struct reading *self, const struct given *given, struct ag_schema *out)
{
    struct ag_words words = {0};
    read_words (self, given, &words);
    for (size_t i = 0; i < words.count; i++) {
        size_t field = ag_schema_field (out, words.list[i]);
        if (field == out->field_count)
            say (self, given->path, "names %.*s, which is no property", AG_STR_ARG (words.list[i]));
        else if (out->fields[field].schema && out->fields[field].schema->fallback.p)
            say (self, given->path, "names %.*s, which has a default", AG_STR_ARG (words.list[i]));
        else
            out->fields[field].required = true;
    }
    free (words.list);
}

static void
read_additional (struct reading *self, const struct given *given, struct ag_schema *out)
{
    struct ag_cursor in = ag_cursor (given->value);
    struct ag_head head;
    if (ag_next (&in, &head) || head.kind != AG_BOOL)
        say (self, given->path, "is not true or false");
    else
        out->closed = !head.b;
}

//  Checked once all else of the schema is known.
static void
read_default (struct reading *self, const struct given *given, struct ag_schema *out)
{
    struct ag_buf canonical = {0};
    out->fallback = given->value;
    if (!self->problems)
        self->problems += ag_schema_fit (out, given->value, given->path, AG_TOML_MAX, &canonical,
                                         self->fn, self->arg);
    if (!self->problems && !ag_str_eq (ag_buf_str (&canonical), given->value))
        say (self, given->path, "is not written as it would be kept: defaults inside it too");
    ag_buf_fini (&canonical);
}

static void
read_description (struct reading *self, const struct given *given, struct ag_schema *out)
{
    (void)out;
    if (ag_kind_of (given->value) != AG_TEXT)
        say (self, given->path, "is no text");
}

enum {
    OBJECT = 1u << AG_SHAPE_OBJECT,
    ARRAY = 1u << AG_SHAPE_ARRAY,
    STRING = 1u << AG_SHAPE_STRING,
    NUMBER = 1u << AG_SHAPE_INTEGER | 1u << AG_SHAPE_NUMBER,
    INNER = 1u << AG_SHAPES,         //  not of a type itself
    RELATION = 1u << (AG_SHAPES + 1) //  of a relation itself
};

//  In the order in which they are read; of: the types that a keyword belongs to, 0: all.
static const struct keyword {
    const char *name;
    unsigned of;
    read_fn *read;
} keywords[] = {
    {"description", 0, read_description},
    {"type", 0, read_type},
    {"source", RELATION, read_source},
    {"target", RELATION, read_target},
    {"enum", STRING, read_enum},
    {"minimum", NUMBER, read_minimum},
    {"maximum", NUMBER, read_maximum},
    {"minLength", STRING, read_min_length},
    {"maxLength", STRING, read_max_length},
    {"minItems", ARRAY, read_min_items},
    {"maxItems", ARRAY, read_max_items},
    {"items", ARRAY, read_items},
    {"properties", OBJECT, read_properties},
    {"required", OBJECT, read_required},
    {"additionalProperties", OBJECT, read_additional},
    {"default", INNER, read_default},
};
enum { KEYWORDS = sizeof keywords / sizeof *keywords };

static const struct keyword *
keyword_of (struct ag_str name)
{
    for (size_t i = 0; i < KEYWORDS; i++)
        if (ag_str_is (name, keywords[i].name))
            return &keywords[i];
    return NULL;
}

static void
check_keywords (struct reading *self, struct ag_str table, const struct ag_toml_path *above)
{
    const char *names[KEYWORDS];
    struct ag_str name, value;
    for (size_t i = 0; i < KEYWORDS; i++)
        names[i] = keywords[i].name;
    for (struct ag_items pairs = ag_pairs_of (table); ag_pairs_next (&pairs, &name, &value);) {
        struct ag_toml_path path = {above, name, 0};
        const char *near = keyword_of (name) ? NULL : ag_near (name, names, KEYWORDS);
        if (near)
            say (self, &path, "is no keyword of a schema here; did you mean `%s`?", near);
        else if (!keyword_of (name))
            say (self, &path, "is no keyword of a schema here");
    }
}

//  of: what the schema is of by its type, INNER and RELATION among it.
static void
read_keywords (struct reading *self, struct ag_str table, unsigned of,
               const struct ag_toml_path *above, struct ag_schema *out)
{
    struct given given;
    for (size_t i = 0; i < KEYWORDS; i++) {
        struct ag_toml_path path = {above, ag_str (keywords[i].name), 0};
        unsigned wanted = keywords[i].of;
        given.path = &path;
        if (ag_map_get (table, keywords[i].name, &given.value))
            continue;
        if (wanted && !(wanted & (of | out->shapes)))
            say (self, &path, "does not belong to the type here");
        else
            keywords[i].read (self, &given, out);
    }
}

static struct ag_schema *
read_node (struct reading *self, struct ag_str table, bool relation,
           const struct ag_toml_path *path)
{
    bool top = self->depth == 0;
    if (ag_kind_of (table) != AG_MAP) {
        say (self, path, "is no table");
        return NULL;
    }
    if (self->depth > AG_SCHEMA_DEPTH || self->nodes++ >= AG_SCHEMA_NODES) {
        say (self, path, "goes over %d levels or %d parts", AG_SCHEMA_DEPTH, AG_SCHEMA_NODES);
        return NULL;
    }
    struct ag_schema *out = ag_xcalloc (1, sizeof *out);
    *out = (struct ag_schema){
        .shapes = top ? OBJECT : 0, .max_length = UINT64_MAX, .max_items = UINT64_MAX};
    self->depth++;
    check_keywords (self, table, path);
    read_keywords (self, table, !top ? INNER : relation ? RELATION : 0, path, out);
    self->depth--;
    return out;
}

ag_schema_t *
ag_schema_new (struct ag_str table, bool relation, const struct ag_toml_path *path,
               ag_schema_fn *fn, void *arg)
{
    struct reading self = {.fn = fn, .arg = arg};
    ag_schema_t *schema = read_node (&self, table, relation, path);
    if (self.problems)
        ag_schema_destroy (&schema);
    return schema;
}

void
ag_schema_destroy (ag_schema_t **self_p)
{
    ag_schema_t *self = *self_p;
    if (!self)
        return;
    for (size_t i = 0; i < self->field_count; i++)
        ag_schema_destroy (&self->fields[i].schema);
    ag_schema_destroy (&self->items);
    free (self->fields);
    free (self->words.list);
    free (self->source.list);
    free (self->target.list);
    free (self);
    *self_p = NULL;
}
