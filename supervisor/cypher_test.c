//  SPDX-License-Identifier: Apache-2.0
#include "supervisor/cypher.h"
#include "common/json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*  A tree written back, fully bracketed, with $N for what has no name  */

static void
put_thing (const struct ag_cypher *self, const struct ag_cypher_place *place, struct ag_buf *out)
{
    const struct ag_cypher_slot *slot = &self->slots[place->slot];
    if (slot->name.n)
        ag_buf_add_str (out, slot->name);
    else
        ag_buf_text (out, "$%u", place->slot);
    if (place->type.p)
        ag_buf_text (out, ":%.*s", AG_STR_ARG (place->type));
    for (uint32_t i = 0; i < place->prop_count; i++) {
        const struct ag_cypher_prop *prop = &self->props[place->props + i];
        ag_buf_text (out, " %.*s=", AG_STR_ARG (prop->key));
        ag_json_write (prop->value, AG_JSON_LINE, out);
    }
}

static void
put_chain (const struct ag_cypher *self, uint32_t number, struct ag_buf *out)
{
    const struct ag_cypher_chain *chain = &self->chains[number];
    if (chain->inverted)
        ag_buf_text (out, "!");
    for (uint32_t i = 0; i < chain->count; i++) {
        const struct ag_cypher_place *place = &self->places[chain->first + i];
        const char *open = i % 2 == 0 ? "(" : place->forward ? "-[" : "<-[";
        ag_buf_text (out, "%s", open);
        put_thing (self, place, out);
        ag_buf_text (out, "%s", i % 2 == 0 ? ")" : place->forward ? "]->" : "]-");
    }
}

static void
put_side (const struct ag_cypher *self, const struct ag_cypher_side *side, struct ag_buf *out)
{
    if (side->slot < 0)
        ag_json_write (side->text, AG_JSON_LINE, out);
    else
        ag_buf_text (out, "%.*s|%.*s", AG_STR_ARG (self->slots[side->slot].name),
                     AG_STR_ARG (side->text));
}

static void
put_test (const struct ag_cypher *self, uint32_t number, struct ag_buf *out)
{
    static const char *const words[] = {"=", "<>", "<", "<=", ">", ">="};
    const struct ag_cypher_test *test = &self->tests[number];
    ag_buf_text (out, test->kind == AG_CYPHER_NOT ? "not(" : "(");
    if (test->kind == AG_CYPHER_NOT_EXISTS) {
        ag_buf_text (out, "none ");
        put_chain (self, test->a, out);
    } else if (test->kind == AG_CYPHER_COMPARE) {
        put_side (self, &test->left, out);
        ag_buf_text (out, "%s", words[test->compare]);
        put_side (self, &test->right, out);
    } else
        put_test (self, test->a, out);
    if (test->kind == AG_CYPHER_AND) {
        ag_buf_text (out, "&");
        put_test (self, test->b, out);
    }
    ag_buf_text (out, ")");
}

static void
a_pattern_is_read_into_chains_and_conditions (void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        {"()", "($0)"},
        {"(a)", "(a)"},
        {"(:task)", "($0:task)"},
        {"(a:task {n: 1, s: 'x', t: true, f: FALSE, z: null, d: -1.5e2})",
         "(a:task n=1 s=\"x\" t=true f=false z=null d=-150.0)"},
        {" ( a ) -[ r : needs ]-> ( b ) <-[:`made by`]- (:x.y)",
         "(a)-[r:needs]->(b)<-[$3:made by]-($4:x.y)"},
        {"(a)-[:x]->(a)", "(a)-[$1:x]->(a)"},
        {"(match:set)-[limit:order]->(`or`)", "(match:set)-[limit:order]->(or)"},
        {"(a) where a.s = 'it\\'s'", "(a) (a|s=\"it's\")"},
        {"(a) WHERE a.s = \"q\\\"\\n\\\\\"", "(a) (a|s=\"q\\\"\\n\\\\\")"},
        {"(a) WHERE a.b.c<>1", "(a) (a|b.c<>1)"},
        {"(a)-[r:x]->(b) WHERE a.n != b.n AND r.w>=-2 AND a.id < 'x'",
         "(a)-[r:x]->(b) (((a|n<>b|n)&(r|w>=-2))&(a|id<\"x\"))"},
        {"(a) WHERE NOT (a.n <= 1 AND NOT a.n > 2)", "(a) not(((a|n<=1)&not((a|n>2))))"},
        {"(a) WHERE NOT EXISTS {(a)-[:x]->(b:t {s: 'o'})}", "(a) (none (a)-[$1:x]->(b:t s=\"o\"))"},
        {"(a) WHERE not exists {(a)-[:x]->(b)} and NOT EXISTS {(b:t)}",
         "(a) ((none (a)-[$1:x]->(b))&(none (b:t)))"},
        {"(a) WHERE NOT (NOT EXISTS {(a)<-[:x]-(b)})", "(a) not((none !(a)<-[$1:x]-(b)))"},
        {"(a) WHERE NOT NOT NOT EXISTS {(a)<-[:x]-(b)}", "(a) not(not((none (a)<-[$1:x]-(b))))"},
    };
    struct ag_cypher *cypher = ag_xmalloc (sizeof *cypher);
    struct ag_buf out = {0};
    struct ag_err err;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int rc = ag_cypher_read (cypher, ag_str (rows[i][0]), &err);
        if (rc)
            fail_msg ("%s: %s", rows[i][0], err.text);
        ag_buf_clear (&out);
        put_chain (cypher, 0, &out);
        if (cypher->where >= 0) {
            ag_buf_text (&out, " ");
            put_test (cypher, (uint32_t)cypher->where, &out);
        }
        ag_buf_add (&out, "", 1);
        assert_string_equal (out.p, rows[i][1]);
    }
    ag_buf_fini (&out);
    free (cypher);
}

