//  SPDX-License-Identifier: Apache-2.0
#include "common/together.h"
#include "common/items.h"
#include "common/version.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROOM = 300 }; //  of the text of an error

//  A name that a pack claims for itself, of a kind that a run has once.
struct claim {
    const char *kind;
    struct ag_str name, pack;
};

struct together {
    struct ag_str packs;
    struct claim *claims;
    size_t claim_count, count;
    struct ag_buf *out;
};

/*  What a pack needs  */

static bool
is_text (struct ag_str value, struct ag_str *text)
{
    struct ag_cursor in = ag_cursor (value);
    struct ag_head head = {0};
    bool is = !ag_next (&in, &head) && head.kind == AG_TEXT;
    *text = is ? head.s : (struct ag_str){0};
    return is;
}

static bool
find (const struct together *self, struct ag_str name, struct ag_str *pack)
{
    struct ag_str other;
    for (uint32_t i = 0; !ag_list_nth (self->packs, i, pack); i++)
        if (!ag_map_text (*pack, "name", &other) && ag_str_eq (name, other))
            return true;
    return false;
}

static void
need (struct together *self, struct ag_str pack, struct ag_str name, struct ag_str range,
      struct ag_str version)
{
    if (version.p && ag_version_fits (version, range))
        return;
    self->count++;
    ag_buf_line (self->out, "pack %.*s needs %.*s %.*s, and %s%.*s", AG_STR_ARG (pack),
                 AG_STR_ARG (name), AG_STR_ARG (range), version.p ? "there is " : "it is not there",
                 AG_STR_ARG (version));
}

//  {NAME: RANGE}; what may be missing is looked at when it is there.
static void
need_packs (struct together *self, struct ag_str pack, struct ag_str table, bool optional)
{
    struct ag_str name, value, range, other;
    for (struct ag_items pairs = ag_pairs_of (table); ag_pairs_next (&pairs, &name, &value);) {
        struct ag_str version = {0};
        if (find (self, name, &other))
            ag_map_text (other, "version", &version);
        if (is_text (value, &range) && (version.p || !optional))
            need (self, pack, name, range, version);
    }
}

static void
check_needs (struct together *self, struct ag_str pack, struct ag_str name)
{
    struct ag_str dependencies, table;
    if (ag_map_get (pack, "dependencies", &dependencies))
        return;
    if (!ag_map_text (dependencies, "agsup", &table))
        need (self, name, AG_LIT ("agsup"), table, AG_LIT (AG_RELEASE));
    if (!ag_map_get (dependencies, "packs", &table))
        need_packs (self, name, table, false);
    if (!ag_map_get (dependencies, "optional-packs", &table))
        need_packs (self, name, table, true);
}

/*  What a pack claims  */

static void
claim (struct together *self, const char *kind, struct ag_str name, struct ag_str pack)
{
    if (!(self->claim_count & (self->claim_count - 1))) //  0 and powers of two: full
        self->claims = ag_xrealloc (self->claims, (self->claim_count ? 2 * self->claim_count : 1) *
                                                      sizeof *self->claims);
    self->claims[self->claim_count++] = (struct claim){kind, name, pack};
}

static void
claim_types (struct together *self, const char *kind, struct ag_str table, struct ag_str pack)
{
    struct ag_str name, value;
    for (struct ag_items pairs = ag_pairs_of (table); ag_pairs_next (&pairs, &name, &value);)
        claim (self, kind, name, pack);
}

static void
add_claims (struct together *self, struct ag_str pack, struct ag_str name)
{
    struct ag_str types = {0}, surface = {0}, table, behavior;
    claim (self, "pack", name, name);
    ag_map_get (pack, "surface", &surface);
    for (struct ag_texts texts = ag_texts_of (surface, "behaviors");
         ag_texts_next (&texts, &behavior);)
        claim (self, "behavior", behavior, name);
    ag_map_get (pack, "types", &types);
    if (!ag_map_get (types, "object", &table))
        claim_types (self, "object type", table, name);
    if (!ag_map_get (types, "relation", &table))
        claim_types (self, "relation type", table, name);
}

static int
by_name (const void *a, const void *b)
{
    const struct claim *one = a, *two = b;
    int order = strcmp (one->kind, two->kind);
    if (!order)
        order = ag_str_cmp (one->name, two->name);
    return order ? order : ag_str_cmp (one->pack, two->pack);
}

static void
check_claims (struct together *self)
{
    if (self->claim_count)
        qsort (self->claims, self->claim_count, sizeof *self->claims, by_name);
    for (size_t i = 1; i < self->claim_count; i++) {
        const struct claim *one = &self->claims[i - 1], *two = &self->claims[i];
        if (strcmp (one->kind, two->kind) || !ag_str_eq (one->name, two->name))
            continue;
        self->count++;
        if (!strcmp (one->kind, "pack"))
            ag_buf_line (self->out, "two packs are called %.*s", AG_STR_ARG (one->name));
        else
            ag_buf_line (self->out, "%s `%.*s` is declared by pack %.*s and by pack %.*s",
                         one->kind, AG_STR_ARG (one->name), AG_STR_ARG (one->pack),
                         AG_STR_ARG (two->pack));
    }
}

//  {NAME: HASH} of the operator.
static void
check_pins (struct together *self, struct ag_str pins)
{
    struct ag_str name, value, pack, hash, pin;
    for (struct ag_items pairs = ag_pairs_of (pins); ag_pairs_next (&pairs, &name, &value);) {
        bool there = find (self, name, &pack), is = is_text (value, &pin);
        hash = (struct ag_str){0};
        if (there)
            ag_map_text (pack, "bundle_hash", &hash);
        if (there && is && ag_str_eq (hash, pin))
            continue;
        self->count++;
        if (there)
            ag_buf_line (self->out, "bundle hash mismatch: pack %.*s is %.*s, and pinned is %.*s",
                         AG_STR_ARG (name), AG_STR_ARG (hash), AG_STR_ARG (pin));
        else
            ag_buf_line (self->out, "pack %.*s is pinned, and it is not there", AG_STR_ARG (name));
    }
}

size_t
ag_packs_problems (struct ag_str packs, struct ag_str pins, struct ag_buf *problems)
{
    struct together self = {.packs = packs, .out = problems};
    struct ag_str pack, name;
    for (struct ag_items items = ag_items_of (packs); ag_items_next (&items, &pack);)
        if (!ag_map_text (pack, "name", &name)) {
            check_needs (&self, pack, name);
            add_claims (&self, pack, name);
        }
    check_claims (&self);
    check_pins (&self, pins);
    free (self.claims);
    return self.count;
}

int
ag_packs_check (struct ag_str packs, struct ag_str pins, struct ag_err *err)
{
    struct ag_buf lines = {0};
    char text[ROOM] = "", more[40] = "";
    size_t count = ag_packs_problems (packs, pins, &lines), told = 0, n = 0;
    struct ag_str rest = ag_buf_str (&lines);
    while (rest.n) {
        const char *end = memchr (rest.p, '\n', rest.n);
        size_t length = (size_t)(end - rest.p);
        if (told && n + length + 2 >= sizeof text)
            break;
        n += (size_t)snprintf (text + n, sizeof text - n, "%s%.*s", told++ ? "; " : "", (int)length,
                               rest.p);
        rest.p += length + 1;
        rest.n -= length + 1;
    }
    if (count > told)
        snprintf (more, sizeof more, "; and %zu more", count - told);
    ag_buf_fini (&lines);
    return count ? ag_fail (err, AG_E_PACK, "%s%s", text, more) : 0;
}
