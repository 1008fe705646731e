//  SPDX-License-Identifier: Apache-2.0
#include "common/conf_inside.h"
#include "common/near.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_KEYS = 32 };

static const struct ag_conf_row rows[] = {
#define SECTION(...)
#define KEY(section, key, kind, needed, min, max, fallback, detail, help)                          \
    {AG_SECTION_##section, key, AG_CONF_##kind, needed, min, max, fallback, detail, help},
#include "schemas/settings.def"
};
static const size_t row_count = sizeof rows / sizeof *rows;

static const char *const names[] = {
#define SECTION(name, written, what) #name,
#define KEY(...)
#include "schemas/settings.def"
};

enum ag_conf_section
ag_conf_section_of (const char *name)
{
    unsigned section = 0;
    while (section < AG_SECTIONS && strcmp (names[section], name))
        section++;
    assert (section < AG_SECTIONS);
    return (enum ag_conf_section)section;
}

struct ag_cursor
ag_conf_open (struct ag_str raw, uint32_t *count)
{
    struct ag_cursor in = ag_cursor (raw);
    struct ag_head head = {0};
    int rc = ag_next (&in, &head);
    assert (rc == 0 && (head.kind == AG_LIST || head.kind == AG_MAP));
    *count = head.count;
    return in;
}

struct ag_str
ag_conf_element (struct ag_cursor *in)
{
    struct ag_str value;
    int rc = ag_take (in, &value);
    assert (rc == 0);
    return value;
}

struct ag_str
ag_conf_pair (struct ag_cursor *in, struct ag_str *key)
{
    struct ag_head head = {0};
    int rc = ag_next (in, &head);
    assert (rc == 0 && head.kind == AG_TEXT);
    *key = head.s;
    return ag_conf_element (in);
}

static const struct ag_conf_row *
row_of (enum ag_conf_section section, struct ag_str key)
{
    for (size_t i = 0; i < row_count; i++)
        if (rows[i].section == section && ag_str_is (key, rows[i].key))
            return &rows[i];
    return NULL;
}

static const char *
nearest (enum ag_conf_section section, struct ag_str key)
{
    const char *keys[MOST_KEYS];
    size_t count = 0;
    for (size_t i = 0; i < row_count; i++)
        if (rows[i].section == section && rows[i].kind != AG_CONF_LATER) {
            assert (count < MOST_KEYS);
            keys[count++] = rows[i].key;
        }
    return ag_near (key, keys, count);
}

//  A key that the section does not have, or has only as a promise.
static void
check_key (const struct ag_conf_item *item, enum ag_conf_section section, struct ag_str key)
{
    struct ag_toml_path path = {item->path, key, 0};
    struct ag_conf_item below = *item;
    below.path = &path;
    const struct ag_conf_row *row = row_of (section, key);
    if (row && row->kind == AG_CONF_LATER)
        ag_conf_problem (&below, "is reserved and not built yet (%s)", row->help);
    if (row)
        return;
    const char *near = nearest (section, key);
    if (near)
        ag_conf_problem (&below, "is not a key here; did you mean `%s`?", near);
    else
        ag_conf_problem (&below, "is not a key here");
}

static void
check_keys (const struct ag_conf_item *item, enum ag_conf_section section)
{
    uint32_t count;
    struct ag_str key;
    struct ag_cursor in = ag_conf_open (item->raw, &count);
    while (count--) {
        ag_conf_pair (&in, &key);
        check_key (item, section, key);
    }
}

//  A default of ours goes through the same reader as what people write.
static void
put_fallback (const struct ag_conf_item *item, struct ag_buf *out)
{
    struct ag_buf raw = {0};
    struct ag_conf_item ours = *item;
    if (item->row->kind == AG_CONF_UINT)
        ag_put_uint (&raw, strtoull (item->row->fallback, NULL, 10));
    else
        ag_put_lit (&raw, item->row->fallback);
    ours.raw = ag_buf_str (&raw);
    ag_conf_put (&ours, out);
    ag_buf_fini (&raw);
}

//  What is written here, else in [defaults], else our own default.
static void
put_key (const struct ag_conf_item *section, const struct ag_conf_row *row, struct ag_buf *out)
{
    struct ag_toml_path path = {section->path, ag_str (row->key), 0};
    struct ag_conf_item item = {
        .conf = section->conf, .doc = section->doc, .path = &path, .row = row};
    ag_map_get (section->defaults, row->key, &item.defaults);
    if (!ag_map_get (section->raw, row->key, &item.raw)) {
        ag_conf_put (&item, out);
    } else if (row->needed) {
        ag_conf_problem (&item, "is missing");
        ag_put_null (out);
    } else if (row->kind == AG_CONF_TABLE) {
        item.raw = AG_LIT ("\x80"); //  as if it stood there, empty
        ag_conf_put (&item, out);
    } else if (item.defaults.p) {
        item.raw = item.defaults;
        item.inherited = true;
        ag_conf_put (&item, out);
    } else if (row->fallback) {
        put_fallback (&item, out);
    } else {
        ag_conf_put_nothing (row->kind, out);
    }
}

static const char *
suffix (enum ag_conf_kind kind)
{
    return kind == AG_CONF_MS ? "_ms" : kind == AG_CONF_BYTES ? "_bytes" : "";
}

static bool
is_kept (const struct ag_conf_row *row, enum ag_conf_section section)
{
    return row->section == section && row->kind != AG_CONF_LATER;
}

void
ag_conf_put_section (const struct ag_conf_item *item, enum ag_conf_section section,
                     struct ag_buf *out)
{
    if (ag_kind_of (item->raw) != AG_MAP) {
        ag_conf_not (item, "a table");
        ag_put_null (out);
        return;
    }
    check_keys (item, section);
    uint32_t count = 0;
    for (size_t i = 0; i < row_count; i++)
        count += is_kept (&rows[i], section);
    ag_put_map (out, count);
    for (size_t i = 0; i < row_count; i++)
        if (is_kept (&rows[i], section)) {
            ag_put_textf (out, "%s%s", rows[i].key, suffix (rows[i].kind));
            put_key (item, &rows[i], out);
        }
}
