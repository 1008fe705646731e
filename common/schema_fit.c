//  SPDX-License-Identifier: Apache-2.0
#include "common/json.h"
#include "common/schema_inside.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

enum { MOST_TEXT = 300, MOST_SHOWN = 60 };

struct fitting {
    struct ag_buf *out;
    size_t begin, most, misfits;
    ag_schema_fn *fn;
    void *arg;
};

static void __attribute__ ((format (printf, 3, 4)))
say (struct fitting *self, const struct ag_toml_path *path, const char *format, ...)
{
    char text[MOST_TEXT];
    va_list list;
    va_start (list, format);
    vsnprintf (text, sizeof text, format, list);
    va_end (list);
    self->misfits++;
    self->fn (self->arg, path, text);
}

//  "is 5.0, not WHAT"; of long texts, lists and maps only what they are.
static void
say_value (struct fitting *self, const struct ag_toml_path *path, struct ag_str value,
           const char *what)
{
    struct ag_buf shown = {0};
    enum ag_kind kind = ag_kind_of (value);
    if (kind == AG_MAP || kind == AG_LIST)
        ag_buf_text (&shown, kind == AG_MAP ? "an object" : "an array");
    else if (value.n > MOST_SHOWN)
        ag_buf_text (&shown, "a string of %zu bytes", value.n);
    else
        ag_json_write (value, AG_JSON_LINE, &shown);
    say (self, path, "is %.*s, not %s", AG_STR_ARG (ag_buf_str (&shown)), what);
    ag_buf_fini (&shown);
}

static bool
is_whole (double number)
{
    return number == trunc (number) && fabs (number) < 0x1p63;
}

//  The shapes that a value has: a whole number has two.
static unsigned
shapes_of (const struct ag_head *head)
{
    switch (head->kind) {
    case AG_NULL:
        return 1u << AG_SHAPE_NULL;
    case AG_BOOL:
        return 1u << AG_SHAPE_BOOLEAN;
    case AG_INT:
    case AG_UINT:
        return 1u << AG_SHAPE_INTEGER | 1u << AG_SHAPE_NUMBER;
    case AG_FLOAT:
        return 1u << AG_SHAPE_NUMBER | (is_whole (head->f) ? 1u << AG_SHAPE_INTEGER : 0);
    case AG_TEXT:
        return 1u << AG_SHAPE_STRING;
    case AG_LIST:
        return 1u << AG_SHAPE_ARRAY;
    case AG_MAP:
        return 1u << AG_SHAPE_OBJECT;
    case AG_BYTES:
        break; //  in no value
    }
    return 0;
}

//  "a string or a null"
static void
say_shape (struct fitting *self, const struct ag_toml_path *path, struct ag_str value,
           unsigned shapes)
{
    struct ag_buf names = {0};
    for (unsigned i = 0; i < AG_SHAPES; i++)
        if (shapes & 1u << i)
            ag_buf_text (&names, "%s%s", names.n ? " or " : "", ag_shape_names[i]);
    ag_buf_add (&names, "", 1);
    say_value (self, path, value, (const char *)names.p);
    ag_buf_fini (&names);
}

static void
say_bound (struct fitting *self, const struct ag_toml_path *path, struct ag_str value,
           const char *words, struct ag_str bound)
{
    struct ag_buf text = {0};
    ag_buf_text (&text, "%s ", words);
    ag_json_write (bound, AG_JSON_LINE, &text);
    ag_buf_add (&text, "", 1);
    say_value (self, path, value, (const char *)text.p);
    ag_buf_fini (&text);
}

static void
fit_number (struct fitting *self, const struct ag_schema *schema, struct ag_str value,
            const struct ag_toml_path *path)
{
    int order;
    if (schema->minimum.p && ag_value_order (value, schema->minimum, &order) && order < 0)
        say_bound (self, path, value, "at least", schema->minimum);
    if (schema->maximum.p && ag_value_order (value, schema->maximum, &order) && order > 0)
        say_bound (self, path, value, "at most", schema->maximum);
}

static void
fit_count (struct fitting *self, const struct ag_toml_path *path, uint64_t count, uint64_t least,
           uint64_t most, const char *what)
{
    if (count < least)
        say (self, path, "has %llu %s, fewer than %llu", (unsigned long long)count, what,
             (unsigned long long)least);
    if (count > most)
        say (self, path, "has %llu %s, more than %llu", (unsigned long long)count, what,
             (unsigned long long)most);
}

static uint64_t
characters (struct ag_str text)
{
    uint64_t count = 0;
    for (size_t i = 0; i < text.n; i++)
        count += ((uint8_t)text.p[i] & 0xc0) != 0x80;
    return count;
}

static void
fit_text (struct fitting *self, const struct ag_schema *schema, struct ag_str value,
          struct ag_str text, const struct ag_toml_path *path)
{
    if (schema->min_length || schema->max_length != UINT64_MAX)
        fit_count (self, path, characters (text), schema->min_length, schema->max_length,
                   "characters");
    if (schema->words.count && !ag_words_have (&schema->words, text))
        say_value (self, path, value, "a word of its enum");
}

static void fit (struct fitting *self, const struct ag_schema *schema, struct ag_str value,
                 const struct ag_toml_path *path);

