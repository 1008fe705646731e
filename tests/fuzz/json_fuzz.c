/*  Any bytes as JSON: refused with a place, or one normal value that is written and read back as it is.
 *  SPDX-License-Identifier: Apache-2.0
 */
#include "common/json.h"

#include <assert.h>
#include <string.h>

int LLVMFuzzerTestOneInput (const uint8_t *bytes, size_t n);

static void
check_round_trip (struct ag_str value, enum ag_json_style style)
{
    struct ag_buf text = {0}, back = {0};
    struct ag_err err;
    ag_json_write (value, style, &text);
    int rc = ag_json_read (ag_buf_str (&text), &back, &err);
    assert (rc == 0 && ag_str_eq (ag_buf_str (&back), value));
    ag_buf_fini (&text);
    ag_buf_fini (&back);
}

int
LLVMFuzzerTestOneInput (const uint8_t *bytes, size_t n)
{
    struct ag_buf value = {0}, normal = {0};
    struct ag_err err;
    if (ag_json_read ((struct ag_str){(const char *)bytes, n}, &value, &err)) {
        assert (value.n == 0 && !strncmp (err.text, "line ", 5) && ag_utf8 (ag_str (err.text)));
    } else {
        //  Text may nest a little deeper than a value.
        if (!ag_value_normalise (ag_buf_str (&value), &normal, &err))
            assert (ag_str_eq (ag_buf_str (&normal), ag_buf_str (&value)));
        else
            assert (strstr (err.text, "levels deep"));
        check_round_trip (ag_buf_str (&value), AG_JSON_LINE);
        check_round_trip (ag_buf_str (&value), AG_JSON_PRETTY);
    }
    ag_buf_fini (&value);
    ag_buf_fini (&normal);
    return 0;
}
