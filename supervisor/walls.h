/*  walls - what a unit's process is held by: the nets and layers that its spec asks for, and which of them are in
 *  force.
 *
 *  Each row is {name, asked, in_force, reason}. asked: the setting ("require", "strict"), of a net its
 *  number, "always" where there is none; null when nothing was asked for. reason: why it is not in force,
 *  else how it is where that is worth a word, or null. Nothing is in force by being asked for: the nursery's
 *  reports, the worker's own word for what it raises itself, and what this build can do decide. The rows
 *  stand until the unit's next start, also after its end.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_WALLS_H
#define AG_WALLS_H
#include "supervisor/fleet.h"

#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
enum { AG_SANITIZED = 1 }; //  it reserves terabytes of addresses
#else
enum { AG_SANITIZED = 0 };
#endif

//  Append the list of rows.
void ag_walls_nets (const struct ag_unit *unit, struct ag_buf *out);
void ag_walls_layers (const struct ag_unit *unit, struct ag_buf *out);

//  What the spec of a unit says of a layer; "off" when it says nothing.
struct ag_str ag_walls_asked (const struct ag_unit *unit, const char *layer);
//  Whether the network was granted.
bool ag_walls_network (const struct ag_unit *unit);
//  Whether the unit must not run without a net.
bool ag_walls_needs (const struct ag_unit *unit, const char *net);
//  Remember what a worker says of the walls that it raised itself ({landlock, seccomp}; p NULL: nothing).
//  AG_E_CONFIG: one that its spec requires does not stand.
int ag_walls_said (struct ag_unit *unit, struct ag_str walls, struct ag_err *err);
#endif
