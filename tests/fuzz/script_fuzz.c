/*  Any bytes as main.lua: what an agent may write, a human may; every finding is a line of its file; and nothing that
 *  is refused as bytes or syntax for one is taken for the other.
 *  SPDX-License-Identifier: Apache-2.0
 */
#include "common/lua_parse.h"
#include "common/script_check.h"
#include "common/value.h"

#include <assert.h>
#include <string.h>

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size);

static size_t
check (struct ag_str source, enum ag_author author)
{
    struct ag_source file = {AG_LIT ("main.lua"), source};
    struct ag_buf problems = {0};
    size_t count = ag_script_check (&file, 1, author, &problems), lines = 0;
    for (size_t i = 0; i < problems.n; i++)
        lines += problems.p[i] == '\n';
    assert (lines == (count > AG_SCRIPT_PROBLEMS ? AG_SCRIPT_PROBLEMS + 1 : count));
    assert (!count || !memcmp (problems.p, "main.lua:", 9));
    assert (!memchr (problems.p ? problems.p : (uint8_t *)"", 0x1b, problems.n));
    ag_buf_fini (&problems);
    return count;
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
    static const struct ag_lua_events deaf = {0};
    struct ag_str source = {(const char *)data, size};
    struct ag_lua_fault fault;
    size_t of_agent = check (source, AG_BY_AGENT), of_human = check (source, AG_BY_HUMAN);
    assert (of_agent || !of_human);
    if (ag_lua_parse (source, AG_LUA_LEVELS, &deaf, &fault)) {
        assert (fault.line && fault.column && fault.text[0]);
        assert (of_agent && of_human);
    }
    return 0;
}
