/*  value - what JSON can say, held as msgpack: reading, checking, writing, comparing.
 *
 *  A value is null, bool, an integer from -2^63 to 2^64-1, a finite double, UTF-8 text, a list or a map
 *  with unique text keys, at most AG_DEPTH levels deep. Stored bytes are normal: shortest msgpack forms,
 *  floats as float64, key order kept. A value is passed around as `struct ag_str`, the bytes of exactly
 *  one msgpack value; whoever made the bytes owns them.
 *
 *  Reading goes through a bounded cursor: it never allocates, never reads past the end, and a length
 *  that the remaining bytes cannot hold is an error before anything is done with it.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_VALUE_H
#define AG_VALUE_H
#include "common/buf.h"
#include "common/err.h"
#include "common/hash.h"

//  A message or an envelope wraps values: what is read whole may be a few levels deeper than a value.
enum { AG_DEPTH = 64, AG_DEPTH_WRAPPED = AG_DEPTH + 8 };

enum ag_kind { AG_NULL, AG_BOOL, AG_INT, AG_UINT, AG_FLOAT, AG_TEXT, AG_BYTES, AG_LIST, AG_MAP };

//  One head: a scalar whole, text and bytes as a borrow, of a list or map the number of elements or
//  pairs, which follow. AG_INT is below zero; every integer from zero on is AG_UINT.
struct ag_head {
    enum ag_kind kind;
    union {
        bool b;
        int64_t i;
        uint64_t u;
        double f;
        struct ag_str s;
        uint32_t count;
    };
};

struct ag_cursor {
    const uint8_t *p, *end;
};

struct ag_cursor ag_cursor (struct ag_str bytes);

//  Next head; -1 at the end, on a truncated or unknown form, or on a count that cannot fit. On -1 the
//  cursor stands where it stood.
int ag_next (struct ag_cursor *in, struct ag_head *head);
//  Next whole value (a list or map with all it holds) as a borrow; at most AG_DEPTH_WRAPPED levels deep.
int ag_take (struct ag_cursor *in, struct ag_str *value);

//  The value of a key of a map, as a borrow: 0, or -1 when map is no map, is malformed before the key,
//  or has no such key. Linear; maps are small. path: dotted ("payload.object.id"); reaches no list elements.
int ag_map_get (struct ag_str map, const char *key, struct ag_str *value);
int ag_map_find (struct ag_str map, struct ag_str key, struct ag_str *value);
int ag_map_path (struct ag_str map, struct ag_str path, struct ag_str *value);
//  Conveniences: -1 also when the value is of another kind.
int ag_map_text (struct ag_str map, const char *key, struct ag_str *text);
int ag_map_uint (struct ag_str map, const char *key, uint64_t *number);
int ag_map_bool (struct ag_str map, const char *key, bool *yes);
//  The n-th element of a list, from 0, as a borrow; -1 past its end, and when it is no list.
int ag_list_nth (struct ag_str list, uint32_t n, struct ag_str *element);
//  Whether a key of a map holds this text; the first map of a list where it does, as a borrow: 0, or -1.
bool ag_map_text_is (struct ag_str map, const char *key, struct ag_str text);
int ag_list_find (struct ag_str list, const char *key, struct ag_str text, struct ag_str *element);

//  The texts of the list that a key of a map holds, one after the other; ends at what is no text. No such
//  list is an empty one.
//      for (struct ag_texts files = ag_texts_of (map, "files"); ag_texts_next (&files, &file);)
struct ag_texts {
    struct ag_cursor in;
    uint32_t left;
};
struct ag_texts ag_texts_of (struct ag_str map, const char *key);
bool ag_texts_next (struct ag_texts *self, struct ag_str *text);
//  AG_NULL also where there is no value at all.
enum ag_kind ag_kind_of (struct ag_str value);

//  Check bytes that came from outside and append their normal form to out. Everything the definition
//  above refuses is refused, naming the path of the first offence and what it is: NaN, infinities,
//  invalid UTF-8, keys that are no text or occur twice, depth, ext types, msgpack bin, bytes after the
//  end. AG_E_BAD_VALUE; on failure out is as it was.
int ag_value_normalise (struct ag_str bytes, struct ag_buf *out, struct ag_err *err);

//  Equality and hash are of normal values; whatever ag_take accepts does no harm. Equal are maps regardless of order,
//  and an integer and a double of the same number (2^53+1 is not 2^53); -0.0 equals 0; a bool is not a number.
bool ag_value_equal (struct ag_str a, struct ag_str b);
//  Order: of two numbers, or of two texts by bytes; false for any other pair.
bool ag_value_order (struct ag_str a, struct ag_str b, int *order);

//  Hash that is equal when values are equal: keys sorted by bytes, integral doubles as integers.
//  Where blind is not empty, each occurrence of it in any text or key counts as a placeholder
//  (replay keys are blind to a fork's own tag). BLAKE2b-256.
void ag_value_hash (struct ag_str value, struct ag_str blind, uint8_t hash[AG_HASH]);

//  Valid UTF-8 without surrogates and overlong forms.
bool ag_utf8 (struct ag_str text);

//  Writers: append one head or scalar in the shortest form to out.
void ag_put_null (struct ag_buf *out);
void ag_put_bool (struct ag_buf *out, bool b);
void ag_put_int (struct ag_buf *out, int64_t i);
void ag_put_uint (struct ag_buf *out, uint64_t u);
void ag_put_float (struct ag_buf *out, double f);
void ag_put_text (struct ag_buf *out, struct ag_str s);
void ag_put_lit (struct ag_buf *out, const char *text);
void ag_put_bytes (struct ag_buf *out, struct ag_str s); //  msgpack bin: on the wire alone
void ag_put_list (struct ag_buf *out, uint32_t count);
void ag_put_map (struct ag_buf *out, uint32_t pairs);
void ag_put_value (struct ag_buf *out, struct ag_str value); //  as it is
void ag_put_textf (struct ag_buf *out, const char *format, ...)
    __attribute__ ((format (printf, 2, 3)));
//  A key and what it names; or_null: null for a text without p.
void ag_put_pair_text (struct ag_buf *out, const char *key, struct ag_str text);
void ag_put_pair_or_null (struct ag_buf *out, const char *key, struct ag_str text);
void ag_put_pair_value (struct ag_buf *out, const char *key, struct ag_str value);
void ag_put_pair_uint (struct ag_buf *out, const char *key, uint64_t number);

//  A list or map of a size known at its end: open reserves a head (32 bits; normalise shortens it), close fills it in.
size_t ag_open_list (struct ag_buf *out);
size_t ag_open_map (struct ag_buf *out);
void ag_close (struct ag_buf *out, size_t at, uint32_t count);
#endif
