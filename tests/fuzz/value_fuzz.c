/*  Any bytes as values: refused in words that can be shown, or read, and then everything that can be
 *  done with a value agrees.
 *  SPDX-License-Identifier: Apache-2.0
 */
#include "common/json.h"
#include "common/value.h"

#include <assert.h>
#include <string.h>

int LLVMFuzzerTestOneInput (const uint8_t *bytes, size_t n);

static bool
same_hash (struct ag_str a, struct ag_str b, struct ag_str blind)
{
    uint8_t one[AG_HASH], two[AG_HASH];
    ag_value_hash (a, blind, one);
    ag_value_hash (b, blind, two);
    return !memcmp (one, two, AG_HASH);
}

//  What is normal stays as it is, and survives JSON.
static void
check_normal (struct ag_str normal)
{
    struct ag_buf again = {0}, text = {0}, back = {0};
    struct ag_err err;
    int rc = ag_value_normalise (normal, &again, &err);
    assert (rc == 0 && ag_str_eq (ag_buf_str (&again), normal));
    ag_json_write (normal, AG_JSON_PRETTY, &text);
    rc = ag_json_read (ag_buf_str (&text), &back, &err);
    assert (rc == 0 && ag_str_eq (ag_buf_str (&back), normal));
    ag_buf_fini (&again);
    ag_buf_fini (&text);
    ag_buf_fini (&back);
}

//  Well formed, though perhaps no value: everything that reads comes to an end.
static void
check_taken (struct ag_str value, struct ag_str before)
{
    struct ag_str found;
    struct ag_buf text = {0};
    ag_map_get (value, "a", &found);
    ag_map_path (value, AG_LIT ("a.b"), &found);
    ag_json_write (value, AG_JSON_LINE, &text);
    assert (ag_utf8 (ag_buf_str (&text)));
    ag_buf_fini (&text);
    bool equal = ag_value_equal (value, before);
    assert (equal == ag_value_equal (before, value));
    assert (equal == same_hash (value, before, AG_LIT ("")));
    assert (!equal || same_hash (value, before, AG_LIT ("a")));
}

static void
check_value (struct ag_str value)
{
    struct ag_buf normal = {0};
    struct ag_err err;
    if (ag_value_normalise (value, &normal, &err)) {
        assert (err.code == AG_E_BAD_VALUE && normal.n == 0);
        assert (ag_utf8 (ag_str (err.text)) && strlen (err.text) < sizeof err.text - 1);
    } else {
        assert (ag_value_equal (value, ag_buf_str (&normal)));
        assert (same_hash (value, ag_buf_str (&normal), AG_LIT ("a")));
        check_normal (ag_buf_str (&normal));
    }
    ag_buf_fini (&normal);
}

int
LLVMFuzzerTestOneInput (const uint8_t *bytes, size_t n)
{
    struct ag_cursor in = {bytes, bytes + n};
    struct ag_str value, before = AG_LIT ("\xc0");
    check_value ((struct ag_str){(const char *)bytes, n});
    for (int i = 0; i < 4 && !ag_take (&in, &value); i++) {
        check_value (value);
        check_taken (value, before);
        before = value;
    }
    return 0;
}
