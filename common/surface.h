/*  surface - what a pack does by its manifest, held against what it does by its code: both ways, everything at once.
 *
 *  A manifest without [surface] says nothing and is never at odds. Names are those that are registered, whole. Not
 *  compared: capabilities, which nothing here registers, and `consumes`.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_SURFACE_H
#define AG_SURFACE_H
#include "common/value.h"

//  Append a line for each mismatch, by kind and by the bytes of the names; how many there are. pack: {name, types,
//  surface, settings} as pack.h makes it; behaviors and tools: the lists of a registration, [{name, pack}], of which
//  the pack's own count.
size_t ag_surface_mismatches (struct ag_str pack, struct ag_str behaviors, struct ag_str tools,
                              struct ag_buf *out);
//  The part about settings: settings_schema names them in a pack that has some, and is empty in any other.
size_t ag_surface_settings (struct ag_str surface, struct ag_str settings, struct ag_buf *out);
#endif
