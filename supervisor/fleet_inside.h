/*  fleet_inside - what fleet.c and process.c share and nobody else sees.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_FLEET_INSIDE_H
#define AG_FLEET_INSIDE_H
#include "supervisor/fleet.h"

struct ag_fleet {
    struct ag_unit *first;               //  in order of the configuration, then forks as they came
    struct ag_unit **end;                //  where the next one is linked
    struct ag_unit *by_place, *by_child; //  hashes: units of runs, and those that have a process
    struct ag_buf conf;                  //  the configuration in force; empty: none
    uint64_t next_child;
    uint64_t *ended; //  children whose end is in this turn's batch
    size_t ended_count;
    bool stirred; //  something may have to be started or ended
    bool current; //  the nursery has told everything it kept
    int64_t looked_ms;
};

struct ag_unit *ag_fleet_child (struct ag_house *house, uint64_t child);
//  Its process at the nursery from now on; 0: none.
void ag_unit_set_child (struct ag_fleet *fleet, struct ag_unit *unit, uint64_t child);
uint64_t ag_unit_restart (const struct ag_unit *unit, const char *key);
#endif
