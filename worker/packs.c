//  SPDX-License-Identifier: Apache-2.0
#include "worker/packs.h"

#include "common/value.h"

#include <stdlib.h>

//  Opens a list value: the number of its elements, and a cursor on the first.
static int
open_list (struct ag_str value, struct ag_cursor *in, size_t *count)
{
    struct ag_head head;
    *in = ag_cursor (value);
    if (ag_next (in, &head) || head.kind != AG_LIST)
        return -1;
    *count = head.count;
    return 0;
}

//  Text, or bytes as they are.
static int
get_bytes (struct ag_str map, const char *key, struct ag_str *bytes)
{
    struct ag_str value;
    struct ag_head head;
    if (ag_map_get (map, key, &value))
        return -1;
    struct ag_cursor in = ag_cursor (value);
    if (ag_next (&in, &head) || (head.kind != AG_TEXT && head.kind != AG_BYTES))
        return -1;
    *bytes = head.s;
    return 0;
}

static int
read_files (struct ag_pack *pack, struct ag_str list)
{
    struct ag_cursor in;
    size_t count;
    if (open_list (list, &in, &count))
        return -1;
    pack->files = ag_xcalloc (count + 1, sizeof *pack->files);
    for (; pack->count < count; pack->count++) {
        struct ag_pack_file *file = &pack->files[pack->count];
        struct ag_str map;
        if (ag_take (&in, &map) || ag_map_text (map, "path", &file->path) ||
            get_bytes (map, "bytes", &file->bytes))
            return -1;
    }
    return 0;
}

static int
read_pack (struct ag_pack *pack, struct ag_str map)
{
    struct ag_str files;
    if (ag_map_text (map, "name", &pack->name) || ag_map_get (map, "files", &files))
        return -1;
    ag_map_text (map, "version", &pack->version);
    if (ag_map_get (map, "settings", &pack->settings) || ag_kind_of (pack->settings) != AG_MAP)
        pack->settings = (struct ag_str){0};
    return read_files (pack, files);
}

int
ag_packs_read (struct ag_str welcome, struct ag_packs *out, struct ag_err *err)
{
    struct ag_str value, map;
    struct ag_cursor in;
    size_t count = 0;
    *out = (struct ag_packs){0};
    if (ag_map_get (welcome, "packs", &value))
        return 0;
    int rc = open_list (value, &in, &count);
    out->list = ag_xcalloc (count + 1, sizeof *out->list);
    for (; !rc && out->count < count; out->count++)
        rc = ag_take (&in, &map) || read_pack (&out->list[out->count], map) ? -1 : 0;
    if (!rc)
        return 0;
    ag_packs_fini (out);
    return ag_fail (err, AG_E_BAD_MESSAGE, "welcome: packs is no [{name, files: [{path, bytes}]}]");
}

void
ag_packs_fini (struct ag_packs *packs)
{
    for (size_t i = 0; i < packs->count; i++) {
        for (size_t j = 0; j < packs->list[i].count; j++) {
            ag_buf_fini (&packs->list[i].files[j].compiled);
            ag_buf_fini (&packs->list[i].files[j].fault);
        }
        free (packs->list[i].files);
    }
    free (packs->list);
    *packs = (struct ag_packs){0};
}

struct ag_pack_file *
ag_pack_find (const struct ag_pack *pack, struct ag_str path)
{
    for (size_t i = 0; i < pack->count; i++)
        if (ag_str_eq (pack->files[i].path, path))
            return &pack->files[i];
    return NULL;
}
