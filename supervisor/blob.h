/*  blob - what is too large or no text, out of a value and back into it.
 *
 *  In an event such a part stands as {blob, size, media}: the hash of the bytes in hex, how many they are,
 *  and text/plain or application/octet-stream. The bytes are stored once (record.h).
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_BLOB_H
#define AG_BLOB_H
#include "supervisor/record.h"

enum { AG_INLINE_BYTES = 64 << 10 };

//  Append a worker's value as a normal one: msgpack bin, text that is not UTF-8 and text over
//  AG_INLINE_BYTES become blobs of this batch. AG_E_BAD_VALUE, AG_E_TOO_LARGE.
int ag_blobs_out (ag_journal_t *journal, struct ag_str raw, struct ag_buf *out, struct ag_err *err);

//  Append the value with every blob's bytes in its place: text, or msgpack bin.
int ag_blobs_in (ag_journal_t *journal, struct ag_str value, struct ag_buf *out,
                 struct ag_err *err);
#endif
