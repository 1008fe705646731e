//  SPDX-License-Identifier: Apache-2.0
#include "supervisor/cypher.h"
#include "supervisor/cypher_token.h"
#include "common/json.h"

#include <string.h>
#include <strings.h>

struct reader {
    struct ag_cypher *to;
    struct ag_tokens in;
    struct ag_err *err;
    uint32_t depth, nots; //  of the test that is read
};

static const struct refusal {
    const char *word, *feature, *instead;
} refusals[] = {
    {"MATCH", "a clause", "begin with the chain itself, as in (a:task)-[:needs]->(b)"},
    {"OPTIONAL", "an optional match",
     "register a second behaviour for the part that may be missing"},
    {"RETURN", "a projection", "leave it out; each match holds every variable that has a name"},
    {"WITH", "a pipeline", "filter with WHERE, and compute the rest in the behaviour"},
    {"UNWIND", "a loop", "loop over the list in the behaviour"},
    {"FOREACH", "a loop", "loop over the matches in the behaviour"},
    {"UNION", "an alternative", "register one behaviour for each alternative"},
    {"OR", "an alternative", "register one behaviour for each alternative"},
    {"XOR", "an alternative", "register one behaviour for each alternative"},
    {"IN", "an alternative", "register one behaviour for each value, or compare in the behaviour"},
    {"IS", "a test for null", "write = null or <> null"},
    {"EXISTS", "a test for existence",
     "make it a part of the chain; only NOT EXISTS { } is a test"},
    {"CREATE", "a change", "change the graph in the behaviour"},
    {"MERGE", "a change", "change the graph in the behaviour"},
    {"SET", "a change", "patch the object in the behaviour"},
    {"DELETE", "a change", "remove it in the behaviour"},
    {"DETACH", "a change", "remove it in the behaviour; relations of an object go with it"},
    {"REMOVE", "a change", "remove it in the behaviour"},
    {"CALL", "a procedure", "call a tool in the behaviour"},
    {"LIMIT", "a cut of the result", "take as many matches as you need in the behaviour"},
    {"SKIP", "a cut of the result", "take the matches that you need in the behaviour"},
    {"ORDER", "an order of the result", "sort the matches in the behaviour"},
};

//  What is read by name and place: the token in hand cannot stand here.
static int
refuse (struct reader *self, const char *feature, const char *instead)
{
    const struct ag_token *token = &self->in.token;
    return ag_fail (self->err, AG_E_BAD_MESSAGE,
                    "`pattern`: `%.*s` at %zu (%s) is not part of the language: %s",
                    AG_STR_ARG (token->text), token->at + 1, feature, instead);
}

static bool
is_word (const struct reader *self, const char *word)
{
    struct ag_str text = self->in.token.text;
    return self->in.token.kind == AG_TOKEN_NAME && text.n == strlen (word) &&
           !strncasecmp (text.p, word, text.n);
}

static int
unexpected (struct reader *self, const char *wanted)
{
    const struct ag_token *token = &self->in.token;
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++)
        if (is_word (self, refusals[i].word))
            return refuse (self, refusals[i].feature, refusals[i].instead);
    if (token->kind == AG_TOKEN_END)
        return ag_fail (self->err, AG_E_BAD_MESSAGE, "`pattern`: it ends at %zu, where %s belongs",
                        token->at + 1, wanted);
    return ag_fail (self->err, AG_E_BAD_MESSAGE, "`pattern`: `%.*s` at %zu, where %s belongs",
                    AG_STR_ARG (token->text), token->at + 1, wanted);
}

static int
advance (struct reader *self)
{
    return ag_tokens_next (&self->in, self->err);
}

static bool
is (const struct reader *self, char c)
{
    return self->in.token.kind == AG_TOKEN_SIGN && *self->in.token.text.p == c;
}

static int
expect (struct reader *self, char c, const char *wanted)
{
    return is (self, c) ? advance (self) : unexpected (self, wanted);
}

