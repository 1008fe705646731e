//  SPDX-License-Identifier: Apache-2.0
#include "common/manifest.h"
#include "common/forms.h"
#include "common/items.h"
#include "common/near.h"
#include "common/schema.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_KEYS = 16, MOST_TEXT = 300, MOST_NAMES = 1000, TYPES_BYTES = 256 << 10 };

struct problem {
    unsigned line, column;
    char *text;
};

struct reading {
    ag_toml_t *toml;
    struct ag_str manifest, surface; //  surface: p NULL when there is none
    bool complete;
    struct problem problems[AG_MANIFEST_PROBLEMS];
    size_t count; //  also of those that found no room
};

//  A key and what it was given.
struct given {
    const struct ag_toml_path *path;
    struct ag_str value;
};

/*  Problems  */

static void
say (void *arg, const struct ag_toml_path *path, const char *what)
{
    struct reading *self = arg;
    struct problem problem = {1, 1, NULL};
    struct ag_buf text = {0};
    const struct ag_toml_path *at = path;
    if (self->count++ >= AG_MANIFEST_PROBLEMS)
        return;
    //  What is missing has no place of its own: then that of the nearest thing above it.
    while (at && ag_toml_where (self->toml, at, &problem.line, &problem.column))
        at = at->up;
    ag_toml_path_text (path, &text);
    ag_buf_text (&text, "%s%s", text.n ? " " : "", what);
    problem.text = ag_str_dup (ag_buf_str (&text));
    self->problems[self->count - 1] = problem;
    ag_buf_fini (&text);
}

static void __attribute__ ((format (printf, 3, 4)))
sayf (struct reading *self, const struct ag_toml_path *path, const char *format, ...)
{
    char text[MOST_TEXT];
    va_list list;
    va_start (list, format);
    vsnprintf (text, sizeof text, format, list);
    va_end (list);
    say (self, path, text);
}

static int
by_place (const void *a, const void *b)
{
    const struct problem *p = a, *q = b;
    int order = (p->line > q->line) - (p->line < q->line);
    if (!order)
        order = (p->column > q->column) - (p->column < q->column);
    return order ? order : strcmp (p->text, q->text);
}

static void
put_problems (struct reading *self, struct ag_buf *out)
{
    size_t kept = self->count < AG_MANIFEST_PROBLEMS ? self->count : AG_MANIFEST_PROBLEMS;
    qsort (self->problems, kept, sizeof *self->problems, by_place);
    for (size_t i = 0; i < kept; i++) {
        struct problem *problem = &self->problems[i];
        ag_buf_line (out, "manifest.toml:%u:%u: %s", problem->line, problem->column, problem->text);
        free (problem->text);
    }
    if (self->count > kept)
        ag_buf_text (out, "and %zu more\n", self->count - kept);
}

/*  Texts  */

static bool
is_some (struct ag_str text)
{
    return text.n > 0 && text.n <= 256;
}

static bool
is_any (struct ag_str text)
{
    (void)text;
    return true;
}

static bool
is_author (struct ag_str text)
{
    return ag_str_is (text, "human") || ag_str_is (text, "agent");
}

static bool
is_risk (struct ag_str text)
{
    return ag_str_is (text, "low") || ag_str_is (text, "medium") || ag_str_is (text, "high") ||
           ag_str_is (text, "critical");
}

static bool
is_action (struct ag_str text)
{
    return !text.n || (text.n == 2 && text.p[0] == 'R' && text.p[1] >= '0' && text.p[1] <= '4');
}

static bool
is_nothing (struct ag_str text)
{
    return text.n == 0;
}

static bool
is_maybe_range (struct ag_str text)
{
    return !text.n || ag_is_range (text);
}

/*  Keys by their kinds  */

enum kind { TEXT, BOOL, TEXTS, TABLE, RANGES, CAPABILITIES, TYPES };
enum need { NEVER, COMPLETE, ALWAYS };

struct row {
    const char *table, *key;
    enum kind kind;
    enum need need;
    bool (*is) (struct ag_str text); //  of a text
    const char *what;                //  that a text is
};

