/*  fleet - the units that are wanted, and their processes.
 *
 *  A unit is one host of a run or one service: at most one process at a time. States and their moves stand
 *  in states.def. Everything that happens to a unit is an event of the fleet's own run.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_FLEET_H
#define AG_FLEET_H
#include "supervisor/budget.h"
#include "supervisor/house.h"
#include "supervisor/output.h"
#include "supervisor/workers.h"

enum ag_unit_state {
#define STATE(NAME, name, doc) AG_UNIT_##NAME,
#define MOVE(state, what, next)
#include "schemas/states.def"
    AG_UNIT_STATES
};
const char *ag_unit_state_name (enum ag_unit_state state);

enum ag_unit_what {
    AG_WHAT_START,
    AG_WHAT_HELLO,
    AG_WHAT_TAKE,
    AG_WHAT_GIVE,
    AG_WHAT_IDLE,
    AG_WHAT_WAIT,
    AG_WHAT_DIED,
    AG_WHAT_GIVE_UP,
    AG_WHAT_STOP,
    AG_WHAT_END
};
//  Why the house ends a process; END_NONE: it did not, so its end is a death.
enum ag_ending { AG_END_NONE, AG_END_IDLE, AG_END_STOP, AG_END_RESTART, AG_END_DOWN, AG_END_HOUSE };
enum { AG_UNIT_NAME = 97, AG_UNIT_DEATHS = 64, AG_UNIT_REASON = 200, AG_WALL_SAID = 128 };

struct ag_unit {
    char name[AG_UNIT_NAME]; //  agent, label or run id (".program": second host), or the service
    uint64_t run;            //  0: a service
    bool fork, lacks;        //  of a run that is one; lacks: a wall that it must have
    bool exited, by_itself;  //  its process did, and nobody ended it
    uint64_t place;          //  run and host, by which it is found
    enum ag_unit_state state;
    bool wanted, due, inner;  //  inner: its process, a script host, reaches nobody but the house
    struct ag_replay *replay; //  hidden: it runs for a replay; NULL: it is the run's own
    struct ag_trial *trial;   //  it has one life, for this; NULL: it is no trial's
    bool dismissed, hears;    //  hears: it is the first host of a root run that hears others
    uint64_t deaf;            //  links of `hears` that do not deliver, by their places
    char nonce[AG_NONCE];     //  of the live process; empty: none
    uint64_t child;           //  id at the nursery; 0: none
    int32_t pid, exit_code, signal;
    uint32_t host, uid, layers, fired; //  fired: enum ag_fired
    int32_t refused[AG_LAYERS];
    enum ag_ending ending;
    char said[2][AG_WALL_SAID]; //  its word for landlock and seccomp, where it raises them itself
    char reason[AG_UNIT_REASON], remark[AG_UNIT_REASON];   //  remark: it runs, and something is off
    int64_t since_ms, next_try_ms, deaths[AG_UNIT_DEATHS]; //  monotonic; of the last deaths
    uint32_t death_count, restarts, delay_ms, failed;      //  failed: starts, one after the other
    char failure[AG_UNIT_REASON];                          //  of the last of them
    struct ag_session *session;
    ag_output_t *output;
    struct ag_buf spec;      //  the run's spec, or the service's configuration
    struct ag_budget budget; //  what the spec says of it
    char dir[128];           //  its private directory; empty: none
    struct ag_unit *next;
    UT_hash_handle by_place, by_child;
};

struct ag_fleet *ag_fleet_new (struct ag_house *house);
void ag_fleet_destroy (struct ag_fleet **self_p);

//  Read or append fleet.configured, make the runs of agents that have none, bring the units up.
//  path NULL: the configuration that was in force.
int ag_fleet_begin (struct ag_house *house, const char *path, struct ag_err *err);
//  Units of a run that has a spec (made when missing); the run's queue is touched.
int ag_fleet_adopt (struct ag_house *house, struct ag_run *run, bool wanted, struct ag_err *err);

struct ag_unit *ag_fleet_unit (struct ag_house *house, uint64_t run, uint32_t host);
struct ag_unit *ag_fleet_named (struct ag_house *house, struct ag_str name);
struct ag_unit *ag_fleet_by_nonce (struct ag_house *house, struct ag_str nonce);
struct ag_unit *ag_fleet_first (struct ag_house *house);

//  Drop the units of runs that exist no more (rolled back or not written), and ended, dismissed ones.
void ag_fleet_forget (struct ag_house *house);
//  A run was discarded: its units end, under its id since its label is free now, and start no more.
void ag_fleet_dismiss (struct ag_house *house, const struct ag_run *run);
//  There is something for this unit to do: its process is started if it may.
void ag_fleet_due (struct ag_house *house, uint64_t run, uint32_t host);
//  Move the state by the table.
void ag_unit_move (struct ag_house *house, struct ag_unit *unit, enum ag_unit_what what);
//  It said hello, or its readiness check passed.
void ag_unit_is_ready (struct ag_house *house, struct ag_unit *unit);
//  End a unit's process on purpose. grace_ms 0: at once.
void ag_unit_end (struct ag_house *house, struct ag_unit *unit, enum ag_ending why,
                  uint32_t grace_ms);
//  End it because of something it did or could not do: counts as a death. The first reason stands.
void ag_unit_kill (struct ag_house *house, struct ag_unit *unit, const char *format, ...)
    __attribute__ ((format (printf, 3, 4)));
//  Its process is being ended by ag_unit_kill: what it says now is nobody's news.
bool ag_unit_is_doomed (const struct ag_unit *unit);
//  An operator's wish, kept over restarts of everything.
int ag_fleet_want (struct ag_house *house, struct ag_unit *unit, bool wanted, struct ag_err *err);
//  Is the process pid the root of a tree, or somewhere in it?
bool ag_fleet_is_inside (int32_t pid, int32_t root);
//  What the nursery says; true while there may be more. news: waits until end_ms while a process is being made.
bool ag_fleet_nursery (void *house);
int64_t ag_fleet_news_end (void); //  half a second from now
bool ag_fleet_news (struct ag_house *house, int64_t end_ms);
//  Starts that are due, back-offs that ran out, idle processes; once a turn, and a turn comes each 200 ms at least.
void ag_fleet_tick (struct ag_house *house);
//  Processes that ended, whose end is on disk now: the nursery may forget them.
void ag_fleet_committed (struct ag_house *house);
//  Everything is to end, and has ended.
void ag_fleet_down (struct ag_house *house);
bool ag_fleet_is_down (struct ag_house *house);
//  Of the configuration in force: the uids that workers of a house of root may have, and its folder, borrowed.
void ag_fleet_uids (struct ag_house *house, uint64_t *first, uint64_t *last);
struct ag_str ag_fleet_base (struct ag_house *house);
#endif