static void
fit_list (struct fitting *self, const struct ag_schema *schema, struct ag_cursor *in,
          uint32_t count, const struct ag_toml_path *above)
{
    struct ag_str value;
    fit_count (self, above, count, schema->min_items, schema->max_items, "items");
    ag_put_list (self->out, count);
    for (uint32_t i = 0; i < count && !ag_take (in, &value); i++) {
        struct ag_toml_path path = {above, {0}, i};
        fit (self, schema->items, value, &path);
    }
}

static void
put_field (struct fitting *self, const struct ag_schema *schema, size_t field, struct ag_str name,
           struct ag_str value, const struct ag_toml_path *above)
{
    struct ag_toml_path path = {above, name, 0};
    bool known = field < schema->field_count;
    ag_put_text (self->out, name);
    fit (self, known ? schema->fields[field].schema : NULL, value, &path);
    if (!known && schema->closed)
        say (self, &path, "is no property of it");
}

//  Fields that are not there: how many defaults stand for them.
static uint32_t
look_for_missing (struct fitting *self, const struct ag_schema *schema, const bool *seen,
                  const struct ag_toml_path *above)
{
    uint32_t defaults = 0;
    for (size_t i = 0; i < schema->field_count; i++) {
        const struct ag_field *field = &schema->fields[i];
        struct ag_toml_path path = {above, field->name, 0};
        if (!seen[i] && field->required)
            say (self, &path, "is missing");
        defaults += !seen[i] && field->schema->fallback.p;
    }
    return defaults;
}

static void
fit_map (struct fitting *self, const struct ag_schema *schema, struct ag_cursor *in, uint32_t count,
         const struct ag_toml_path *above)
{
    bool seen[AG_SCHEMA_MOST + 1] = {false};
    struct ag_cursor again = *in;
    struct ag_head name;
    struct ag_str value;
    for (uint32_t i = 0; i < count && !ag_next (&again, &name) && !ag_take (&again, &value); i++)
        seen[ag_schema_field (schema, name.s)] = true;
    uint32_t defaults = look_for_missing (self, schema, seen, above);
    ag_put_map (self->out, count + defaults);
    for (uint32_t i = 0; i < count && !ag_next (in, &name) && !ag_take (in, &value); i++)
        put_field (self, schema, ag_schema_field (schema, name.s), name.s, value, above);
    for (size_t i = 0; i < schema->field_count; i++)
        if (!seen[i] && schema->fields[i].schema->fallback.p) {
            ag_put_text (self->out, schema->fields[i].name);
            ag_put_value (self->out, schema->fields[i].schema->fallback);
        }
}

static void
fit_scalar (struct fitting *self, const struct ag_schema *schema, struct ag_str value,
            const struct ag_head *head, const struct ag_toml_path *path)
{
    bool number = schema->shapes & 1u << AG_SHAPE_NUMBER;
    if (head->kind == AG_TEXT)
        fit_text (self, schema, value, head->s, path);
    else if (shapes_of (head) & 1u << AG_SHAPE_NUMBER)
        fit_number (self, schema, value, path);
    if (head->kind == AG_FLOAT && schema->shapes && !number)
        ag_put_int (self->out, (int64_t)head->f);
    else
        ag_put_value (self->out, value);
}

//  schema NULL: anything.
static void
fit (struct fitting *self, const struct ag_schema *schema, struct ag_str value,
     const struct ag_toml_path *path)
{
    struct ag_cursor in = ag_cursor (value);
    struct ag_head head;
    if (self->out->n - self->begin > self->most)
        return;
    if (!schema || ag_next (&in, &head)) {
        ag_put_value (self->out, value);
        return;
    }
    if (schema->shapes && !(schema->shapes & shapes_of (&head)))
        say_shape (self, path, value, schema->shapes);
    else if (head.kind == AG_MAP)
        fit_map (self, schema, &in, head.count, path);
    else if (head.kind == AG_LIST)
        fit_list (self, schema, &in, head.count, path);
    else
        fit_scalar (self, schema, value, &head, path);
}

size_t
ag_schema_fit (const ag_schema_t *schema, struct ag_str value, const struct ag_toml_path *path,
               size_t most, struct ag_buf *out, ag_schema_fn *fn, void *arg)
{
    struct fitting self = {.out = out, .begin = out->n, .most = most, .fn = fn, .arg = arg};
    fit (&self, schema, value, path);
    if (!self.misfits && out->n - self.begin > most)
        say (&self, path, "takes more than %zu bytes with its defaults", most);
    if (self.misfits)
        out->n = self.begin;
    return self.misfits;
}

size_t
ag_schema_fit_ends (const ag_schema_t *schema, struct ag_str source, struct ag_str target,
                    ag_schema_fn *fn, void *arg)
{
    const struct {
        const char *name;
        const struct ag_words *words;
        struct ag_str type;
    } ends[] = {{"source", &schema->source, source}, {"target", &schema->target, target}};
    struct fitting self = {.fn = fn, .arg = arg};
    for (size_t i = 0; i < 2; i++) {
        struct ag_toml_path path = {NULL, ag_str (ends[i].name), 0};
        if (ends[i].words->count && !ag_words_have (ends[i].words, ends[i].type))
            say (&self, &path, "is of type %.*s, which its type does not allow",
                 AG_STR_ARG (ends[i].type));
    }
    return self.misfits;
}