static const struct row rows[] = {
    {"", "pack", TABLE, ALWAYS, NULL, NULL},
    {"", "dependencies", TABLE, COMPLETE, NULL, NULL},
    {"", "surface", TABLE, COMPLETE, NULL, NULL},
    {"", "fixtures", TABLE, COMPLETE, NULL, NULL},
    {"", "types", TYPES, NEVER, NULL, NULL},
    {"pack", "name", TEXT, ALWAYS, ag_is_name, "2 to 64 of a-z, 0-9 and _, a letter first"},
    {"pack", "version", TEXT, ALWAYS, ag_is_version, "a version like 1.2.0, 1.0rc1 or 1.0.post1"},
    {"pack", "description", TEXT, ALWAYS, is_some, "a text of 1 to 256 bytes"},
    {"pack", "license", TEXT, NEVER, is_any, NULL},
    {"pack", "provenance", TABLE, COMPLETE, NULL, NULL},
    {"pack", "integrity", TABLE, COMPLETE, NULL, NULL},
    {"provenance", "authored_by", TEXT, COMPLETE, is_author, "human or agent"},
    {"provenance", "authors", TEXTS, NEVER, is_any, NULL},
    {"provenance", "generator", TEXT, NEVER, is_any, NULL},
    {"provenance", "source_url", TEXT, NEVER, is_any, NULL},
    {"provenance", "created_at", TEXT, NEVER, is_any, NULL},
    {"integrity", "content_hash", TEXT, COMPLETE, ag_is_hash,
     "sha256: and 64 digits of 0-9 and a-f"},
    {"integrity", "signature", TEXT, NEVER, is_nothing, "empty: there is no way to check one"},
    {"dependencies", "activegraph", TEXT, COMPLETE, ag_is_range, "a range like >=1.4,<2.0"},
    {"dependencies", "agsup", TEXT, NEVER, ag_is_range, "a range like >=0.1"},
    {"dependencies", "python", TEXT, NEVER, is_maybe_range, "a range like >=3.11"},
    {"dependencies", "python-deps", TEXTS, NEVER, is_any, NULL},
    {"dependencies", "packs", RANGES, NEVER, ag_is_range, "a range like >=1.0"},
    {"dependencies", "optional-packs", RANGES, NEVER, ag_is_range, "a range like >=1.0"},
    {"surface", "object_types", TEXTS, NEVER, is_some, NULL},
    {"surface", "relation_types", TEXTS, NEVER, is_some, NULL},
    {"surface", "behaviors", TEXTS, NEVER, is_some, NULL},
    {"surface", "tools", TEXTS, NEVER, is_some, NULL},
    {"surface", "settings_schema", TEXT, NEVER, is_any, NULL},
    {"surface", "consumes", TEXTS, NEVER, is_some, NULL},
    {"surface", "capabilities", CAPABILITIES, NEVER, NULL, NULL},
    {"capability", "provider", TEXT, ALWAYS, is_some, "a text of 1 to 256 bytes"},
    {"capability", "capability", TEXT, ALWAYS, is_some, "a text of 1 to 256 bytes"},
    {"capability", "risk_class", TEXT, ALWAYS, is_risk, "low, medium, high or critical"},
    {"capability", "credential_ref", TEXT, NEVER, is_any, NULL},
    {"capability", "action_class", TEXT, NEVER, is_action, "R0, R1, R2, R3 or R4"},
    {"fixtures", "entrypoint", TEXT, COMPLETE, is_some, "a text of 1 to 256 bytes"},
    {"fixtures", "deterministic", BOOL, COMPLETE, NULL, NULL},
};
enum { ROWS = sizeof rows / sizeof *rows };

static void
check_text (struct reading *self, const struct row *row, const struct given *given)
{
    struct ag_cursor in = ag_cursor (given->value);
    struct ag_head head;
    if (ag_next (&in, &head) || head.kind != AG_TEXT)
        say (self, given->path, "is no text");
    else if (!row->is (head.s))
        sayf (self, given->path, "is not %s", row->what ? row->what : "a text of 1 to 256 bytes");
}

static void
check_bool (struct reading *self, const struct row *row, const struct given *given)
{
    (void)row;
    if (ag_kind_of (given->value) != AG_BOOL)
        say (self, given->path, "is not true or false");
}