static void
what_the_language_leaves_out_is_refused_with_its_place_and_a_way_out (void **state)
{
    (void)state;
    static const struct {
        const char *pattern;
        size_t at;
        const char *token, *says;
    } rows[] = {
        {"MATCH (a)", 1, "MATCH", "begin with the chain"},
        {"(a) RETURN a", 5, "RETURN", "leave it out"},
        {"OPTIONAL MATCH (a)", 1, "OPTIONAL", "second behaviour"},
        {"(a) WITH a", 5, "WITH", "filter with WHERE"},
        {"(a) match (b)", 5, "match", "begin with the chain"},
        {"UNWIND (a)", 1, "UNWIND", "loop over the list"},
        {"(a) UNION (b)", 5, "UNION", "one behaviour for each"},
        {"CREATE (a)", 1, "CREATE", "in the behaviour"},
        {"MERGE (a)", 1, "MERGE", "in the behaviour"},
        {"(a) SET a.x = 1", 5, "SET", "patch the object in the behaviour"},
        {"(a) DELETE a", 5, "DELETE", "remove it in the behaviour"},
        {"(a) DETACH DELETE a", 5, "DETACH", "remove it in the behaviour"},
        {"(a) REMOVE a.x", 5, "REMOVE", "remove it in the behaviour"},
        {"(a) FOREACH", 5, "FOREACH", "loop over the matches"},
        {"CALL x", 1, "CALL", "call a tool in the behaviour"},
        {"(a) LIMIT 1", 5, "LIMIT", "as many matches as you need"},
        {"(a) SKIP 1", 5, "SKIP", "matches that you need"},
        {"(a) WHERE a.x = 1 ORDER BY a.x", 19, "ORDER", "sort the matches"},
        {"(a) WHERE a.x = 1 OR a.x = 2", 19, "OR", "one behaviour for each alternative"},
        {"(a) WHERE (a.x = 1 or a.x = 2)", 20, "or", "one behaviour for each alternative"},
        {"(a) WHERE a.x = 1 XOR a.x = 2", 19, "XOR", "one behaviour for each alternative"},
        {"(a) WHERE a.x IN [1]", 15, "IN", "one behaviour for each value"},
        {"(a) WHERE a.x IS NULL", 15, "IS", "= null"},
        {"(a) WHERE EXISTS {(a)}", 11, "EXISTS", "a part of the chain"},
        {"(a)-[:x*1..3]->(b)", 8, "*", "one relation for each step"},
        {"(a)-[:x*]->(b)", 8, "*", "one relation for each step"},
        {"(a)-[:x]-(b)", 9, "-", "one behaviour for each direction"},
        {"(a)<-[:x]->(b)", 10, "-", "one behaviour for each direction"},
        {"(a)--(b)", 5, "-", "-[:type]->"},
        {"(a)-->(b)", 5, "-", "-[:type]->"},
        {"(a)<--(b)", 6, "-", "-[:type]->"},
        {"(a)-[:x|y]->(b)", 8, "|", "one behaviour for each type"},
        {"(a)-[:x {n: 1}]->(b)", 9, "{", "compare in WHERE"},
        {"(a), (b)", 4, ",", "(b)<-[:x]-(a)-[:y]->(c)"},
        {"(a) WHERE NOT EXISTS {(a)-[:x]->(b) WHERE b.n = 1}", 37, "WHERE", "as a property"},
    };
    struct ag_cypher *cypher = ag_xmalloc (sizeof *cypher);
    struct ag_err err;
    char start[64];
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_int_equal (ag_cypher_read (cypher, ag_str (rows[i].pattern), &err), -1);
        snprintf (start, sizeof start, "`pattern`: `%s` at %zu (", rows[i].token, rows[i].at);
        if (err.code != AG_E_BAD_MESSAGE || strncmp (err.text, start, strlen (start)) ||
            !strstr (err.text, "is not part of the language: ") || !strstr (err.text, rows[i].says))
            fail_msg ("%s: %s", rows[i].pattern, err.text);
    }
    free (cypher);
}

