/*  Any bytes as a manifest, and what follows a NUL as data (JSON) of each type that it declares: what fits is
 *  canonical, and the canonical form of that is itself.
 *  SPDX-License-Identifier: Apache-2.0
 */
#include "common/json.h"
#include "common/manifest.h"
#include "common/schema.h"

#include <assert.h>
#include <string.h>

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size);

enum { MOST = 1 << 20 };

static void
say (void *arg, const struct ag_toml_path *path, const char *what)
{
    struct ag_buf text = {0};
    (void)arg;
    ag_toml_path_text (path, &text);
    assert (what[0]);
    ag_buf_fini (&text);
}

static void
fit (const ag_schema_t *schema, struct ag_str value)
{
    struct ag_buf out = {0}, again = {0}, normal = {0};
    struct ag_err err;
    if (ag_schema_fit (schema, value, NULL, MOST, &out, say, NULL))
        assert (out.n == 0);
    else {
        assert (out.n <= MOST);
        assert (ag_value_normalise (ag_buf_str (&out), &normal, &err) == 0);
        assert (ag_str_eq (ag_buf_str (&out), ag_buf_str (&normal)));
        assert (ag_schema_fit (schema, ag_buf_str (&out), NULL, MOST, &again, say, NULL) == 0);
        assert (ag_str_eq (ag_buf_str (&out), ag_buf_str (&again)));
    }
    ag_buf_fini (&out);
    ag_buf_fini (&again);
    ag_buf_fini (&normal);
}

//  A type that passed with its manifest is read again without a problem.
static void
fit_types (struct ag_str manifest, const char *kind, struct ag_str value)
{
    struct ag_str types, table = {0}, type;
    struct ag_head map = {0}, name;
    if (!ag_map_get (manifest, "types", &types))
        ag_map_get (types, kind, &table);
    struct ag_cursor in = ag_cursor (table);
    ag_next (&in, &map);
    for (uint32_t i = 0; i < map.count && !ag_next (&in, &name) && !ag_take (&in, &type); i++) {
        ag_schema_t *schema = ag_schema_new (type, !strcmp (kind, "relation"), NULL, say, NULL);
        assert (schema);
        fit (schema, AG_LIT ("\x80"));
        fit (schema, value);
        ag_schema_destroy (&schema);
    }
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
    struct ag_buf manifest = {0}, problems = {0}, read = {0}, value = {0};
    struct ag_err err;
    size_t n = strnlen ((const char *)data, size);
    struct ag_str text = {(const char *)data, n}, json = {(const char *)data + n, size - n};
    if (json.n) {
        json.p++;
        json.n--;
    }
    if (ag_json_read (json, &read, &err) || ag_value_normalise (ag_buf_str (&read), &value, &err))
        ag_put_map (&value, 0);
    if (ag_manifest_read (text, false, &manifest, &problems))
        assert (manifest.n == 0 && problems.n > 0);
    else {
        fit_types (ag_buf_str (&manifest), "object", ag_buf_str (&value));
        fit_types (ag_buf_str (&manifest), "relation", ag_buf_str (&value));
    }
    ag_buf_fini (&manifest);
    ag_buf_fini (&problems);
    ag_buf_fini (&read);
    ag_buf_fini (&value);
    return 0;
}
