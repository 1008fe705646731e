/*  packs - the packs that came in `welcome`: the very bytes that were hashed.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_PACKS_H
#define AG_PACKS_H
#include "common/buf.h"
#include "common/err.h"

struct ag_pack_file {
    struct ag_str path, bytes;
    //  The script host's own, made from bytes: byte code, or why there is none.
    struct ag_buf compiled, fault;
};

struct ag_pack {
    struct ag_str name, version, settings; //  settings: a map value, or p NULL
    struct ag_pack_file *files;
    size_t count;
};

struct ag_packs {
    struct ag_pack *list;
    size_t count;
};

//  Read `packs` of a welcome ([{name, version, files: [{path, bytes}], settings}]); no packs is none.
//  What is read borrows from welcome. On failure out is empty.
int ag_packs_read (struct ag_str welcome, struct ag_packs *out, struct ag_err *err);
void ag_packs_fini (struct ag_packs *packs);

//  The file at a path of a pack, or NULL.
struct ag_pack_file *ag_pack_find (const struct ag_pack *pack, struct ag_str path);
#endif
