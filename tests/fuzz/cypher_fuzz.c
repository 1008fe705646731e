/*  Any bytes as a pattern: refused with a reason, or a tree whose numbers all point into it.
 *  SPDX-License-Identifier: Apache-2.0
 */
#include "supervisor/cypher.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput (const uint8_t *bytes, size_t n);

static bool
is_value (struct ag_str value)
{
    struct ag_buf normal = {0};
    struct ag_err err;
    bool good = !ag_value_normalise (value, &normal, &err);
    ag_buf_fini (&normal);
    return good;
}

static void
check_side (const struct ag_cypher *cypher, const struct ag_cypher_side *side)
{
    assert (side->slot < 0 ? is_value (side->text)
                           : side->slot < (int)cypher->chains[0].slots && side->text.n);
}

//  Tests come after what they are made of, so none is a part of itself.
static void
check_test (const struct ag_cypher *cypher, uint32_t i)
{
    const struct ag_cypher_test *test = &cypher->tests[i];
    if (test->kind == AG_CYPHER_NOT_EXISTS)
        assert (test->a > 0 && test->a < cypher->chain_count);
    else if (test->kind == AG_CYPHER_COMPARE) {
        assert (test->left.slot >= 0);
        check_side (cypher, &test->left);
        check_side (cypher, &test->right);
    } else
        assert (test->a < i && (test->kind == AG_CYPHER_NOT || test->b < i));
}

static void
check_chain (const struct ag_cypher *cypher, const struct ag_cypher_chain *chain)
{
    assert (chain->count % 2 == 1 && chain->first + chain->count <= cypher->place_count);
    for (uint32_t i = 0; i < chain->count; i++) {
        const struct ag_cypher_place *place = &cypher->places[chain->first + i];
        assert (place->slot < cypher->slot_count);
        assert (cypher->slots[place->slot].relation == (i % 2 == 1));
        assert (i % 2 == 0 || (place->type.p && !place->prop_count));
        assert (place->props + place->prop_count <= cypher->prop_count);
    }
}

int
LLVMFuzzerTestOneInput (const uint8_t *bytes, size_t n)
{
    struct ag_cypher *cypher = ag_xmalloc (sizeof *cypher);
    struct ag_err err;
    char *copy = ag_xmalloc (n); //  of exactly its size, so that a read past its end is seen
    if (n)
        memcpy (copy, bytes, n);
    if (ag_cypher_read (cypher, (struct ag_str){copy, n}, &err))
        assert (err.code == AG_E_BAD_MESSAGE && !strncmp (err.text, "`pattern`", 9));
    else {
        assert (cypher->chain_count > 0 && cypher->where < (int)cypher->test_count);
        for (uint32_t i = 0; i < cypher->chain_count; i++)
            check_chain (cypher, &cypher->chains[i]);
        for (uint32_t i = 0; i < cypher->test_count; i++)
            check_test (cypher, i);
        for (uint32_t i = 0; i < cypher->prop_count; i++)
            assert (is_value (cypher->props[i].value));
    }
    free (copy);
    free (cypher);
    return 0;
}