static int
too_many (struct reader *self, const char *what, int most)
{
    return ag_fail (self->err, AG_E_BAD_MESSAGE, "`pattern`: more than %d %s at %zu", most, what,
                    self->in.token.at + 1);
}

/*  Literals  */

//  Append to what the tree holds; the room is enough for every text of the allowed length.
static int
hold (struct reader *self, const struct ag_buf *bytes, struct ag_str *held)
{
    struct ag_cypher *to = self->to;
    if (bytes->n > sizeof to->hold - to->held)
        return too_many (self, "bytes of literals", AG_CYPHER_HOLD);
    memcpy (to->hold + to->held, bytes->p, bytes->n);
    *held = (struct ag_str){to->hold + to->held, bytes->n};
    to->held += bytes->n;
    return 0;
}

static int
put_string (struct reader *self, struct ag_str quoted, struct ag_buf *out)
{
    static const char escapes[] = "\\\\''\"\"n\nt\tr\r";
    struct ag_buf text = {0};
    int rc = 0;
    for (size_t i = 1; !rc && i + 1 < quoted.n; i++) {
        const char *found = quoted.p + i;
        if (*found == '\\') {
            const char *row = escapes;
            for (i++; *row && *row != quoted.p[i];)
                row += 2;
            found = row + 1;
            if (!*row) {
                rc = ag_fail (self->err, AG_E_BAD_MESSAGE,
                              "`pattern`: an unknown escape in the string at %zu; there are "
                              "\\\\ \\' \\\" \\n \\t \\r",
                              self->in.token.at + 1);
                break;
            }
        }
        ag_buf_add (&text, found, 1);
    }
    if (!rc)
        ag_put_text (out, ag_buf_str (&text));
    ag_buf_fini (&text);
    return rc;
}

//  A number may have a sign in front, which is the token in hand.
static int
put_number (struct reader *self, struct ag_buf *out)
{
    const char *start = self->in.token.text.p;
    struct ag_err why;
    if (is (self, '-') && advance (self))
        return -1;
    if (self->in.token.kind != AG_TOKEN_NUMBER)
        return unexpected (self, "a number");
    struct ag_str text = {start, (size_t)(self->in.token.text.p + self->in.token.text.n - start)};
    if (ag_json_read (text, out, &why))
        return ag_fail (self->err, AG_E_BAD_MESSAGE, "`pattern`: `%.*s` at %zu is no number",
                        AG_STR_ARG (text), self->in.token.at + 1);
    return 0;
}

static int
put_word (struct reader *self, struct ag_buf *out)
{
    if (is_word (self, "null"))
        ag_put_null (out);
    else if (is_word (self, "true") || is_word (self, "false"))
        ag_put_bool (out, is_word (self, "true"));
    else
        return unexpected (self, "a literal");
    return 0;
}

static int
read_literal (struct reader *self, struct ag_str *value)
{
    struct ag_buf out = {0};
    int rc = self->in.token.kind == AG_TOKEN_STRING ? put_string (self, self->in.token.text, &out)
             : self->in.token.kind == AG_TOKEN_NAME ? put_word (self, &out)
                                                    : put_number (self, &out);
    if (!rc)
        rc = hold (self, &out, value);
    ag_buf_fini (&out);
    return rc ? -1 : advance (self);
}

/*  Chains  */

//  Slots of the pattern itself, and those of the chain at hand, are in sight.
static int
slot_of (struct reader *self, struct ag_str name, uint32_t own)
{
    for (uint32_t i = 0; i < self->to->slot_count; i++)
        if (name.n && ag_str_eq (self->to->slots[i].name, name) &&
            (i < self->to->chains[0].slots || i >= own))
            return (int)i;
    return -1;
}

