//  SPDX-License-Identifier: Apache-2.0
#include "common/surface.h"
#include "common/items.h"

#include <stdlib.h>

//  Names of one kind, in order of their bytes.
struct names {
    struct ag_str *list;
    size_t count;
};

static void
add (struct names *self, struct ag_str name)
{
    self->list = ag_xrealloc (self->list, (self->count + 1) * sizeof *self->list);
    self->list[self->count++] = name;
}

static void
sort (struct names *self)
{
    if (self->count)
        qsort (self->list, self->count, sizeof *self->list, ag_str_order);
}

static struct names
declared (struct ag_str surface, const char *key)
{
    struct names self = {0};
    struct ag_str name;
    for (struct ag_texts texts = ag_texts_of (surface, key); ag_texts_next (&texts, &name);)
        add (&self, name);
    sort (&self);
    return self;
}

//  What was registered by the pack.
static struct names
registered (struct ag_str list, struct ag_str pack)
{
    struct names self = {0};
    struct ag_str one, of, name;
    for (struct ag_items items = ag_items_of (list); ag_items_next (&items, &one);)
        if (!ag_map_text (one, "pack", &of) && ag_str_eq (of, pack) &&
            !ag_map_text (one, "name", &name))
            add (&self, name);
    sort (&self);
    return self;
}

//  The types of a kind, which are declared in full elsewhere in the manifest.
static struct names
typed (struct ag_str pack, const char *kind)
{
    struct names self = {0};
    struct ag_str types, table, key, value;
    if (ag_map_get (pack, "types", &types) || ag_map_get (types, kind, &table))
        return self;
    for (struct ag_items pairs = ag_pairs_of (table); ag_pairs_next (&pairs, &key, &value);)
        add (&self, key);
    sort (&self);
    return self;
}

//  Two sorted lists beside each other. Ends both.
static size_t
compare (const char *kind, struct names said, struct names found, struct ag_buf *out)
{
    size_t count = 0;
    for (size_t i = 0, k = 0; i < said.count || k < found.count;) {
        int order = i == said.count    ? 1
                    : k == found.count ? -1
                                       : ag_str_cmp (said.list[i], found.list[k]);
        if (order < 0)
            ag_buf_line (out, "%s `%.*s` is declared and not found", kind,
                         AG_STR_ARG (said.list[i]));
        else if (order > 0)
            ag_buf_line (out, "%s `%.*s` is found and not declared", kind,
                         AG_STR_ARG (found.list[k]));
        count += order != 0;
        i += order <= 0;
        k += order >= 0;
    }
    free (said.list);
    free (found.list);
    return count;
}

size_t
ag_surface_settings (struct ag_str surface, struct ag_str settings, struct ag_buf *out)
{
    struct ag_str schema = {0};
    struct ag_cursor in = ag_cursor (settings);
    struct ag_head map = {0};
    ag_map_text (surface, "settings_schema", &schema);
    bool has = !ag_next (&in, &map) && map.kind == AG_MAP && map.count > 0;
    if (has && !schema.n)
        ag_buf_line (out, "settings are found and not declared: surface.settings_schema is empty");
    if (!has && schema.n)
        ag_buf_line (out, "settings `%.*s` are declared and not found: settings.toml has none",
                     AG_STR_ARG (schema));
    return has == (schema.n > 0) ? 0 : 1;
}

size_t
ag_surface_mismatches (struct ag_str pack, struct ag_str behaviors, struct ag_str tools,
                       struct ag_buf *out)
{
    struct ag_str surface, name = {0}, settings = {0};
    if (ag_map_get (pack, "surface", &surface) || ag_kind_of (surface) != AG_MAP)
        return 0;
    ag_map_text (pack, "name", &name);
    ag_map_get (pack, "settings", &settings);
    size_t count =
        compare ("behavior", declared (surface, "behaviors"), registered (behaviors, name), out);
    count +=
        compare ("object type", declared (surface, "object_types"), typed (pack, "object"), out);
    count += compare ("relation type", declared (surface, "relation_types"),
                      typed (pack, "relation"), out);
    count += ag_surface_settings (surface, settings, out);
    count += compare ("tool", declared (surface, "tools"), registered (tools, name), out);
    return count;
}
