/*  log - one line for people: level, words, key=value pairs, on stderr.
 *
 *  The log is for people, the event log of a run is for programs. Four levels; AGSUP_LOG (error, warn,
 *  info, debug) sets the lowest one that is printed, info unless set. A line is one write(2), bounded,
 *  with control characters escaped, so that lines of several processes do not mix.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_LOG_H
#define AG_LOG_H
#include "common/err.h"

enum ag_level { AG_ERROR, AG_WARN, AG_INFO, AG_DEBUG };

//  Name this process once, at the start of main; the string must live on.
void ag_log_name (const char *name);
void ag_log (enum ag_level level, const char *format, ...) __attribute__ ((format (printf, 2, 3)));
//  Log an error that this caller handles: "context: text" and the hint of its code.
void ag_log_err (enum ag_level level, const struct ag_err *err, const char *context);
#endif
