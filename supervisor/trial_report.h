/*  trial_report - a trial in memory, what its end comes to, and what is told of it.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_TRIAL_REPORT_H
#define AG_TRIAL_REPORT_H
#include "common/pack.h"
#include "supervisor/fleet.h"

enum ag_outcome {
    AG_OUTCOME_COMPLETED,
    AG_OUTCOME_SCENARIO_FAILED,
    AG_OUTCOME_LIMITS_EXCEEDED,
    AG_OUTCOME_MATERIALIZATION_FAILED,
    AG_OUTCOME_CRASHED
};
//  What ended a trial by itself; the first one stands, but for the wall clock.
enum ag_trial_net {
    AG_TRIAL_NONE,
    AG_TRIAL_WALL,
    AG_TRIAL_EVENTS,
    AG_TRIAL_MEMORY,
    AG_TRIAL_CPU,
    AG_TRIAL_FILE_SIZE
};
enum ag_trial_stage { AG_TRIAL_LOADING, AG_TRIAL_WORKING, AG_TRIAL_STOPPING, AG_TRIAL_OVER };
enum { AG_TRIAL_DETAIL = 500 };

struct ag_trial {
    struct ag_house *house;
    uint64_t run, parent;
    enum ag_trial_stage stage;
    uint64_t timer;  //  of the wall clock; 0: none
    int64_t told_ms; //  when it was told to stop
    struct ag_buf scenario;
    uint32_t step;          //  of the scenario, that comes next
    enum ag_trial_net net;  //  that the supervisor saw to
    enum ag_trial_net said; //  that the script host says it met
    bool unfit;             //  it did not come to registering as its manifests say
    bool refused;           //  a step of the scenario
    char detail[AG_TRIAL_DETAIL + 1];
    char hash[AG_PACK_HASH];
    struct ag_trial *next;
};

//  The first detail stands.
void ag_trial_say (struct ag_trial *self, const char *format, ...)
    __attribute__ ((format (printf, 2, 3)));
//  The net that fired: what the supervisor saw to, what the kernel did, what the script host met and ended with. And
//  what the trial came to; unit NULL: no process of it is known.
enum ag_trial_net ag_trial_fired (const struct ag_trial *self, const struct ag_unit *unit);
enum ag_outcome ag_trial_judge (const struct ag_trial *self, const struct ag_unit *unit);
//  Append {outcome, fork_run_id, events_appended, invocations, behavior_failures, exit_code, signal, net, detail,
//  stderr_tail, nets, layers, bundle_hash}. unit NULL: it came to none.
int ag_trial_write (struct ag_trial *self, struct ag_run *run, const struct ag_unit *unit,
                    struct ag_buf *out, struct ag_err *err);
//  The last 20 lines of a text, and of these the last 1,500 characters.
struct ag_str ag_trial_tail (struct ag_str text);
#endif
