/*  toml - TOML 1.0 text to one value, and where each part of it stood in the text.
 *
 *  The one door to toml++, a C++ library: exceptions end inside. The text is hostile: more than 1 MiB,
 *  invalid UTF-8 and more than AG_DEPTH levels are refused before or while it is read. A date or a
 *  time, and a number that is not finite, are refused by name, because a value cannot hold them.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_TOML_H
#define AG_TOML_H
#include "common/value.h"

enum { AG_TOML_MAX = 1 << 20 };

typedef struct ag_toml ag_toml_t;

//  Append the text's table to out as one normal value, keys in the order of the text. On failure out is
//  as it was and err says AG_E_CONFIG, "LINE:COLUMN: what is wrong".
ag_toml_t *ag_toml_new (struct ag_str text, struct ag_buf *out, struct ag_err *err);
void ag_toml_destroy (ag_toml_t **self_p);

//  A way into the document, made on the stack from the leaf upwards; NULL is the document itself.
//  key.p NULL: the element with that index, from 0.
struct ag_toml_path {
    const struct ag_toml_path *up;
    struct ag_str key;
    size_t index;
};

//  The path as people write it: a.b[0]."key with spaces"; nothing for NULL.
void ag_toml_path_text (const struct ag_toml_path *path, struct ag_buf *out);

//  Where the key (or the element) stands, counted from 1: 0, or -1 when there is no such thing.
int ag_toml_where (const ag_toml_t *self, const struct ag_toml_path *path, unsigned *line,
                   unsigned *column);
#endif
