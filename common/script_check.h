/*  script_check - the static check of a pack's Lua: everything that is wrong at once, with its places.
 *
 *  docs/design/script.md says what it decides and what the runtime alone holds; schemas/script.def has the names and
 *  the reasons. Nothing is run or loaded: the bytes are read by our own parser (lua_parse.h), and each is looked at
 *  a bounded number of times. What is refused in every pack could not work; the rest is asked of agents only.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_SCRIPT_CHECK_H
#define AG_SCRIPT_CHECK_H
#include "common/buf.h"

enum { AG_SCRIPT_PROBLEMS = 100 };

//  A file of a pack; what does not end with .lua is only there to be required or not.
struct ag_source {
    struct ag_str path, bytes;
};

enum ag_author { AG_BY_HUMAN, AG_BY_AGENT };

//  Append to problems what is wrong, a line each: `main.lua:3:7: REASON: what (why)`, file by file and by place; at
//  most AG_SCRIPT_PROBLEMS of them, and how many more there are. Returns how many there are.
size_t ag_script_check (const struct ag_source *files, size_t count, enum ag_author author,
                        struct ag_buf *problems);

//  The same of what could never load, whoever wrote it: main.lua and the files that it and they require by a name in
//  quotes, each no Lua, or one that registers for what never comes. A file that nobody requires is not looked at.
size_t ag_script_check_loads (const struct ag_source *files, size_t count, struct ag_buf *problems);
#endif
