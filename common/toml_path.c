//  SPDX-License-Identifier: Apache-2.0
#include "common/json.h"
#include "common/toml.h"

#include <string.h>

//  A key as people would write it: quoted where it is not bare.
static void
put_key (struct ag_str key, struct ag_buf *out)
{
    struct ag_buf quoted = {0};
    bool bare = key.n > 0;
    for (size_t i = 0; i < key.n; i++)
        bare = bare && key.p[i] > ' ' && key.p[i] < 127 && !strchr (".\"'[]", key.p[i]);
    if (bare) {
        ag_buf_add_str (out, key);
        return;
    }
    ag_put_text (&quoted, key);
    ag_json_write (ag_buf_str (&quoted), AG_JSON_LINE, out);
    ag_buf_fini (&quoted);
}

void
ag_toml_path_text (const struct ag_toml_path *path, struct ag_buf *out)
{
    if (!path)
        return;
    ag_toml_path_text (path->up, out);
    if (!path->key.p) {
        ag_buf_text (out, "[%zu]", path->index);
        return;
    }
    ag_buf_text (out, path->up ? "." : "");
    put_key (path->key, out);
}
