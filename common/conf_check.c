//  SPDX-License-Identifier: Apache-2.0
#include "common/conf_inside.h"
#include "common/heard.h"
#include "common/near.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_ENTRIES = 512 };

void
ag_conf_enter (const struct ag_conf_item *item)
{
    struct ag_conf *conf = item->conf;
    struct ag_str name = item->path->key;
    if (conf->entry_count == MOST_ENTRIES) {
        ag_conf_problem (item, "is one too many; a fleet has %d agents and services at most",
                         MOST_ENTRIES);
        return;
    }
    for (size_t i = 0; i < conf->entry_count; i++)
        if (ag_str_is (name, conf->entries[i].name))
            ag_conf_problem (item, "is there already, as %s.%s in %s", conf->entries[i].table,
                             conf->entries[i].name, conf->entries[i].doc->file);
    if (ag_str_is (name, "fleet"))
        ag_conf_problem (item, "is the name of the fleet's own run");
    conf->entries = ag_xrealloc (conf->entries, (conf->entry_count + 1) * sizeof *conf->entries);
    conf->entries[conf->entry_count++] =
        (struct ag_conf_entry){item->doc, item->row->key, ag_str_dup (name), {0}};
}

static bool
is_agent (const struct ag_conf_entry *entry)
{
    return !strcmp (entry->table, "agent");
}

//  Index of the entry; -1 when there is none (or it is no agent where only those count).
static int
find (const struct ag_conf *conf, struct ag_str name, bool agents_only)
{
    for (size_t i = 0; i < conf->entry_count; i++)
        if (ag_str_is (name, conf->entries[i].name) &&
            (!agents_only || is_agent (&conf->entries[i])))
            return (int)i;
    return -1;
}

static const char *
nearest (const struct ag_conf *conf, struct ag_str word, bool agents_only)
{
    const char *names[MOST_ENTRIES];
    size_t count = 0;
    for (size_t i = 0; i < conf->entry_count && count < MOST_ENTRIES; i++)
        if (!agents_only || is_agent (&conf->entries[i]))
            names[count++] = conf->entries[i].name;
    return ag_near (word, names, count);
}

//  A list of an entry; 0 elements when it has none or when that was a problem of its own.
static struct ag_cursor
list_of (struct ag_str map, const char *key, uint32_t *count)
{
    struct ag_str list;
    *count = 0;
    if (ag_map_get (map, key, &list) || ag_kind_of (list) != AG_LIST)
        return ag_cursor ((struct ag_str){0});
    return ag_conf_open (list, count);
}

static struct ag_str
text_of (struct ag_str value)
{
    struct ag_cursor in = ag_cursor (value);
    struct ag_head head;
    if (ag_next (&in, &head) || head.kind != AG_TEXT)
        return (struct ag_str){0};
    return head.s;
}

static bool
is_null (struct ag_str map, const char *key)
{
    struct ag_str value;
    return ag_map_get (map, key, &value) || ag_kind_of (value) == AG_NULL;
}

//  A name that somebody waits for or hears: of another entry.
static void
check_name (const struct ag_conf_item *item, const struct ag_conf_entry *self, struct ag_str name,
            bool agents_only)
{
    const char *what = agents_only ? "agent" : "agent or service";
    if (!name.n)
        return; //  said when it was read
    if (ag_str_is (name, self->name))
        ag_conf_problem (item, "names the %s itself", self->table);
    else if (find (item->conf, name, agents_only) < 0) {
        const char *near = nearest (item->conf, name, agents_only);
        ag_conf_problem (item, "names \"%.*s\", but there is no such %s%s%s%s", AG_STR_ARG (name),
                         what, near ? "; did you mean `" : "", near ? near : "", near ? "`?" : "");
    }
}

static void
check_after (const struct ag_conf_item *item, const struct ag_conf_entry *entry)
{
    uint32_t count;
    struct ag_cursor in = list_of (entry->value, "after", &count);
    struct ag_toml_path after = {item->path, AG_LIT ("after"), 0};
    for (uint32_t i = 0; i < count; i++) {
        struct ag_toml_path path = {&after, {0}, i};
        struct ag_conf_item element = *item;
        element.path = &path;
        check_name (&element, entry, text_of (ag_conf_element (&in)), false);
    }
}

static void
check_type (const struct ag_conf_item *item, struct ag_str type)
{
    struct ag_buf why = {0};
    if (type.n && !ag_heard (type, AG_OTHER_AGENT, &why))
        ag_conf_problem (item, "waits in vain: %.*s", AG_STR_ARG (ag_buf_str (&why)));
    ag_buf_fini (&why);
}

