/*  pack - a script pack on disk, read once: its bytes, its hashes, what its manifest says.
 *
 *  What is hashed is what is kept: each file is read once (folder.h), and only those bytes are ever loaded.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_PACK_H
#define AG_PACK_H
#include "common/value.h"

enum { AG_PACK_HASH = 72 }; //  "sha256:", 64 digits and their end

//  Append {name, version, description, types, dependencies, surface, bundle_hash, settings, files: [{path, bytes}]}:
//  types, dependencies and surface are the manifest's tables, checked (surface: null without one); settings are the
//  defaults of settings.toml; bytes are text, or msgpack bin (so this is not a normal value yet). AG_E_PACK names the
//  file and what is wrong, also where the content hash of the manifest is not that of the files, where its Lua could
//  never load, and of a pack that an agent wrote what its Lua may not do (script_check.h).
int ag_pack_read (const char *dir, struct ag_buf *out, struct ag_err *err);
//  The same with everything that is wrong appended to problems, a line each.
int ag_pack_look (const char *dir, struct ag_buf *out, struct ag_buf *problems, struct ag_err *err);
//  As ag_pack_read, from the files of a request: [{path, bytes}].
int ag_pack_from (struct ag_str files, struct ag_buf *out, struct ag_err *err);
//  As ag_pack_from, of bytes that somebody approved by their bundle hash, and by all that ag_pack_check asks for; the
//  hash that they have is written also when it is another.
int ag_pack_pinned (struct ag_str files, struct ag_str pin, char hash[AG_PACK_HASH],
                    struct ag_buf *out, struct ag_err *err);
//  Append the defaults of the settings alone. AG_E_PACK.
int ag_pack_defaults (struct ag_str files, struct ag_buf *out, struct ag_err *err);
//  Append {content_hash, bundle_hash, files: [path]} of any folder, as `pack hash --json` shows it. AG_E_PACK.
int ag_pack_hash (const char *dir, struct ag_buf *out, struct ag_err *err);
//  What is wrong with a pack, by all that a trial and a gate ask for: a line each, appended to problems. AG_E_PACK when
//  it cannot be read at all.
int ag_pack_check (const char *dir, struct ag_buf *problems, size_t *count, struct ag_err *err);
//  Whether a setting is one that the pack declares, and the value of the kind of its default (a number is one kind).
//  AG_E_USAGE names it, and those that there are or both kinds.
int ag_pack_check_setting (struct ag_str pack, struct ag_str key, struct ag_str given,
                           struct ag_err *err);
//  The same of {KEY: value}: the first that is not.
int ag_pack_check_settings (struct ag_str pack, struct ag_str given, struct ag_err *err);
//  Whether each table of settings ({PACK: {KEY: value}}) is for one of the packs, whose names are texts one after the
//  other. AG_E_USAGE names the first that is not, and those.
int ag_pack_check_tables (struct ag_str settings, struct ag_str names, struct ag_err *err);
//  Append {pin?, files} of a folder, as requests carry packs. pin: p NULL, or what has to be its bundle hash; one that
//  is no hash is refused before the folder is looked at (AG_E_USAGE).
int ag_pack_bundle (const char *dir, struct ag_str pin, struct ag_buf *out, struct ag_err *err);
//  Whether a pack has the bundle hash. AG_E_PACK says both; AG_E_USAGE: the pin is no hash.
int ag_pack_check_pin (struct ag_str pack, struct ag_str pin, struct ag_err *err);
#endif