//  [var] [:type]; the place gets a slot.
static int
read_name_and_type (struct reader *self, struct ag_cypher_chain *chain,
                    struct ag_cypher_place *place, bool relation)
{
    struct ag_cypher *to = self->to;
    struct ag_str name = {0};
    const struct ag_token *token = &self->in.token;
    bool named = token->kind == AG_TOKEN_NAME || token->kind == AG_TOKEN_QUOTED;
    if (named) {
        name = token->text;
        if (memchr (name.p, '.', name.n))
            return unexpected (self, "a variable without a dot");
    }
    int slot = slot_of (self, name, chain->slots);
    if (slot >= 0 && to->slots[slot].relation != relation)
        return unexpected (self, relation ? "a variable that is no node's"
                                          : "a variable that is no relation's");
    if (slot < 0) {
        slot = (int)to->slot_count++;
        to->slots[slot] = (struct ag_cypher_slot){name, relation};
    }
    place->slot = (uint32_t)slot;
    if (named && advance (self))
        return -1;
    if (!is (self, ':'))
        return 0;
    if (advance (self))
        return -1;
    if (token->kind != AG_TOKEN_NAME && token->kind != AG_TOKEN_QUOTED)
        return unexpected (self, "a type");
    place->type = token->text;
    if (advance (self))
        return -1;
    return is (self, '|') ? refuse (self, "an alternative", "register one behaviour for each type")
                          : 0;
}

static struct ag_cypher_place *
new_place (struct reader *self, struct ag_cypher_chain *chain)
{
    if (self->to->place_count >= AG_CYPHER_PLACES) {
        too_many (self, "nodes and relations", AG_CYPHER_PLACES);
        return NULL;
    }
    struct ag_cypher_place *place = &self->to->places[self->to->place_count++];
    *place = (struct ag_cypher_place){.props = self->to->prop_count};
    chain->count++;
    return place;
}

static int
read_prop (struct reader *self, struct ag_cypher_place *place)
{
    struct ag_cypher *to = self->to;
    if (to->prop_count >= AG_CYPHER_PROPS)
        return too_many (self, "properties", AG_CYPHER_PROPS);
    struct ag_cypher_prop *prop = &to->props[to->prop_count];
    if (self->in.token.kind != AG_TOKEN_NAME && self->in.token.kind != AG_TOKEN_QUOTED)
        return unexpected (self, "a property's name");
    prop->key = self->in.token.text;
    if (advance (self) || expect (self, ':', "`:`") || read_literal (self, &prop->value))
        return -1;
    to->prop_count++;
    place->prop_count++;
    return 0;
}

static int
read_node (struct reader *self, struct ag_cypher_chain *chain)
{
    struct ag_cypher_place *place;
    if (!is (self, '('))
        return unexpected (self, "a node in ( )");
    if (advance (self) || !(place = new_place (self, chain)) ||
        read_name_and_type (self, chain, place, false))
        return -1;
    if (is (self, '{')) {
        do
            if (advance (self) || read_prop (self, place))
                return -1;
        while (is (self, ','));
        if (expect (self, '}', "`,` or `}`"))
            return -1;
    }
    return expect (self, ')', "`)`");
}

//  The sign in hand is < or - and begins a relation.
static int
read_relation (struct reader *self, struct ag_cypher_chain *chain)
{
    struct ag_cypher_place *place;
    bool back = is (self, '<');
    if ((back && advance (self)) || expect (self, '-', "`-[`"))
        return -1;
    if (is (self, '-') || is (self, '>'))
        return refuse (self, "a relation without a type", "write -[:type]-> or <-[:type]-");
    if (expect (self, '[', "`[`") || !(place = new_place (self, chain)) ||
        read_name_and_type (self, chain, place, true))
        return -1;
    place->forward = !back;
    if (is (self, '*'))
        return refuse (self, "a path of variable length",
                       "write one relation for each step, and one behaviour for each length");
    if (is (self, '{'))
        return refuse (self, "a property of a relation", "give it a variable and compare in WHERE");
    if (!place->type.p)
        return unexpected (self, "the relation's `:type`");
    if (expect (self, ']', "`]`"))
        return -1;
    struct ag_token dash = self->in.token;
    if (expect (self, '-', "`-`"))
        return -1;
    if (back != is (self, '>'))
        return back ? 0 : advance (self);
    self->in.token = dash;
    return refuse (self, "an undirected relation",
                   "write -[:type]-> or <-[:type]-, and one behaviour for each direction");
}

