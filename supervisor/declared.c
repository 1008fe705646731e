//  SPDX-License-Identifier: Apache-2.0
#include "supervisor/declared.h"
#include "common/items.h"
#include "supervisor/record.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct ag_declared_type {
    bool relation;
    struct ag_str name, pack, table;
    ag_schema_t *schema; //  made when it is first needed
};

static const char *const kinds[] = {"object", "relation"};

static int
by_name (const void *a, const void *b)
{
    const struct ag_declared_type *one = a, *two = b;
    return one->relation != two->relation ? one->relation - two->relation
                                          : ag_str_cmp (one->name, two->name);
}

static void
add (struct ag_declared *self, const struct ag_declared_type *type)
{
    if (!(self->count & (self->count - 1))) //  0 and powers of two: full
        self->list =
            ag_xrealloc (self->list, (self->count ? 2 * self->count : 1) * sizeof *self->list);
    self->list[self->count++] = *type;
}

//  All types of one pack.
static void
add_pack (struct ag_declared *self, struct ag_str one)
{
    struct ag_declared_type type = {0};
    struct ag_str types, table;
    if (ag_map_text (one, "pack", &type.pack) || ag_map_get (one, "types", &types))
        return;
    for (int kind = 0; kind < 2; kind++) {
        if (ag_map_get (types, kinds[kind], &table))
            continue;
        struct ag_items pairs = ag_pairs_of (table);
        type.relation = kind == 1;
        while (ag_pairs_next (&pairs, &type.name, &type.table))
            add (self, &type);
    }
}

static void
add_all (struct ag_declared *self, struct ag_str note)
{
    struct ag_str one;
    for (struct ag_items items = ag_items_of (note); ag_items_next (&items, &one);)
        add_pack (self, one);
    if (self->count)
        qsort (self->list, self->count, sizeof *self->list, by_name);
}

int
ag_declared_read (ag_journal_t *journal, const struct ag_run *run, uint64_t at,
                  struct ag_declared *self, struct ag_err *err)
{
    uint64_t seq;
    ag_declared_fini (self);
    self->never = run->untyped;
    if (self->never)
        return 0;
    int rc = ag_note_get (journal, run, AG_LIT ("types"), at, &self->note, &seq, err);
    if (rc > 0)
        add_all (self, ag_buf_str (&self->note));
    self->never = rc == 0;
    return rc < 0 ? -1 : 0;
}

void
ag_declared_fini (struct ag_declared *self)
{
    for (size_t i = 0; i < self->count; i++)
        ag_schema_destroy (&self->list[i].schema);
    free (self->list);
    ag_buf_fini (&self->note);
    *self = (struct ag_declared){0};
}

static struct ag_declared_type *
find (const struct ag_declared *self, bool relation, struct ag_str name)
{
    const struct ag_declared_type key = {.relation = relation, .name = name};
    return self->count ? bsearch (&key, self->list, self->count, sizeof *self->list, by_name)
                       : NULL;
}

struct ag_str
ag_declared_by (const struct ag_declared *self, enum ag_entity_kind kind, struct ag_str name)
{
    const struct ag_declared_type *type = find (self, kind == AG_RELATION, name);
    return type ? type->pack : (struct ag_str){0};
}

struct ag_str
ag_declared_of (const struct ag_declared *self, struct ag_str pack)
{
    struct ag_str one, types = AG_LIT ("\x80");
    if (!ag_list_find (ag_buf_str (&self->note), "pack", pack, &one))
        ag_map_get (one, "types", &types);
    return types;
}

/*  Data  */

//  The first thing that does not fit, in words.
struct first {
    struct ag_buf text;
    size_t count;
};

static void
keep_first (void *arg, const struct ag_toml_path *path, const char *what)
{
    struct first *first = arg;
    if (first->count++)
        return;
    ag_toml_path_text (path, &first->text);
    ag_buf_text (&first->text, "%s%s", first->text.n ? " " : "", what);
}

static int
fail (const struct ag_declared *self, enum ag_entity_kind kind, struct ag_str type,
      struct first *first, struct ag_err *err)
{
    struct ag_str pack = ag_declared_by (self, kind, type);
    char more[40] = "";
    if (first->count > 1)
        snprintf (more, sizeof more, ", and %zu more", first->count - 1);
    ag_fail (err, AG_E_TYPE, "`%.*s` as pack %.*s declares it: %.*s%s", AG_STR_ARG (type),
             AG_STR_ARG (pack), AG_STR_ARG (ag_buf_str (&first->text)), more);
    ag_buf_fini (&first->text);
    return -1;
}

