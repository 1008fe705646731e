/*  json - values to JSON text and back; JSON exists only at the edges.
 *
 *  Our own reader, because neither library of the distribution reads what a value can hold: jansson
 *  refuses integers from 2^63 on, json-c lets the last of two equal keys win in silence. jansson is the
 *  oracle in the tests.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_JSON_H
#define AG_JSON_H
#include "common/value.h"

//  Read one JSON text (RFC 8259) into out as one normal value. Refused with line and column: anything
//  that follows it, duplicate keys, lone surrogates, invalid UTF-8, integers outside -2^63..2^64-1,
//  numbers that are not finite as a double, depth over AG_DEPTH_WRAPPED (a line of an export wraps a
//  value). 1 is an integer, 1.0 and 1e0 are floats. AG_E_BAD_VALUE, or AG_E_TOO_LARGE
//  over 1 GiB; on failure out is as it was.
//  Both ways need the decimal point of the "C" locale: a program leaves LC_NUMERIC alone.
int ag_json_read (struct ag_str text, struct ag_buf *out, struct ag_err *err);
//  The same of a line of a file, by whose number it is refused.
int ag_json_read_line (struct ag_str text, uint64_t line, struct ag_buf *out, struct ag_err *err);

//  Read a template: JSON in which a text may also stand in single quotes, and `%` where a value or a key may stand.
//  What stands there is the hole's to append to out, one whole value; it moves *p, which is behind the %, behind what
//  it understood. Where it fails its text is what the template is refused with.
typedef int ag_json_hole_fn (void *arg, const char **p, const char *end, struct ag_buf *out,
                             struct ag_err *err);
int ag_json_fill (struct ag_str form, ag_json_hole_fn *hole, void *arg, struct ag_buf *out,
                  struct ag_err *err);

enum ag_json_style { AG_JSON_LINE, AG_JSON_PRETTY };

//  Append value, as ag_take accepts it, as JSON text: key order kept, non-ASCII as UTF-8, control
//  characters escaped, floats in the shortest form that reads back equal and always with a point or
//  exponent. What no value holds and a message may: msgpack bin as text when it is UTF-8, else hex; a
//  key that is no text as the hex of its bytes; NaN and infinities as null.
void ag_json_write (struct ag_str value, enum ag_json_style style, struct ag_buf *out);
#endif
