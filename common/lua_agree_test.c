//  Chunks that a grammar draws, and real files with mutations: our parser takes what the loader of Lua takes and
//  nothing else. AG_CHUNKS says how many (20,000), AG_SEED which; a chunk has the seed of its number.
//  SPDX-License-Identifier: Apache-2.0
#include "common/lua_draw_test.h"
#include "common/lua_parse.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <dirent.h>
#include <lauxlib.h>
#include <lua.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*  Mutations of real files  */

enum { FILES = 512 };
struct files {
    struct ag_buf list[FILES];
    size_t count;
};

static void
read_folder (struct files *files, const char *path)
{
    const char *source = getenv ("AG_SOURCE");
    char *dir = ag_xprintf ("%s/%s", source ? source : ".", path);
    DIR *stream = opendir (dir);
    for (struct dirent *entry; stream && (entry = readdir (stream)) && files->count < FILES;) {
        size_t n = strlen (entry->d_name);
        if (n < 4 || strcmp (entry->d_name + n - 4, ".lua"))
            continue;
        char *file = ag_xprintf ("%s/%s", dir, entry->d_name);
        FILE *in = fopen (file, "r");
        struct ag_buf *bytes = &files->list[files->count++];
        assert_non_null (in);
        uint8_t *room = ag_buf_grow (bytes, 1 << 16);
        bytes->n = fread (room, 1, 1 << 16, in);
        fclose (in);
        free (file);
    }
    if (stream)
        closedir (stream);
    free (dir);
}

//  A run of whole lines, 1 KiB or so; seldom the whole file.
static void
cut (struct draw *self, const struct ag_buf *file)
{
    size_t n = file->n, at = 0;
    if (n > 1024 && !once_in (self, 20)) {
        at = below (self, n - 1024);
        while (at && file->p[at - 1] != '\n')
            at--;
        n = 512 + below (self, 512);
    }
    ag_buf_add (&self->out, file->p + at, n);
}

static void
mutate (struct draw *self)
{
    struct ag_buf *out = &self->out, old = *out;
    size_t at = old.n ? below (self, old.n) : 0, n = 1 + below (self, 12);
    n = n < old.n - at ? n : old.n - at;
    *out = (struct ag_buf){0};
    ag_buf_add (out, old.p, at);
    switch (below (self, 5)) {
    case 0:
        break; //  left out
    case 1:
        ag_buf_add (out, old.p + at, n); //  twice
        /* fallthrough */
    case 2:
        put (self, PICK (self, oddities));
        /* fallthrough */
    case 3:
        ag_buf_add (out, old.p + at, n);
        break;
    default:
        put (self, once_in (self, 2) ? PICK (self, numbers) : PICK (self, texts));
    }
    ag_buf_add (out, old.p + at + n, old.n - at - n);
    ag_buf_fini (&old);
}

static void
draw_chunk (struct draw *self, const struct files *files)
{
    uint64_t kind = below (self, 100);
    if (kind < 2)
        draw_wide (self);
    else if (kind < 3)
        draw_upvalues (self);
    else if (kind < 18)
        draw_jumps (self);
    else if (kind < 40 && files->count)
        cut (self, &files->list[below (self, files->count)]);
    else
        block (self), block (self);
    if (once_in (self, 3))
        for (uint64_t i = 1 + below (self, 2); i > 0; i--)
            mutate (self);
}

/*  The two verdicts  */

struct tally {
    size_t agreed, taken, stricter;
};

static bool
agree (lua_State *L, struct ag_str chunk, struct tally *tally)
{
    static const struct ag_lua_events deaf = {0};
    struct ag_lua_fault fault;
    enum ag_lua_wrong ours = ag_lua_parse (chunk, AG_LUA_LEVELS, &deaf, &fault);
    bool theirs = luaL_loadbufferx (L, chunk.p, chunk.n, "=c", "t") == LUA_OK;
    bool same = ours == AG_LUA_LIMIT || theirs == (ours == AG_LUA_FINE);
    if (!same)
        print_error ("ours: %u:%u: %s\ntheirs: %s\n", fault.line, fault.column,
                     ours ? fault.text : "taken", theirs ? "taken" : lua_tostring (L, -1));
    tally->agreed += theirs == (ours == AG_LUA_FINE);
    tally->taken += theirs;
    tally->stricter += theirs && ours == AG_LUA_LIMIT;
    lua_settop (L, 0);
    return same;
}

static uint64_t
number_from (const char *variable, uint64_t otherwise)
{
    const char *text = getenv (variable);
    return text && *text ? strtoull (text, NULL, 10) : otherwise;
}

static void
the_parser_takes_what_the_loader_takes_and_nothing_else (void **state)
{
    uint64_t chunks = number_from ("AG_CHUNKS", 20000), seed = number_from ("AG_SEED", 1);
    struct files files = {0};
    struct tally tally = {0};
    size_t wrong = 0;
    lua_State *L = luaL_newstate();
    (void)state;
    read_folder (&files, "packs/licences");
    read_folder (&files, "tests/packs/hostile");
    read_folder (&files, "tests/house/behave");
    for (uint64_t i = 0; i < chunks && wrong < 5; i++) {
        struct draw draw = {.state = (seed + i) * 0x2545f4914f6cdd1du};
        draw_chunk (&draw, &files);
        if (!agree (L, ag_buf_str (&draw.out), &tally)) {
            print_error ("AG_SEED=%llu AG_CHUNKS=1:\n%.*s\n", (unsigned long long)(seed + i),
                         (int)draw.out.n, (const char *)draw.out.p);
            wrong++;
        }
        ag_buf_fini (&draw.out);
    }
    print_message ("%zu chunks agreed, %zu of them taken; %zu that Lua takes refused by a limit\n",
                   tally.agreed, tally.taken, tally.stricter);
    for (size_t i = 0; i < files.count; i++)
        ag_buf_fini (&files.list[i]);
    lua_close (L);
    assert_int_equal (wrong, 0);
    if (chunks >= 1000) { //  neither everything nor nothing was fine
        assert_true (tally.taken * 5 > chunks && tally.taken * 5 < chunks * 4);
        assert_true (tally.stricter * 200 < chunks);
    }
}

int
main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (the_parser_takes_what_the_loader_takes_and_nothing_else),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
