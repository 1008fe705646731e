/*  trial_spec - what the process of a trial is started with.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_TRIAL_SPEC_H
#define AG_TRIAL_SPEC_H
#include "common/pack.h"
#include "common/wire.h"
#include "supervisor/journal.h"

//  Packs whose bytes are the approved ones.
struct ag_candidates {
    struct ag_buf packs;     //  a list, as a spec holds them; the candidate is the last
    char hash[AG_PACK_HASH]; //  of the candidate's bytes, also when they are not the approved ones
};
void ag_candidates_fini (struct ag_candidates *self);

//  Whether a request asks for a trial at all: pins, limits, the forms of its lists. AG_E_USAGE.
int ag_trial_ask_check (const struct ag_msg_trial *msg, struct ag_err *err);
//  AG_E_PACK says which pack, by its place and its name, is not what its pin and its manifest say.
int ag_candidates_read (const struct ag_msg_trial *msg, struct ag_candidates *out,
                        struct ag_err *err);
//  Append the spec of the trial; parent: the spec at the cut, p NULL when there is none; candidates NULL: nothing of it
//  is to run. AG_E_PACK: the program is no file of the candidate.
int ag_trial_spec (ag_journal_t *journal, struct ag_str parent, const struct ag_msg_trial *msg,
                   const struct ag_candidates *candidates, struct ag_buf *out, struct ag_err *err);

//  Whether the packs of the spec registered what their manifests say and nothing else (common/surface.h); a program
//  names no pack and is its only one. AG_E_PACK names all that differs.
int ag_trial_check_surface (struct ag_str spec, bool program, struct ag_str behaviors,
                            struct ag_str tools, struct ag_err *err);
#endif
