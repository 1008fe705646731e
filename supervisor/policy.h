/*  policy - what a behaviour may do: lists of types and tools, from its run's spec.
 *
 *      spec.policy = {BEHAVIOR: {can_create, can_create_relation, can_propose, can_apply, can_call_tool,
 *                                requires_approval}}
 *
 *  A list that is absent allows everything (requires_approval: asks for nothing); a list that is there is
 *  exhaustive, and "*" in it stands for anything. The table "*" holds, list by list, for each behaviour that
 *  has no such list of its own. See docs/design/governance.md.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_POLICY_H
#define AG_POLICY_H
#include "common/err.h"
#include "common/value.h"

enum ag_right {
    AG_MAY_CREATE,  //  objects of a type
    AG_MAY_RELATE,  //  make and remove relations of a type
    AG_MAY_PROPOSE, //  patches of objects of a type
    AG_MAY_APPLY,   //  change and remove objects of a type, decide about proposed patches of them
    AG_MAY_CALL,    //  a tool
    AG_MUST_ASK,    //  an operator, for objects of a type
    AG_RIGHTS
};

//  Borrows from the spec and the registration.
struct ag_policy {
    struct ag_str behavior, pack; //  pack: p NULL when it belongs to none
    struct ag_str lists[AG_RIGHTS];
};

//  Of a behaviour, an element of a registration.
struct ag_policy ag_policy_of (struct ag_str spec, struct ag_str behavior);
//  The first name in the policies of a spec that no behaviour of these lists has; p NULL: there is none.
struct ag_str ag_policy_of_nobody (struct ag_str spec, const struct ag_str *behaviors,
                                   size_t count);

//  AG_E_POLICY, naming the behaviour and what its policy allows. policy NULL: of a person, everything is allowed.
int ag_policy_check (const struct ag_policy *policy, enum ag_right right, struct ag_str what,
                     struct ag_err *err);
//  Is an object of this type made only when an operator approves?
bool ag_policy_asks (const struct ag_policy *policy, struct ag_str type);
#endif