static void
a_mistake_is_named_with_its_place_and_what_belongs_there (void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        {"", "it ends at 1, where a node"},
        {"a", "`a` at 1, where a node"},
        {"(a", "it ends at 3, where `)`"},
        {"(a.b)", "`a.b` at 2, where a variable without a dot"},
        {"(a)-[]->(b)", "`]` at 6, where the relation's `:type`"},
        {"(a)-[a:x]->(b)", "`a` at 6, where a variable that is no node's"},
        {"(a)-[r:x]->(r)", "`r` at 13, where a variable that is no relation's"},
        {"(a {n: b})", "`b` at 8, where a literal"},
        {"(a {n: 01})", "`01` at 8 is no number"},
        {"(a {n: 'x})", "the quote at 8 is not closed"},
        {"(a {n: 'x\\q'})", "an unknown escape in the string at 8"},
        {"(a) WHERE", "it ends at 10, where a condition"},
        {"(a) WHERE b.n = 1", "`b.n` at 11: the chain before WHERE has no variable `b`"},
        {"(a) WHERE a = 1", "`a` at 11, where a path"},
        {"(a) WHERE a.n ~ 1", "`~` at 15, where = <>"},
        {"(a) WHERE a.n !> 1", "there is no operator `!>`"},
        {"(a) WHERE a.n = 1 a.m = 2", "`a.m` at 19, where AND or the end"},
        {"(a) WHERE NOT EXISTS {(b)-[:x]->(c)}", "NOT EXISTS at 15 has no variable of the pattern"},
        {"(a) WHERE NOT EXISTS {(a)-[:x]->(b)} AND b.n = 1", "has no variable `b`"},
        {"(\xc3\xa9)", "`\xc3\xa9` at 2, where"},
        {"(\xff)", "not valid UTF-8"},
    };
    struct ag_cypher *cypher = ag_xmalloc (sizeof *cypher);
    struct ag_err err;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_int_equal (ag_cypher_read (cypher, ag_str (rows[i][0]), &err), -1);
        if (err.code != AG_E_BAD_MESSAGE || !strstr (err.text, rows[i][1]))
            fail_msg ("%s: %s", rows[i][0], err.text);
    }
    free (cypher);
}

static void
check_bound (struct ag_cypher *cypher, const char *start, const char *part, int most,
             const char *end)
{
    struct ag_err err;
    struct ag_buf text = {0};
    for (int n = most; n <= most + 1; n++) {
        ag_buf_clear (&text);
        ag_buf_text (&text, "%s", start);
        for (int i = 0; i < n; i++)
            ag_buf_text (&text, "%s", part);
        ag_buf_text (&text, "%s", end);
        int rc = ag_cypher_read (cypher, ag_buf_str (&text), &err);
        if (rc != (n > most ? -1 : 0))
            fail_msg ("%d times %s: %s", n, part, rc ? err.text : "read");
    }
    ag_buf_fini (&text);
}

static void
everything_is_bounded (void **state)
{
    (void)state;
    struct ag_cypher *cypher = ag_xmalloc (sizeof *cypher);
    check_bound (cypher, "(a)", "-[:x]->()", (AG_CYPHER_PLACES - 1) / 2, "");
    check_bound (cypher, "(a {n:1", ",n:1", AG_CYPHER_PROPS - 1, "})");
    check_bound (cypher, "(a) WHERE a.n=1", " AND a.n=1", (AG_CYPHER_TESTS - 1) / 2, "");
    check_bound (cypher, "(a) WHERE NOT EXISTS {(a)}", " AND NOT EXISTS {(a)}",
                 AG_CYPHER_CHAINS - 2, "");
    check_bound (cypher, "(a) WHERE ", "NOT ", AG_CYPHER_DEPTH - 1, "a.n=1");
    check_bound (cypher, "(a)", " ", AG_CYPHER_BYTES - 3, "");
    free (cypher);
}

int
main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (a_pattern_is_read_into_chains_and_conditions),
        cmocka_unit_test (what_the_language_leaves_out_is_refused_with_its_place_and_a_way_out),
        cmocka_unit_test (a_mistake_is_named_with_its_place_and_what_belongs_there),
        cmocka_unit_test (everything_is_bounded),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
