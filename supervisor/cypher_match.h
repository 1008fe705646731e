/*  cypher_match - where in the graph a pattern is found, looked for from what an event touches.
 *
 *  A created object or relation, a patched object and the two ends of a removed relation are touched; of any other
 *  event what the texts of its payload name. A match that holds none of them may still have become true by a
 *  NOT EXISTS: from what is touched its chain is walked to the variables that it shares with the pattern. An event that
 *  names nothing, and one that changes something while a NOT EXISTS shares no variable, ask the whole graph.
 *  So the cost is that of the surroundings of what is touched, however large the graph is; and it is bounded.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_CYPHER_MATCH_H
#define AG_CYPHER_MATCH_H
#include "supervisor/cypher.h"
#include "supervisor/queue.h"

enum {
    AG_MATCH_READS = 20000,    //  things looked at, each once, and steps of walks
    AG_MATCH_BYTES = 64 << 20, //  of their data
    AG_MATCH_COUNT = 10000,    //  different matches
    AG_MATCH_SHOWN = 1000      //  of them kept
};

//  As the graph is at `reader->at`; what was looked at becomes a part of what the reader asked for. The matches are
//  `{0}` or those of before. AG_E_TOO_LARGE beyond the bounds, saying what narrows the pattern.
int ag_cypher_match (ag_journal_t *journal, struct ag_run *run, const struct ag_cypher *cypher,
                     const struct ag_event *event, struct ag_invocation *reader,
                     struct ag_matches *matches, struct ag_err *err);
#endif