static void
check_hears (const struct ag_conf_item *item, const struct ag_conf_entry *entry)
{
    uint32_t count;
    struct ag_cursor in = list_of (entry->value, "hears", &count);
    struct ag_toml_path hears = {item->path, AG_LIT ("hears"), 0};
    for (uint32_t i = 0; i < count; i++) {
        struct ag_str from = {0}, on = {0}, one = ag_conf_element (&in);
        struct ag_toml_path row = {&hears, {0}, i}, path = {&row, AG_LIT ("from"), 0};
        struct ag_conf_item element = *item;
        element.path = &path;
        ag_map_get (one, "from", &from);
        check_name (&element, entry, text_of (from), true);
        path.key = AG_LIT ("on");
        ag_map_get (one, "on", &on);
        check_type (&element, text_of (on));
    }
}

static void
check_code (const struct ag_conf_item *item, const struct ag_conf_entry *entry)
{
    struct ag_str packs;
    if (!is_null (entry->value, "command") || ag_map_get (entry->value, "packs", &packs))
        return;
    if (ag_kind_of (packs) == AG_LIST && packs.n == 1)
        ag_conf_problem (item, "has no code: give it `packs` or a `command`");
}

static void
check_ready (const struct ag_conf_item *item, const struct ag_conf_entry *entry)
{
    struct ag_str ready;
    struct ag_toml_path path = {item->path, AG_LIT ("ready"), 0};
    struct ag_conf_item below = *item;
    below.path = &path;
    if (ag_map_get (entry->value, "ready", &ready))
        return;
    if (!is_null (ready, "tcp") + !is_null (ready, "file") + !is_null (ready, "seconds") > 1)
        ag_conf_problem (&below, "has more than one of `tcp`, `file` and `seconds`");
}

static void
check_entry (const struct ag_conf_item *item, const struct ag_conf_entry *entry)
{
    check_after (item, entry);
    if (is_agent (entry)) {
        check_code (item, entry);
        check_hears (item, entry);
    } else {
        check_ready (item, entry);
    }
}

//  The item of an entry; its path stands in the caller's two steps.
static struct ag_conf_item
item_of (struct ag_conf *conf, const struct ag_conf_entry *entry, struct ag_toml_path path[2])
{
    path[0] = (struct ag_toml_path){NULL, ag_str (entry->table), 0};
    path[1] = (struct ag_toml_path){&path[0], ag_str (entry->name), 0};
    return (struct ag_conf_item){.conf = conf, .doc = entry->doc, .path = &path[1]};
}

//  The walk along `after`: the entries it has been to, and the way it came.
struct walk {
    struct ag_conf *conf;
    enum { NEW, OPEN, DONE } state[MOST_ENTRIES];
    size_t trail[MOST_ENTRIES], depth;
};

//  The way came back to an entry that stands on it.
static void
say_circle (struct walk *walk, size_t to)
{
    const struct ag_conf_entry *entries = walk->conf->entries;
    struct ag_toml_path path[2];
    struct ag_conf_item item = item_of (walk->conf, &entries[to], path);
    struct ag_buf circle = {0};
    size_t i = walk->depth - 1;
    while (walk->trail[i] != to)
        i--;
    for (; i < walk->depth; i++)
        ag_buf_text (&circle, "%s -> ", entries[walk->trail[i]].name);
    ag_conf_problem (&item, "waits for itself: %.*s%s", AG_STR_ARG (ag_buf_str (&circle)),
                     entries[to].name);
    ag_buf_fini (&circle);
}

static void
visit (struct walk *walk, size_t at)
{
    uint32_t count;
    struct ag_cursor in = list_of (walk->conf->entries[at].value, "after", &count);
    walk->state[at] = OPEN;
    walk->trail[walk->depth++] = at;
    while (count--) {
        int next = find (walk->conf, text_of (ag_conf_element (&in)), false);
        if (next < 0 || (size_t)next == at)
            continue; //  said by check_name
        if (walk->state[next] == OPEN)
            say_circle (walk, (size_t)next);
        else if (walk->state[next] == NEW)
            visit (walk, (size_t)next);
    }
    walk->depth--;
    walk->state[at] = DONE;
}

void
ag_conf_check (struct ag_conf *conf)
{
    struct walk walk = {.conf = conf};
    for (size_t i = 0; i < conf->entry_count; i++) {
        struct ag_toml_path path[2];
        struct ag_conf_item item = item_of (conf, &conf->entries[i], path);
        check_entry (&item, &conf->entries[i]);
    }
    for (size_t i = 0; i < conf->entry_count; i++)
        if (walk.state[i] == NEW)
            visit (&walk, i);
}