//  Different texts.
static void
check_texts (struct reading *self, const struct row *row, const struct given *given)
{
    struct ag_items items = ag_items_of (given->value);
    struct ag_str value, *texts, *end;
    if (ag_kind_of (given->value) != AG_LIST || items.left > MOST_NAMES) {
        sayf (self, given->path, "is no list of at most %d texts", MOST_NAMES);
        return;
    }
    texts = end = ag_xcalloc (items.left + 1, sizeof *texts);
    for (; ag_items_next (&items, &value); *end++ = value) {
        struct ag_toml_path path = {given->path, {0}, (size_t)(end - texts)};
        check_text (self, row, &(struct given){&path, value});
    }
    if (end > texts)
        qsort (texts, (size_t)(end - texts), sizeof *texts, ag_str_order);
    for (struct ag_str *text = texts + 1; text < end; text++)
        if (ag_str_eq (text[-1], text[0])) {
            say (self, given->path, "holds a text twice");
            break;
        }
    free (texts);
}

//  Calls fn for each pair of a table.
typedef void pair_fn (struct reading *self, const struct row *row, const struct given *given);

static void
for_pairs (struct reading *self, const struct row *row, const struct given *given, pair_fn *fn)
{
    struct ag_str key, value;
    if (ag_kind_of (given->value) != AG_MAP) {
        say (self, given->path, "is no table");
        return;
    }
    for (struct ag_items pairs = ag_pairs_of (given->value);
         ag_pairs_next (&pairs, &key, &value);) {
        struct ag_toml_path path = {given->path, key, 0};
        fn (self, row, &(struct given){&path, value});
    }
}

static void
check_range (struct reading *self, const struct row *row, const struct given *given)
{
    if (!ag_is_name (given->path->key))
        say (self, given->path, "is no name of a pack");
    check_text (self, row, given);
}

static void
check_ranges (struct reading *self, const struct row *row, const struct given *given)
{
    for_pairs (self, row, given, check_range);
}

static void check_table (struct reading *self, const char *table, const struct given *given);

static void
check_below (struct reading *self, const struct row *row, const struct given *given)
{
    check_table (self, row->key, given);
}

static bool
same_capability (struct ag_str a, struct ag_str b)
{
    struct ag_str x, y;
    return !ag_map_text (a, "provider", &x) && !ag_map_text (b, "provider", &y) &&
           ag_str_eq (x, y) && !ag_map_text (a, "capability", &x) &&
           !ag_map_text (b, "capability", &y) && ag_str_eq (x, y);
}

static void
check_capabilities (struct reading *self, const struct row *row, const struct given *given)
{
    struct ag_str one, other;
    (void)row;
    if (ag_kind_of (given->value) != AG_LIST) {
        say (self, given->path, "is no list of tables");
        return;
    }
    for (uint32_t i = 0; !ag_list_nth (given->value, i, &one); i++) {
        struct ag_toml_path path = {given->path, {0}, i};
        if (i >= AG_MANIFEST_PROBLEMS) {
            sayf (self, &path, "is one too many: %d at most", AG_MANIFEST_PROBLEMS);
            return;
        }
        check_table (self, "capability", &(struct given){&path, one});
        for (uint32_t k = 0; k < i && !ag_list_nth (given->value, k, &other); k++)
            if (same_capability (one, other))
                say (self, &path, "is declared twice");
    }
}

/*  Types  */

//  A type of the given kind is listed in the surface, where there is one.
static bool
is_listed (const struct reading *self, const char *list, struct ag_str name)
{
    struct ag_str text;
    if (!self->surface.p)
        return !self->complete;
    struct ag_texts texts = ag_texts_of (self->surface, list);
    for (int i = 0; i < MOST_NAMES && ag_texts_next (&texts, &text); i++)
        if (ag_str_eq (text, name))
            return true;
    return false;
}

static void
check_type (struct reading *self, const struct row *row, const struct given *given)
{
    bool relation = ag_str_is (given->path->up->key, "relation");
    const char *list = relation ? "relation_types" : "object_types";
    ag_schema_t *schema = ag_schema_new (given->value, relation, given->path, say, self);
    ag_schema_destroy (&schema);
    (void)row;
    if (!is_some (given->path->key))
        say (self, given->path, "is no name of a type");
    if (!is_listed (self, list, given->path->key))
        sayf (self, given->path, "does not stand in surface.%s", list);
}

static void
check_kind (struct reading *self, const struct row *row, const struct given *given)
{
    struct ag_cursor in = ag_cursor (given->value);
    struct ag_head map = {0};
    ag_next (&in, &map);
    if (!ag_str_is (given->path->key, "object") && !ag_str_is (given->path->key, "relation"))
        say (self, given->path, "is neither object nor relation");
    else if (map.kind == AG_MAP && map.count > MOST_NAMES)
        sayf (self, given->path, "has more than %d types", MOST_NAMES);
    else
        for_pairs (self, row, given, check_type);
}

