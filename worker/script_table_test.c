//  What a real state has is what schemas/script.def says, so that the check of sources and the runtime agree.
//  SPDX-License-Identifier: Apache-2.0
#include "worker/fake_test.h"

enum kind { CALL, VALUE };

struct row {
    const char *of, *name;
    enum kind kind;
};

static const struct row rows[] = {
#define GLOBAL(name, own)       {"_ENV", name, CALL},
#define MATH(name, kind, own)   {"math", name, kind},
#define TABLE(name, kind, own)  {"table", name, kind},
#define UTF8(name, kind, own)   {"utf8", name, kind},
#define STRING(name, kind, own) {"string", name, kind},
#define AG(name, kind, own)     {"ag", name, kind},
#define GRAPH(name)             {"graph", name, CALL},
#include "schemas/script.def"
    {"_ENV", "math", VALUE},   {"_ENV", "table", VALUE}, {"_ENV", "utf8", VALUE},
    {"_ENV", "string", VALUE}, {"_ENV", "ag", VALUE},
};

//  What ctx has may be of any kind.
static const struct row of_ctx[] = {
#define CTX(name) {"ctx", name, VALUE},
#include "schemas/script.def"
};

static const struct row absent[] = {
#define ABSENT(library, name) {library, name, CALL},
#include "schemas/script.def"
};

static const char *const tables[] = {"_ENV", "math", "table", "utf8", "string", "ag", "graph"};

#define COUNT(list) (sizeof (list) / sizeof *(list))

static int
by_name (const void *a, const void *b)
{
    return strcmp (((const struct row *)a)->name, ((const struct row *)b)->name);
}

//  "abs:CALL acos:CALL ..." of the rows of one table, in order; ctx without kinds.
static void
put_expected (const char *of, const struct row *list, size_t count, struct ag_buf *out)
{
    struct row sorted[128];
    size_t n = 0;
    assert_true (count <= COUNT (sorted));
    for (size_t i = 0; i < count; i++)
        if (!strcmp (list[i].of, of))
            sorted[n++] = list[i];
    qsort (sorted, n, sizeof *sorted, by_name);
    for (size_t i = 0; i < n; i++)
        ag_buf_text (out, "%s%s%s", i ? " " : "", sorted[i].name,
                     list == of_ctx           ? ""
                     : sorted[i].kind == CALL ? ":CALL"
                                              : ":VALUE");
}

//  A behaviour that says with words of Lua what there is.
static void
put_source (struct ag_buf *out)
{
    ag_buf_text (out, "local function names (t, kinds)\n"
                      "    local list = {}\n"
                      "    for key, value in pairs (t) do\n"
                      "        local kind = type (value) == 'function' and ':CALL' or ':VALUE'\n"
                      "        list[#list + 1] = kinds and key .. kind or key\n"
                      "    end\n"
                      "    return table.concat (list, ' ')\n"
                      "end\n"
                      "ag.behavior { name = 'b', on = { 'x' }, function (event, graph, ctx)\n");
    for (size_t i = 0; i < COUNT (absent); i++)
        ag_buf_text (out, "assert (%s['%s'] == nil, '%s is there')\n",
                     *absent[i].of ? absent[i].of : "_ENV", absent[i].name, absent[i].name);
    ag_buf_text (out, "graph.emit ('said', { ctx = names (ctx)");
    for (size_t i = 0; i < COUNT (tables); i++)
        ag_buf_text (out, ", %s = names (%s, true)", tables[i], tables[i]);
    ag_buf_text (out, " })\nend }\n");
    ag_buf_add (out, "", 1);
}

static void
a_state_has_what_the_table_says_and_nothing_else (void **state)
{
    struct fake fake;
    struct ag_buf source = {0}, expected = {0};
    (void)state;
    put_source (&source);
    fake_start (&fake, NULL);
    fake_load (&fake, (const char *)source.p, NULL, NULL);
    fake_say (&fake, "{\"do\":\"ok\"}");
    fake_hear (&fake);
    fake_say (&fake, "{\"do\":\"invoke\",\"behavior\":\"b\",\"event\":{\"type\":\"x\",\"payload\":{"
                     "}},\"now\":\"then\","
                     "\"mint\":{\"object\":1,\"relation\":1},\"seed\":1}");
    const char *heard = fake_hear (&fake);
    for (size_t i = 0; i <= COUNT (tables); i++) {
        bool ctx = i == COUNT (tables);
        ag_buf_clear (&expected);
        ag_buf_text (&expected, "\"%s\":\"", ctx ? "ctx" : tables[i]);
        put_expected (ctx ? "ctx" : tables[i], ctx ? of_ctx : rows,
                      ctx ? COUNT (of_ctx) : COUNT (rows), &expected);
        ag_buf_add (&expected, "\"", 2);
        if (!strstr (heard, (const char *)expected.p))
            fail_msg ("expected %s in %s", expected.p, heard);
    }
    fake_say (&fake, "{\"do\":\"stop\",\"reason\":\"idle\"}");
    assert_int_equal (fake_end (&fake), 0);
    ag_buf_fini (&source);
    ag_buf_fini (&expected);
}

int
main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (a_state_has_what_the_table_says_and_nothing_else),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
