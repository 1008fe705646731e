/*  ids - names of things and runs: what a caller may give, what a run mints, what raises its counters.
 *
 *  A root mints `task#7`, `rel_012`, `patch_003`, `approval_001`, `frame_001`. A fork mints with the tag of a
 *  run: `task#r3f.1`, `rel_r3f.001`. Whatever a run sees in the form it mints raises its counter, so that it
 *  never mints an id twice.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_IDS_H
#define AG_IDS_H
#include "common/err.h"
#include "common/hash.h"
#include "supervisor/key.h"

enum {
    AG_RUN_TEXT = 15,   //  "r" and base32 with a NUL
    AG_LABEL_BYTES = 64 //  without the NUL
};

//  The text of a run's id, and its number; -1 when text is none.
void ag_run_id (uint64_t number, char text[AG_RUN_TEXT]);
int ag_run_number (struct ag_str id, uint64_t *number);

//  An id of a thing: 1 to 256 bytes of UTF-8 without control characters, space or '@'. A type: the same,
//  200 bytes. What names it in the error text ("id", "type").
int ag_id_check (struct ag_str id, const char *what, struct ag_err *err);
int ag_type_check (struct ag_str type, const char *what, struct ag_err *err);
//  A label of a run: 1 to 64 such bytes, and nothing that looks like a run id (r and base32 with a digit) or like the
//  name of a second process of a run (`x.program`, `x.replay`), which is to be that one's alone. None of a shell's
//  signs either, such as `$`: hints put labels into commands that people copy.
int ag_label_check (struct ag_str label, struct ag_err *err);

//  What an id of a minted form says. Numbers over AG_MINTED_MAX do not count: only a caller who means
//  harm gives them, and a counter has to go on.
#define AG_MINTED_MAX (UINT64_C (1) << 53)
struct ag_minted {
    uint64_t run;    //  of the tag; 0: a plain form
    uint64_t number; //  AG_MINTED_MAX + 1 for any larger
};
enum ag_minted_kind {
    AG_MINTED_OBJECT,
    AG_MINTED_RELATION,
    AG_MINTED_PATCH,
    AG_MINTED_APPROVAL,
    AG_MINTED_FRAME,
    AG_MINTED_KINDS
};
//  false when the id has neither form of its kind.
bool ag_minted_read (enum ag_minted_kind kind, struct ag_str id, struct ag_minted *minted);

//  Append the id of a number, with a tag unless run is 0. Type counts for objects only.
void ag_minted_write (enum ag_minted_kind kind, struct ag_str type, const struct ag_minted *minted,
                      struct ag_buf *out);
#endif