//  It was read without a fault when its pack was loaded; if it is not now, no data fits.
static const ag_schema_t *
schema_of (struct ag_declared_type *type, ag_schema_fn *fn, void *arg)
{
    if (!type->schema)
        type->schema = ag_schema_new (type->table, type->relation, NULL, fn, arg);
    return type->schema;
}

//  How large data may become with its defaults.
static size_t
most (const struct ag_declared *self, struct ag_str data)
{
    size_t left = AG_DEFAULTS_BYTES - self->defaults;
    return data.n + (left < AG_EVENT_BYTES ? left : AG_EVENT_BYTES);
}

int
ag_declared_look (struct ag_declared *self, enum ag_entity_kind kind, struct ag_str name,
                  struct ag_str data, struct ag_buf *hold, ag_schema_fn *fn, void *arg)
{
    struct ag_declared_type *type = find (self, kind == AG_RELATION, name);
    const ag_schema_t *schema = type ? schema_of (type, fn, arg) : NULL;
    if (!type)
        return 0;
    ag_buf_clear (hold);
    if (!schema || ag_schema_fit (schema, data, NULL, most (self, data), hold, fn, arg))
        return -1;
    self->defaults += hold->n > data.n ? hold->n - data.n : 0;
    return 1;
}

int
ag_declared_fit (struct ag_declared *self, enum ag_entity_kind kind, struct ag_str type,
                 struct ag_str data, struct ag_buf *hold, struct ag_err *err)
{
    struct first first = {0};
    int rc = ag_declared_look (self, kind, type, data, hold, keep_first, &first);
    return rc < 0 ? fail (self, kind, type, &first, err) : rc;
}

int
ag_declared_look_ends (struct ag_declared *self, struct ag_str name, struct ag_str source,
                       struct ag_str target, ag_schema_fn *fn, void *arg)
{
    struct ag_declared_type *type = find (self, true, name);
    const ag_schema_t *schema = type ? schema_of (type, fn, arg) : NULL;
    if (!type)
        return 0;
    return !schema || ag_schema_fit_ends (schema, source, target, fn, arg) ? -1 : 1;
}

int
ag_declared_fit_ends (struct ag_declared *self, struct ag_str type, struct ag_str source,
                      struct ag_str target, struct ag_err *err)
{
    struct first first = {0};
    int rc = ag_declared_look_ends (self, type, source, target, keep_first, &first);
    return rc < 0 ? fail (self, AG_RELATION, type, &first, err) : rc;
}

/*  The note  */

static void
put_names (struct ag_str table, struct ag_buf *out)
{
    struct ag_declared names = {0};
    struct ag_str name, value;
    for (struct ag_items pairs = ag_pairs_of (table); ag_pairs_next (&pairs, &name, &value);)
        add (&names, &(struct ag_declared_type){.name = name});
    if (names.count)
        qsort (names.list, names.count, sizeof *names.list, by_name);
    ag_put_list (out, (uint32_t)names.count);
    for (size_t i = 0; i < names.count; i++)
        ag_put_text (out, names.list[i].name);
    ag_declared_fini (&names);
}

void
ag_declared_put_names (struct ag_str types, struct ag_buf *out)
{
    for (int kind = 0; kind < 2; kind++) {
        struct ag_str table = AG_LIT ("\x80");
        ag_map_get (types, kinds[kind], &table);
        ag_put_textf (out, "%s_types", kinds[kind]);
        put_names (table, out);
    }
}

static bool
is_empty (struct ag_str map)
{
    struct ag_cursor in = ag_cursor (map);
    struct ag_head head;
    return ag_next (&in, &head) || head.kind != AG_MAP || head.count == 0;
}

//  One name is declared by one pack.
static int
check_names (struct ag_str note, struct ag_err *err)
{
    struct ag_declared all = {0};
    int rc = 0;
    add_all (&all, note);
    for (size_t i = 1; i < all.count && !rc; i++)
        if (!by_name (&all.list[i - 1], &all.list[i]))
            rc =
                ag_fail (err, AG_E_PACK, "%s type `%.*s` is declared by pack %.*s and by pack %.*s",
                         kinds[all.list[i].relation], AG_STR_ARG (all.list[i].name),
                         AG_STR_ARG (all.list[i - 1].pack), AG_STR_ARG (all.list[i].pack));
    ag_declared_fini (&all);
    return rc;
}

