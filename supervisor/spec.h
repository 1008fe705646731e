/*  spec - what the workers of a run are started with: kept as its note `spec`, so that a fork and a restart start
 *  the same.
 *
 *      {agent, hosts: [{kind: "script", packs: [PACK]} | {kind: "program", command, dir, base}],
 *       nets, layers, files, allow, env, isolation, attempts, restart, after, hears, policy, budget}
 *      PACK = {name, version, description, types, dependencies, surface, bundle_hash, settings, files: [{path, bytes}]}
 *
 *  The bytes of packs stand as blobs where they are long. Everything else is as common/conf.h wrote it.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_SPEC_H
#define AG_SPEC_H
#include "supervisor/fleet.h"

enum { AG_RUN_PACKS = 64 }; //  at most; as in a configuration

//  Append the spec of an agent of the configuration; reads its packs once. AG_E_PACK, also where they do not go
//  together or are not what is pinned (together.h).
int ag_spec_of_agent (ag_journal_t *journal, struct ag_str name, struct ag_str agent,
                      struct ag_str base, struct ag_buf *out, struct ag_err *err);

//  Append the spec of a fork: the parent's with settings of packs changed ({PACK: {KEY: value}}; p NULL:
//  none) and packs added or replaced ([{files: [{path, bytes}], pin?}]; p NULL: none). AG_E_NOT_FOUND for
//  a pack or key that the parent does not have, AG_E_PACK where the packs do not go together (together.h) or one
//  is not what its pin says. What was set for a pack that is replaced, over its defaults, stays set; where the new one
//  has no setting of that name and kind, a sentence that says so is appended to lost, texts one after the other.
//  Budget: what the fork may use up, in place of the parent's.
int ag_spec_of_fork (ag_journal_t *journal, struct ag_str parent, struct ag_str set,
                     struct ag_str packs, struct ag_str budget, struct ag_buf *lost,
                     struct ag_buf *out, struct ag_err *err);

//  Append the folders that an agent of the configuration names for its packs and whose files are other ones now than
//  those of the spec: texts, one after the other. What cannot be read is left out.
void ag_spec_changed (struct ag_str agent, struct ag_str spec, struct ag_buf *dirs);

//  The packs of a spec's script host, a list; empty without one.
struct ag_str ag_spec_packs (struct ag_str spec);
//  Append the spec without a pack.
int ag_spec_without (struct ag_str spec, struct ag_str pack, struct ag_buf *out,
                     struct ag_err *err);

//  announce.c: append pack.loaded for each pack of a spec that is not in force yet as it is, pack.disabled for those in
//  force that it does not have, and pack.settings_overridden for what was set, or what else is set in a pack that is in
//  force. The note `spec` is what was before.
int ag_spec_announce (ag_journal_t *journal, struct ag_run *run, struct ag_str spec,
                      struct ag_str set, struct ag_err *err);

//  Append pack.disabled: 1, or 0 when it is out of force already, -1. AG_E_NOT_FOUND: it was never loaded.
int ag_spec_disable (ag_journal_t *journal, struct ag_run *run, struct ag_str name,
                     struct ag_err *err);

//  `welcome {run, agent, fork, settings, limits, packs?}` for a unit that said hello.
int ag_spec_welcome (struct ag_house *house, struct ag_unit *unit, struct ag_buf *answer,
                     struct ag_err *err);

//  Fill in what the nursery is asked for; the strings live in hold until it is freed.
struct ag_launch {
    struct ag_spawn spawn;
    const char *argv[258], *env[80], *readable[80], *own[3], *hidden[2]; //  NULL at their ends
    char *texts[420];
    size_t text_count;
};
int ag_spec_launch (struct ag_house *house, struct ag_unit *unit, struct ag_launch *launch,
                    struct ag_err *err);
void ag_launch_fini (struct ag_launch *launch);
#endif
