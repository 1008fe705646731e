/*  files - the two effects that agsup-worker does itself: file.read and file.list.
 *
 *  Both write their output as one value, or fail with a code and a sentence that become the recorded
 *  error: not_allowed, not_found, too_large, system. Grants are a colon-separated list of directories;
 *  a path outside them is refused here so that it has a reason, Landlock refuses it whatever is here.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_FILES_H
#define AG_FILES_H
#include "common/buf.h"
#include "common/err.h"

enum { AG_FILE_MAX = 7 << 20, AG_LIST_MAX = 65536 };

//  {text | bytes, size, hash}: text when it is UTF-8; hash is BLAKE2b-256 in hex.
int ag_file_read (const char *grants, struct ag_str path, struct ag_buf *output,
                  struct ag_err *err);

//  The names in a directory, sorted by bytes, without "." and ".."; a name that is no UTF-8 cannot be a
//  value and is left out.
int ag_file_list (const char *grants, struct ag_str path, struct ag_buf *output,
                  struct ag_err *err);
#endif