int
ag_declared_next (struct ag_str before, bool loaded, struct ag_str payload, struct ag_buf *after,
                  struct ag_err *err)
{
    struct ag_str name = {0}, types = {0}, one;
    size_t begin = after->n, list = ag_open_list (after);
    uint32_t count = 0;
    ag_map_text (payload, "name", &name);
    for (uint32_t i = 0; !ag_list_nth (before, i, &one); i++)
        if (!ag_map_text_is (one, "pack", name)) {
            ag_put_value (after, one);
            count++;
        }
    if (loaded && !ag_map_get (payload, "types", &types) && !is_empty (types)) {
        ag_put_map (after, 2);
        ag_put_pair_text (after, "pack", name);
        ag_put_pair_value (after, "types", types);
        count++;
    }
    ag_close (after, list, count);
    if (after->n - begin > AG_DECLARED_BYTES)
        return ag_fail (err, AG_E_PACK, "the types of all packs in force take more than %d bytes",
                        AG_DECLARED_BYTES);
    return check_names ((struct ag_str){(const char *)after->p + begin, after->n - begin}, err);
}

static int
keep_note (ag_journal_t *journal, const struct ag_run *run, bool loaded, struct ag_str payload,
           struct ag_err *err)
{
    struct ag_buf before = {0}, after = {0};
    uint64_t seq;
    int rc = ag_note_get (journal, run, AG_LIT ("types"), run->head.tip, &before, &seq, err);
    if (rc == 0)
        ag_put_list (&before, 0);
    if (rc >= 0)
        rc = ag_declared_next (ag_buf_str (&before), loaded, payload, &after, err);
    if (!rc && !ag_value_equal (ag_buf_str (&before), ag_buf_str (&after)))
        ag_note_put (journal, run, AG_LIT ("types"), run->head.tip + 1, ag_buf_str (&after));
    ag_buf_fini (&before);
    ag_buf_fini (&after);
    return rc;
}

int
ag_declared_tell (ag_journal_t *journal, struct ag_run *run, enum ag_type type,
                  struct ag_buf *payload, struct ag_err *err)
{
    struct ag_mark mark = ag_journal_mark (journal);
    bool loaded = type == AG_EV_PACK_LOADED;
    run->untyped = false;
    int rc = keep_note (journal, run, loaded, ag_buf_str (payload), err);
    if (rc)
        ag_buf_fini (payload);
    else
        rc = ag_journal_tell (journal, run, type, 0, payload, NULL, err);
    if (rc)
        ag_journal_rollback (journal, &mark);
    return rc;
}

/*  Notes of packs  */

#define PREFIX "pack/"

int
ag_force_get (ag_journal_t *journal, const struct ag_run *run, struct ag_str pack,
              struct ag_buf *hold, struct ag_err *err)
{
    struct ag_buf note = {0};
    uint64_t seq;
    ag_buf_text (&note, PREFIX "%.*s", AG_STR_ARG (pack));
    int rc = ag_note_get (journal, run, ag_buf_str (&note), run->head.tip, hold, &seq, err);
    ag_buf_fini (&note);
    return rc;
}

void
ag_force_put (ag_journal_t *journal, const struct ag_run *run, struct ag_str pack,
              struct ag_str value)
{
    struct ag_buf note = {0};
    ag_buf_text (&note, PREFIX "%.*s", AG_STR_ARG (pack));
    ag_note_put (journal, run, ag_buf_str (&note), run->head.tip, value);
    ag_buf_fini (&note);
}

struct listing {
    ag_journal_t *journal;
    const struct ag_run *run;
    bool in_force;
    struct ag_buf *names, hold;
    struct ag_err *err;
    int rc;
};

static bool
list_one (void *arg, struct ag_str note)
{
    struct listing *self = arg;
    struct ag_str name = {note.p + strlen (PREFIX), note.n - strlen (PREFIX)};
    self->rc = ag_force_get (self->journal, self->run, name, &self->hold, self->err);
    if (self->rc > 0 && self->in_force == (ag_kind_of (ag_buf_str (&self->hold)) == AG_TEXT))
        ag_put_text (self->names, name);
    return self->rc >= 0;
}

int
ag_force_list (ag_journal_t *journal, const struct ag_run *run, bool in_force, struct ag_buf *names,
               struct ag_err *err)
{
    struct listing self = {
        .journal = journal, .run = run, .in_force = in_force, .names = names, .err = err};
    int rc = ag_note_scan (journal, run, AG_LIT (PREFIX), run->head.tip, list_one, &self, err);
    ag_buf_fini (&self.hold);
    return rc || self.rc < 0 ? -1 : 0;
}