static void
check_types (struct reading *self, const struct row *row, const struct given *given)
{
    if (given->value.n > TYPES_BYTES)
        sayf (self, given->path, "take more than %d bytes", TYPES_BYTES);
    else
        for_pairs (self, row, given, check_kind);
}

//  What the surface declares and no type says: the other half of is_listed.
static void
check_declared (struct reading *self, const char *list, const char *kind)
{
    struct ag_str types, table = {0}, name, type;
    if (!ag_map_get (self->manifest, "types", &types))
        ag_map_get (types, kind, &table);
    struct ag_toml_path above = {NULL, AG_LIT ("surface"), 0}, path = {&above, ag_str (list), 0};
    for (struct ag_texts texts = ag_texts_of (self->surface, list); ag_texts_next (&texts, &name);)
        if (ag_map_find (table, name, &type))
            sayf (self, &path, "names %.*s, and there is no [types.%s.%.*s]", AG_STR_ARG (name),
                  kind, AG_STR_ARG (name));
}

/*  Tables  */

typedef void check_fn (struct reading *self, const struct row *row, const struct given *given);
static check_fn *const checks[] = {
    [TEXT] = check_text,   [BOOL] = check_bool,     [TEXTS] = check_texts,
    [TABLE] = check_below, [RANGES] = check_ranges, [CAPABILITIES] = check_capabilities,
    [TYPES] = check_types,
};

static bool
is_of (const struct row *row, const char *table)
{
    return !strcmp (row->table, table);
}

static void
check_key (struct reading *self, const struct row *row, const struct given *given)
{
    const char *keys[MOST_KEYS], *table = row->table, *near;
    size_t count = 0;
    for (size_t i = 0; i < ROWS; i++) {
        if (!is_of (&rows[i], table))
            continue;
        if (ag_str_is (given->path->key, rows[i].key)) {
            checks[rows[i].kind](self, &rows[i], given);
            return;
        }
        assert (count < MOST_KEYS);
        keys[count++] = rows[i].key;
    }
    near = ag_near (given->path->key, keys, count);
    if (near)
        sayf (self, given->path, "is no key here; did you mean `%s`?", near);
    else
        say (self, given->path, "is no key here");
}

//  Each key by its row; then what is missing. A table that is not there is as an empty one.
static void
check_table (struct reading *self, const char *table, const struct given *given)
{
    struct ag_str value;
    const struct row here = {.table = table};
    for_pairs (self, &here, given, check_key);
    for (size_t i = 0; i < ROWS; i++) {
        const struct row *row = &rows[i];
        struct ag_toml_path path = {given->path, ag_str (row->key), 0};
        if (!is_of (row, table) || !ag_map_get (given->value, row->key, &value) ||
            !(row->need == ALWAYS || (row->need == COMPLETE && self->complete)))
            continue;
        say (self, &path, "is missing");
        if (row->kind == TABLE)
            check_table (self, row->key, &(struct given){&path, AG_LIT ("\x80")});
    }
}

static void
check_all (struct reading *self)
{
    check_table (self, "", &(struct given){NULL, self->manifest});
    if (self->complete) {
        check_declared (self, "object_types", "object");
        check_declared (self, "relation_types", "relation");
    }
}

size_t
ag_manifest_read (struct ag_str text, bool complete, struct ag_buf *out, struct ag_buf *problems)
{
    struct reading self = {.complete = complete};
    struct ag_err err;
    size_t before = out->n;
    if (text.n > AG_MANIFEST_BYTES) {
        ag_buf_text (problems, "manifest.toml: more than %d bytes\n", AG_MANIFEST_BYTES);
        return 1;
    }
    self.toml = ag_toml_new (text, out, &err);
    if (!self.toml) {
        ag_buf_text (problems, "manifest.toml:%s\n", err.text);
        return 1;
    }
    self.manifest = (struct ag_str){(const char *)out->p + before, out->n - before};
    ag_map_get (self.manifest, "surface", &self.surface);
    check_all (&self);
    put_problems (&self, problems);
    ag_toml_destroy (&self.toml);
    if (self.count)
        out->n = before;
    return self.count;
}
