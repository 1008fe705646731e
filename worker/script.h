/*  script - the Lua host: runs the behaviours of script packs in an environment that reaches nothing.
 *
 *  Every invocation gets the Lua state that loading the pack left, byte for byte, whatever was run in it since:
 *  nothing can be carried from one invocation to the next but through the graph. A state sees the curated
 *  functions of docs/guides/lua.md and no others; its memory and its time are bounded, and once either bound
 *  has been met the script does not go on, whatever it catches (AG_TRIPPED: the caller reports and ends).
 *  Everything a script can see is the same in every run of the same invocation, but for the length of a table with
 *  holes, which Lua does not define.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_SCRIPT_H
#define AG_SCRIPT_H
#include "common/value.h"
#include "worker/libagsup/agsup.h"
#include "worker/packs.h"

typedef struct ag_script ag_script_t;

struct ag_script_limits {
    size_t memory_bytes; //  of one Lua state
    uint64_t wall_ms;    //  of one invocation, and of loading one pack; 0: none
};

//  All are borrowed and outlive the host. grants: as ag_file_read takes them.
ag_script_t *ag_script_new (agsup_t *link, const struct ag_packs *packs, const char *grants,
                            struct ag_script_limits limits);
void ag_script_destroy (ag_script_t **self_p);

//  Loads each pack once and writes what they register, as `register` wants it. AG_E_PACK names file,
//  line and behaviour, and what to write instead; AG_E_NET: out of memory or out of time.
int ag_script_load (ag_script_t *self, struct ag_buf *behaviors, struct ag_buf *tools,
                    struct ag_err *err);

//  The type of what a load failed by: "script.error", or the net that it met (AG_E_NET).
const char *ag_script_failure (const ag_script_t *self);

enum ag_ran {
    AG_RAN,     //  out is the list of operations for `done`
    AG_RAISED,  //  out is the map for `fail`: the script's own error
    AG_TRIPPED, //  out is the map for `fail`: out of memory or out of time
};

//  Run one invocation. invoke is not looked at any more once this returns.
enum ag_ran ag_script_run (ag_script_t *self, struct ag_str invoke, struct ag_buf *out);
//  Put the state back now, while there is nothing else to do, instead of before the next invocation.
void ag_script_rewind (ag_script_t *self);

//  What the link failed with, as an error of ours; -1.
int ag_link_error (const agsup_t *link, struct ag_err *err);
#endif
