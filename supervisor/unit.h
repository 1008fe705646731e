/*  unit - one unit's states, what is told about it, and when it is tried again; below fleet.c.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_UNIT_H
#define AG_UNIT_H
#include "supervisor/fleet.h"

enum { AG_HELLO_MS = 60000 }; //  that a host has to say hello

struct ag_unit *ag_unit_new (struct ag_house *house, const char *name, uint64_t run, uint32_t host);
void ag_unit_free (struct ag_unit *unit);
void ag_unit_set_spec (struct ag_unit *unit, struct ag_str spec);
//  Settings of a unit's run, from its spec: a number of `nets` or `restart` (0: no limit).
uint64_t ag_unit_net (const struct ag_unit *unit, const char *key);
uint32_t ag_unit_attempts (const struct ag_unit *unit);

//  What the configuration in force says of an agent; p NULL: nothing.
struct ag_str ag_fleet_agent (const struct ag_house *house, const char *name);

//  Append an event of the house about a unit to the fleet's run: {name, run, host, …}. Extra fields are
//  pairs of key and value already encoded, extra_count of them. What cannot be appended is logged.
void ag_unit_tell (struct ag_house *house, const struct ag_unit *unit, enum ag_type type,
                   struct ag_str extra, uint32_t extra_count);

//  The process died by itself: count it, and say when to try again; -1: no more, the limit is reached. Starts that
//  fail one after the other are tried less and less often, however long each took.
int64_t ag_unit_delay (struct ag_unit *unit, uint64_t at_most, uint64_t within_ms);

//  Words that are no text, such as a worker's own or what was cut within a character, become one: bytes at fault are
//  `?`, and characters behind them.
void ag_unit_mend (char *words);
//  Append why it stands as it does, for people: its reason; of one that starts, that it is silent and how its last
//  start failed.
void ag_unit_why (const struct ag_unit *unit, struct ag_buf *out);
//  It is about to say what it can do: it starts, or will with the next turns.
bool ag_unit_is_coming (const struct ag_unit *unit);
//  What it comes after failed, ended or was stopped: nothing starts it before an operator does something.
bool ag_unit_waits_in_vain (struct ag_house *house, const struct ag_unit *unit);
//  There is something for it to do: its process is started if it may.
void ag_unit_is_due (struct ag_house *house, struct ag_unit *unit);
//  A unit beside the run's own one, under a name of its own: not found by place or name, wanted at once.
struct ag_unit *ag_fleet_hide (struct ag_house *house, const char *name, uint64_t run,
                               uint32_t host, struct ag_str spec);
//  Forget such a unit, which has no process any more.
void ag_fleet_drop (struct ag_house *house, struct ag_unit *unit);
#endif
