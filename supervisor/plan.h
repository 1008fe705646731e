/*  plan - what a promote is made of; shared by plan.c, plan_write.c and promote.c alone.
 *
 *  All texts and values lie in the plan's arena. Lists are in order of the ids as bytes, conflicts by
 *  kind, entity and id.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_PLAN_H
#define AG_PLAN_H
#include "supervisor/arena.h"
#include "supervisor/promote.h"
#include "supervisor/state.h"

//  Type and data of what is created or patched; of a removal the id alone.
struct ag_delta {
    struct ag_str id, type, source, target, data;
};

struct ag_deltas {
    struct ag_delta *rows;
    size_t count, room;
};

enum ag_conflict_kind { AG_BOTH_CHANGED, AG_DANGLING_RELATION, AG_ORPHANING_REMOVAL };
const char *ag_conflict_name (enum ag_conflict_kind kind);

struct ag_conflict {
    enum ag_conflict_kind kind;
    enum ag_entity_kind entity;
    struct ag_str id, detail;
    struct ag_str in_base, in_parent, in_fork; //  values; null where it is not
};

//  What the parent's types do not allow.
struct ag_violation {
    struct ag_str id, type, path, detail;
};

struct ag_plan {
    uint64_t fork, parent; //  numbers
    char fork_id[AG_RUN_TEXT], parent_id[AG_RUN_TEXT];
    uint64_t cut;
    uint64_t base;    //  of the fork: its tip at its last promote, else the cut
    uint64_t against; //  the parent's tip
    uint64_t fork_tip;
    uint64_t last_marker; //  of the fork's last promote, in the parent; 0: none

    struct ag_deltas object_creates, object_patches, object_removes;
    struct ag_deltas relation_creates, relation_removes;
    struct ag_conflict *conflicts;
    size_t conflict_count, conflict_room;
    struct ag_violation *violations; //  the first ones
    size_t violation_count;          //  of all
    struct ag_str *warnings;
    size_t warning_count, warning_room;

    uint64_t marker;      //  once applied
    uint64_t first, last; //  the block behind it; 0: none
    struct ag_arena arena;
};

bool ag_plan_is_empty (const ag_plan_t *self);
//  How many entities it carries.
size_t ag_plan_size (const ag_plan_t *self);

//  Make what a plan carries canonical, by the types that are in force in the parent, or list what they refuse.
int ag_plan_fit (ag_journal_t *journal, const struct ag_run *parent, ag_plan_t *plan,
                 struct ag_err *err);
//  How many of the violations are listed.
size_t ag_plan_listed (const ag_plan_t *self);
//  Add to a plan what the logs say of packs; see promote.h.
int ag_plan_warn (ag_journal_t *journal, const struct ag_run *fork, ag_plan_t *self,
                  struct ag_err *err);
//  A copy in the arena; printf.
struct ag_str ag_plan_keep (ag_plan_t *self, struct ag_str text);
struct ag_str ag_plan_text (ag_plan_t *self, const char *format, ...)
    __attribute__ ((format (printf, 2, 3)));
#endif
