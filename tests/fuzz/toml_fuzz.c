/*  Any bytes as TOML: refused with a place, or one normal value whose every part has one.
 *  SPDX-License-Identifier: Apache-2.0
 */
#include "common/toml.h"

#include <assert.h>
#include <string.h>

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size);

//  Walk the value beside the document: each key and element can be found there.
static void
check_places (const ag_toml_t *doc, const struct ag_toml_path *at, struct ag_cursor *in)
{
    unsigned line = 0, column = 0;
    struct ag_head head, key;
    assert (ag_toml_where (doc, at, &line, &column) == 0);
    assert (line > 0 && column > 0);
    assert (ag_next (in, &head) == 0);
    bool map = head.kind == AG_MAP;
    if (!map && head.kind != AG_LIST)
        return;
    for (uint32_t i = 0; i < head.count; i++) {
        struct ag_toml_path path = {at, {0}, i};
        if (map) {
            assert (ag_next (in, &key) == 0 && key.kind == AG_TEXT);
            path.key = key.s;
        }
        check_places (doc, &path, in);
    }
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
    struct ag_buf value = {0}, normal = {0};
    struct ag_err err = {0};
    ag_toml_t *doc = ag_toml_new ((struct ag_str){(const char *)data, size}, &value, &err);
    if (doc) {
        struct ag_cursor in = ag_cursor (ag_buf_str (&value));
        assert (ag_value_normalise (ag_buf_str (&value), &normal, &err) == 0);
        assert (ag_str_eq (ag_buf_str (&value), ag_buf_str (&normal)));
        check_places (doc, NULL, &in);
        ag_toml_destroy (&doc);
    } else {
        assert (value.n == 0);
        assert (err.text[0] >= '1' && err.text[0] <= '9');
    }
    ag_buf_fini (&value);
    ag_buf_fini (&normal);
    return 0;
}
