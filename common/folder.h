/*  folder - the files of a pack, each read once: what is looked at, hashed and loaded are the same bytes.
 *
 *  A folder may be hostile, and may change while it is read. Names that begin with a dot, `__pycache__`, `*.pyc` and
 *  what is no file are no part of a pack and are never opened. Refused are symbolic links, the folder itself
 *  included, files with a second name elsewhere (hard links), files that change their length while they are read,
 *  names that differ in case alone, and what is beyond the bounds.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_FOLDER_H
#define AG_FOLDER_H
#include "common/value.h"

enum {
    AG_FOLDER_FILES = 256,
    AG_FOLDER_BYTES = 4 << 20,
    AG_FOLDER_DEPTH = 8,
    AG_FOLDER_PATH = 256,
    AG_FOLDER_ENTRIES = 4096 //  that are looked at, also those that are left out
};

struct ag_file {
    char *path; //  relative, UTF-8
    struct ag_buf bytes;
};

struct ag_folder {
    struct ag_file *files; //  in the order of the paths' bytes
    size_t count, bytes;
    const char *dir; //  as it was given, for messages; NULL: it came in one
};

//  AG_E_PACK names the first that is wrong. On failure out holds what was read so far; fini takes it.
int ag_folder_read (const char *dir, struct ag_folder *out, struct ag_err *err);
//  The same rules for the files of a message: [{path, bytes}].
int ag_folder_from (struct ag_str files, struct ag_folder *out, struct ag_err *err);
void ag_folder_fini (struct ag_folder *folder);

//  The file of a path, or NULL.
const struct ag_file *ag_folder_find (const struct ag_folder *folder, const char *path);
//  Append [{path, bytes}]: bytes as text, or as msgpack bin where they are none.
void ag_folder_put (const struct ag_folder *folder, struct ag_buf *out);
#endif
