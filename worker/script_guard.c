//  SPDX-License-Identifier: Apache-2.0
#include "worker/script_state.h"

#include "common/log.h"
#include "worker/text.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

//  Instructions between two looks at the clock, and the work in C that counts as much.
enum { EVERY = 1000, WORK = 1 << 16 };

struct ag_act *
ag_act (lua_State *L)
{
    return *(struct ag_act **)lua_getextraspace (L);
}

static uint64_t
now_ns (void)
{
    struct timespec now;
    clock_gettime (CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

//  Raised again and again: a script that catches it meets it at its next instruction.
static int
raise_trip (lua_State *L)
{
    struct ag_act *act = ag_act (L);
    if (act->tripped == AG_TRIP_MEMORY)
        lua_pushliteral (L, "not enough memory"); //  Lua holds this string already
    else
        lua_pushfstring (L, "out of time: more than %d ms", (int)act->limits.wall_ms);
    return lua_error (L);
}

static void
hook (lua_State *L, lua_Debug *ar)
{
    struct ag_act *act = ag_act (L);
    (void)ar;
    act->work = 0;
    if (!act->tripped && now_ns() > act->deadline_ns)
        ag_guard_trip (act, AG_TRIP_TIME);
    if (act->tripped)
        raise_trip (L);
    lua_sethook (L, hook, LUA_MASKCOUNT, EVERY);
}

void
ag_guard_trip (struct ag_act *act, enum ag_trip why)
{
    if (!act->tripped)
        act->tripped = why;
    lua_sethook (act->L, hook, LUA_MASKCOUNT, 1);
}

void
ag_guard_start (struct ag_act *act)
{
    uint64_t wall_ms = act->limits.wall_ms;
    bool none = !wall_ms || wall_ms > UINT64_MAX / 4000000;
    act->deadline_ns = none ? UINT64_MAX : now_ns() + wall_ms * 1000000;
    lua_sethook (act->L, hook, LUA_MASKCOUNT, EVERY);
}

bool
ag_guard_go_on (void *arg)
{
    struct ag_act *act = arg;
    act->work = 0;
    if (now_ns() > act->deadline_ns)
        ag_guard_trip (act, AG_TRIP_TIME);
    return !act->tripped;
}

void
ag_guard_spend (lua_State *L, size_t work)
{
    struct ag_act *act = ag_act (L);
    act->work += work < WORK ? (unsigned)work : WORK;
    if (act->work >= WORK && !ag_guard_go_on (act))
        raise_trip (L);
}

//  Large blocks are work too (`..` of two megabytes is one instruction): enough of it, and the hook looks
//  at the clock after the next instruction.
void *
ag_guard_alloc (void *arg, void *p, size_t old, size_t size)
{
    struct ag_act *act = arg;
    old = p ? old : 0;
    if (!size) {
        if (p)
            ag_pool_give (&act->pool, p, old);
        return NULL;
    }
    act->work += (unsigned)(size >> 6 < WORK ? size >> 6 : WORK);
    if (act->work >= WORK && act->L)
        lua_sethook (act->L, hook, LUA_MASKCOUNT, 1);
    void *moved = p ? ag_pool_resize (&act->pool, p, old, size) : ag_pool_take (&act->pool, size);
    return moved || size > old ? moved : p; //  Lua relies on this: what shrinks does not fail
}

//  Keep what an error says and where it happened, in clean and bounded text.
int
ag_guard_handler (lua_State *L)
{
    struct ag_act *act = ag_act (L);
    size_t n;
    const char *text = lua_tolstring (L, 1, &n);
    ag_buf_clear (&act->message);
    ag_buf_clear (&act->traceback);
    if (text)
        ag_clean ((struct ag_str){text, n}, 2000, &act->message);
    else
        ag_buf_text (&act->message, "an error that is a %s, not a text", luaL_typename (L, 1));
    luaL_traceback (L, L, NULL, 1);
    text = lua_tolstring (L, -1, &n);
    ag_clean ((struct ag_str){text, n}, 8000, &act->traceback);
    lua_settop (L, 1);
    return 1;
}

int
ag_guard_pcall (lua_State *L)
{
    struct ag_act *act = ag_act (L);
    luaL_checkany (L, 1);
    int rc = lua_pcall (L, lua_gettop (L) - 1, LUA_MULTRET, 0);
    if (rc == LUA_ERRMEM)
        ag_guard_trip (act, AG_TRIP_MEMORY);
    if (act->tripped)
        return raise_trip (L);
    lua_pushboolean (L, rc == LUA_OK);
    lua_insert (L, 1);
    return lua_gettop (L);
}

int
ag_raise (lua_State *L, const struct ag_err *err)
{
    return luaL_error (L, "%s", err->text);
}

int
ag_link_error (const agsup_t *link, struct ag_err *err)
{
    const char *code = agsup_code (link);
    return ag_fail (err, ag_code_of (code, strlen (code)), "%s", agsup_message (link));
}

int
ag_raise_link (lua_State *L)
{
    struct ag_err err;
    ag_link_error (ag_act (L)->link, &err);
    if (err.code != AG_E_NO_SUPERVISOR)
        return ag_raise (L, &err);
    ag_log_err (AG_ERROR, &err, "worker");
    _exit (ag_code_status (err.code));
}

void
ag_slot_push (lua_State *L, enum ag_slot slot)
{
    lua_rawgetp (L, LUA_REGISTRYINDEX, (void *)slot);
}

void
ag_slot_set (lua_State *L, enum ag_slot slot)
{
    lua_rawsetp (L, LUA_REGISTRYINDEX, (void *)slot);
}
