/*  bundle - the files of a pack's folder, as `fork` carries them.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_BUNDLE_H
#define AG_BUNDLE_H
#include "common/value.h"

enum { AG_BUNDLE_FILES = 256, AG_BUNDLE_BYTES = 4 << 20 };

//  Append {name, files: [{path, bytes}]}: every regular file below dir, by path; hidden names,
//  __pycache__ and *.pyc are no part of a pack. AG_E_PACK: no folder, a symbolic link, too much.
int ag_bundle_read (const char *dir, struct ag_buf *out, struct ag_err *err);
#endif
