/*  units - time spans, sizes and names as people write them.
 *
 *  A number and its unit, nothing between or around them: "250ms", "2m", "256MiB". 0 needs no unit.
 *  Each reader gives 0, or -1 for any other form and for what does not fit in 63 bits.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_UNITS_H
#define AG_UNITS_H
#include "common/buf.h"

//  Units ms, s, m, h, d; whole milliseconds.
int ag_ms_read (struct ag_str text, uint64_t *ms);
//  Units B, kB, MB, GB, TB (thousands), KiB, MiB, GiB, TiB (1024); bytes.
int ag_bytes_read (struct ag_str text, uint64_t *bytes);

//  Dollars as a decimal text without sign or exponent, "0.0125", into millionths; what is finer is rounded up.
int ag_usd_read (struct ag_str text, uint64_t *micros);
enum { AG_USD_TEXT = 28 }; //  with a NUL
void ag_usd_text (uint64_t micros, char text[AG_USD_TEXT]);

//  "FIRST-LAST", two numbers in order.
int ag_span_read (struct ag_str text, uint64_t *first, uint64_t *last);

//  r and a base32 number with a digit. A number without one is a word too: as long as it is the name of a run, no
//  run is made with this id.
bool ag_looks_like_run (struct ag_str text);

//  A name of an agent or service: a lower-case letter, then at most 62 of a-z, 0-9, _ and -. NULL when it is
//  one, else what is wrong with it: "is ...". What looks like the id of a run is wrong too, because commands
//  take both.
const char *ag_name_wrong (struct ag_str text);
#endif
