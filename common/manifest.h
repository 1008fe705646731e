/*  manifest - the manifest.toml of a pack, read strictly: everything that is wrong at once, with its places.
 *
 *  docs/design/packs.md has the tables and keys, and where they are stricter than the reference's.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_MANIFEST_H
#define AG_MANIFEST_H
#include "common/value.h"

enum { AG_MANIFEST_BYTES = 512 << 10, AG_MANIFEST_PROBLEMS = 100 };

//  Append the manifest as one normal value, and to problems what is wrong with it, a line each, by place. What
//  stands there is always checked. Complete: so is that everything stands there which a trial and a gate ask
//  for; else only what a run needs. Returns how many problems there are; then out is as it was.
size_t ag_manifest_read (struct ag_str text, bool complete, struct ag_buf *out,
                         struct ag_buf *problems);
#endif
