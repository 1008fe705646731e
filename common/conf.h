/*  conf - the configuration of a fleet: agsup.toml, or a directory of such files, to one value.
 *
 *  All valid or nothing: every violation of every file is found in one pass and said with its place. The
 *  keys stand in schemas/settings.def. The value is complete, so that nobody who reads it knows a default:
 *
 *      {version, base, files: [PATH], uids: {first, last}, agent: {NAME: {...}}, service: {NAME: {...}}}
 *
 *  An agent or service is a map of every key of its section: as written, but time spans as KEY_ms, sizes as
 *  KEY_bytes, paths absolute, what was not written as its default (null, [] or {} where there is none). Each
 *  entry of `env` is {text}, {file} or {env}; `base` is the directory of the configuration; `[defaults]` is
 *  applied and gone. Secrets are named in the value, never held.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_CONF_H
#define AG_CONF_H
#include "common/value.h"

//  Append the value to value. On failure value is as it was, err says AG_E_CONFIG with the first violation,
//  and problems holds each as a line "FILE:LINE:COLUMN: what is wrong" (the first 100, then how many more).
int ag_conf_load (const char *path, struct ag_buf *value, struct ag_buf *problems,
                  struct ag_err *err);
#endif