static int
read_chain (struct reader *self, uint32_t *made)
{
    struct ag_cypher *to = self->to;
    if (to->chain_count >= AG_CYPHER_CHAINS)
        return too_many (self, "chains", AG_CYPHER_CHAINS);
    *made = to->chain_count++;
    struct ag_cypher_chain *chain = &to->chains[*made];
    *chain = (struct ag_cypher_chain){to->place_count, 0, to->slot_count, self->nots % 2};
    if (read_node (self, chain))
        return -1;
    while (is (self, '-') || is (self, '<'))
        if (read_relation (self, chain) || read_node (self, chain))
            return -1;
    if (*made == 0)
        chain->slots = to->slot_count;
    if (is (self, ','))
        return refuse (self, "a second chain",
                       "write one; it may pass a node on its way: (b)<-[:x]-(a)-[:y]->(c)");
    return 0;
}

//  Where a chain of NOT EXISTS has no variable of the pattern, a type has to say where to look.
static int
check_exists (struct reader *self, const struct ag_cypher_chain *chain, size_t at)
{
    for (uint32_t i = 0; i < chain->count; i++) {
        const struct ag_cypher_place *place = &self->to->places[chain->first + i];
        if (place->slot < chain->slots || (i % 2 == 0 && place->type.p))
            return 0;
    }
    return ag_fail (
        self->err, AG_E_BAD_MESSAGE,
        "`pattern`: NOT EXISTS at %zu has no variable of the pattern and no node with a "
        "type: say where to look",
        at + 1);
}

/*  Tests  */

static int read_bool (struct reader *self, uint32_t *made);
static int read_unary (struct reader *self, uint32_t *made);

static int
new_test (struct reader *self, struct ag_cypher_test test, uint32_t *made)
{
    if (self->to->test_count >= AG_CYPHER_TESTS)
        return too_many (self, "conditions", AG_CYPHER_TESTS);
    *made = self->to->test_count++;
    self->to->tests[*made] = test;
    return 0;
}

//  var.path
static int
read_path (struct reader *self, struct ag_cypher_side *side)
{
    struct ag_str text = self->in.token.text;
    const char *dot = memchr (text.p, '.', text.n);
    if (!dot)
        return unexpected (self, "a path as in a.status; a thing itself is a.id");
    struct ag_str name = {text.p, (size_t)(dot - text.p)};
    side->slot = slot_of (self, name, UINT32_MAX);
    side->text = (struct ag_str){dot + 1, text.n - name.n - 1};
    if (side->slot < 0)
        return ag_fail (self->err, AG_E_BAD_MESSAGE,
                        "`pattern`: `%.*s` at %zu: the chain before WHERE has no variable `%.*s`",
                        AG_STR_ARG (text), self->in.token.at + 1, AG_STR_ARG (name));
    return advance (self);
}

//  A word with a dot is a path; one without is null, true or false.
static int
read_side (struct reader *self, struct ag_cypher_side *side)
{
    struct ag_str text = self->in.token.text;
    bool path = self->in.token.kind == AG_TOKEN_NAME && memchr (text.p, '.', text.n);
    *side = (struct ag_cypher_side){.slot = -1};
    return path ? read_path (self, side) : read_literal (self, &side->text);
}

//  Signs come one by one; those of one operator touch each other.
static int
read_compare_sign (struct reader *self, enum ag_compare *compare)
{
    static const struct {
        const char *word;
        enum ag_compare compare;
    } words[] = {{"=", AG_EQ},  {"<>", AG_NE}, {"!=", AG_NE}, {"<", AG_LT},
                 {"<=", AG_LE}, {">", AG_GT},  {">=", AG_GE}};
    struct ag_str word = self->in.token.text;
    if (!is (self, '=') && !is (self, '<') && !is (self, '>') && !is (self, '!'))
        return unexpected (self, "= <> != < <= > or >=");
    if (advance (self))
        return -1;
    if ((is (self, '=') || is (self, '>')) && self->in.token.text.p == word.p + 1) {
        word.n = 2;
        if (advance (self))
            return -1;
    }
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (ag_str_is (word, words[i].word)) {
            *compare = words[i].compare;
            return 0;
        }
    return ag_fail (
        self->err, AG_E_BAD_MESSAGE,
        "`pattern`: there is no operator `%.*s`; there are = <> != < <= > >=", AG_STR_ARG (word));
}

