/*  together - the packs of one run held against each other: what each needs is there, and no two claim one name.
 *
 *  Nothing is run for it, and everything that is wrong is found at once. A pack needs another one by its name and a
 *  range of versions; that two need each other is fine, since no pack sees another while it loads: each has a Lua
 *  state of its own, and they are loaded in the order in which they were named. `[dependencies] agsup` is about this
 *  program; `activegraph` and `python` are about another runtime and checked in their form alone.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_TOGETHER_H
#define AG_TOGETHER_H
#include "common/value.h"

//  packs: a list of {name, version, types, dependencies, surface, bundle_hash}, as pack.h makes them; pins: {NAME:
//  BUNDLE_HASH} that an operator asks for, or p NULL. Append a line for each thing that is wrong; how many.
size_t ag_packs_problems (struct ag_str packs, struct ag_str pins, struct ag_buf *problems);
//  The same as one error: AG_E_PACK, as many of the lines as have room and how many there are more.
int ag_packs_check (struct ag_str packs, struct ag_str pins, struct ag_err *err);
#endif