static int
read_compare (struct reader *self, uint32_t *made)
{
    struct ag_cypher_test test = {.kind = AG_CYPHER_COMPARE};
    if (self->in.token.kind != AG_TOKEN_NAME)
        return unexpected (self, "a condition as in a.status = 'open'");
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++)
        if (is_word (self, refusals[i].word))
            return unexpected (self, "a condition");
    if (read_path (self, &test.left) || read_compare_sign (self, &test.compare) ||
        read_side (self, &test.right))
        return -1;
    return new_test (self, test, made);
}

//  After NOT.
static int
read_not_exists (struct reader *self, uint32_t *made)
{
    struct ag_cypher_test test = {.kind = AG_CYPHER_NOT_EXISTS};
    size_t at = self->in.token.at;
    if (advance (self) || expect (self, '{', "`{`") || read_chain (self, &test.a))
        return -1;
    if (is_word (self, "WHERE"))
        return refuse (self, "a condition inside NOT EXISTS",
                       "write equality as a property: (b:task {status: 'open'})");
    if (check_exists (self, &self->to->chains[test.a], at) || expect (self, '}', "`}`"))
        return -1;
    return new_test (self, test, made);
}

static int
read_not (struct reader *self, uint32_t *made)
{
    struct ag_cypher_test test = {.kind = AG_CYPHER_NOT};
    if (advance (self))
        return -1;
    if (is_word (self, "EXISTS"))
        return read_not_exists (self, made);
    self->nots++;
    if (read_unary (self, &test.a))
        return -1;
    self->nots--;
    return new_test (self, test, made);
}

static int
read_unary (struct reader *self, uint32_t *made)
{
    int rc;
    if (++self->depth > AG_CYPHER_DEPTH)
        return too_many (self, "levels of ( ) and NOT", AG_CYPHER_DEPTH);
    if (is_word (self, "NOT"))
        rc = read_not (self, made);
    else if (is (self, '('))
        rc = advance (self) || read_bool (self, made) || expect (self, ')', "AND or `)`");
    else
        rc = read_compare (self, made);
    self->depth--;
    return rc ? -1 : 0;
}

static int
read_bool (struct reader *self, uint32_t *made)
{
    if (read_unary (self, made))
        return -1;
    while (is_word (self, "AND")) {
        struct ag_cypher_test test = {.kind = AG_CYPHER_AND, .a = *made};
        if (advance (self) || read_unary (self, &test.b) || new_test (self, test, made))
            return -1;
    }
    return 0;
}

int
ag_cypher_read (struct ag_cypher *self, struct ag_str text, struct ag_err *err)
{
    struct reader reader = {.to = self, .in = ag_tokens (text), .err = err};
    uint32_t made;
    *self = (struct ag_cypher){.where = -1};
    if (text.n > AG_CYPHER_BYTES)
        return ag_fail (err, AG_E_BAD_MESSAGE, "`pattern` has %zu bytes; %d at most", text.n,
                        AG_CYPHER_BYTES);
    if (!ag_utf8 (text))
        return ag_fail (err, AG_E_BAD_MESSAGE, "`pattern` is not valid UTF-8");
    if (advance (&reader) || read_chain (&reader, &made))
        return -1;
    if (is_word (&reader, "WHERE")) {
        if (advance (&reader) || read_bool (&reader, &made))
            return -1;
        self->where = (int)made;
    }
    if (reader.in.token.kind != AG_TOKEN_END)
        return unexpected (&reader, self->where < 0 ? "WHERE or the end" : "AND or the end");
    return 0;
}
