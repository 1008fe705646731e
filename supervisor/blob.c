//  SPDX-License-Identifier: Apache-2.0
#include "supervisor/blob.h"

#include <string.h>

static void
put_reference (struct ag_buf *out, const uint8_t hash[AG_HASH], size_t size, bool text)
{
    char hex[2 * AG_HASH + 1];
    ag_hex (hash, AG_HASH, hex);
    ag_put_map (out, 3);
    ag_put_lit (out, "blob");
    ag_put_lit (out, hex);
    ag_put_lit (out, "size");
    ag_put_uint (out, size);
    ag_put_lit (out, "media");
    ag_put_lit (out, text ? "text/plain" : "application/octet-stream");
}

static int
put_bytes (ag_journal_t *journal, struct ag_str bytes, struct ag_buf *out, struct ag_err *err)
{
    uint8_t hash[AG_HASH];
    bool text = ag_utf8 (bytes);
    if (text && bytes.n <= AG_INLINE_BYTES) {
        ag_put_text (out, bytes);
        return 0;
    }
    if (ag_blob_put (journal, bytes, hash, err))
        return -1;
    put_reference (out, hash, bytes.n, text);
    return 0;
}

static int move_out (ag_journal_t *journal, struct ag_cursor *in, int depth, struct ag_buf *out,
                     struct ag_err *err);

static int
move_parts (ag_journal_t *journal, struct ag_cursor *in, const struct ag_head *head, int depth,
            struct ag_buf *out, struct ag_err *err)
{
    struct ag_head key;
    for (uint32_t i = 0; i < head->count; i++) {
        if (head->kind == AG_MAP) {
            if (ag_next (in, &key) || key.kind != AG_TEXT)
                return ag_fail (err, AG_E_BAD_VALUE, "a key of a map is no text");
            ag_put_text (out, key.s);
        }
        if (move_out (journal, in, depth + 1, out, err))
            return -1;
    }
    return 0;
}

static int
move_out (ag_journal_t *journal, struct ag_cursor *in, int depth, struct ag_buf *out,
          struct ag_err *err)
{
    struct ag_cursor before = *in;
    struct ag_head head;
    struct ag_str whole;
    if (depth > AG_DEPTH || ag_next (in, &head))
        return ag_fail (err, AG_E_BAD_VALUE, "not a value of at most %d levels", AG_DEPTH);
    switch (head.kind) {
    case AG_TEXT:
    case AG_BYTES:
        return put_bytes (journal, head.s, out, err);
    case AG_LIST:
        ag_put_list (out, head.count);
        return move_parts (journal, in, &head, depth, out, err);
    case AG_MAP:
        ag_put_map (out, head.count);
        return move_parts (journal, in, &head, depth, out, err);
    default:
        if (ag_take (&before, &whole))
            return ag_fail (err, AG_E_BAD_VALUE, "a malformed number");
        ag_put_value (out, whole);
        return 0;
    }
}

int
ag_blobs_out (ag_journal_t *journal, struct ag_str raw, struct ag_buf *out, struct ag_err *err)
{
    struct ag_buf moved = {0};
    struct ag_cursor in = ag_cursor (raw);
    int rc = move_out (journal, &in, 1, &moved, err);
    if (!rc && in.p != in.end)
        rc = ag_fail (err, AG_E_BAD_VALUE, "bytes after the end of a value");
    if (!rc)
        rc = ag_value_normalise (ag_buf_str (&moved), out, err);
    ag_buf_fini (&moved);
    return rc;
}

static int
nibble (char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

//  Exactly the map that put_reference writes.
static bool
is_reference (struct ag_str map, uint8_t hash[AG_HASH], bool *text)
{
    struct ag_cursor in = ag_cursor (map);
    struct ag_head head;
    struct ag_str hex, media;
    uint64_t size;
    if (ag_next (&in, &head) || head.kind != AG_MAP || head.count != 3 ||
        ag_map_text (map, "blob", &hex) || ag_map_uint (map, "size", &size) ||
        ag_map_text (map, "media", &media) || hex.n != 2 * AG_HASH)
        return false;
    for (size_t i = 0; i < AG_HASH; i++) {
        int high = nibble (hex.p[2 * i]), low = nibble (hex.p[2 * i + 1]);
        if (high < 0 || low < 0)
            return false;
        hash[i] = (uint8_t)(high << 4 | low);
    }
    *text = ag_str_is (media, "text/plain");
    return true;
}

static int
put_blob (ag_journal_t *journal, const uint8_t hash[AG_HASH], bool text, struct ag_str reference,
          struct ag_buf *out, struct ag_err *err)
{
    struct ag_buf bytes = {0};
    int rc = ag_blob_get (journal, hash, &bytes, err);
    if (rc > 0 && text)
        ag_put_text (out, ag_buf_str (&bytes));
    else if (rc > 0)
        ag_put_bytes (out, ag_buf_str (&bytes));
    else if (rc == 0) //  a map that only looks like one
        ag_put_value (out, reference);
    ag_buf_fini (&bytes);
    return rc < 0 ? -1 : 0;
}

int
ag_blobs_in (ag_journal_t *journal, struct ag_str value, struct ag_buf *out, struct ag_err *err)
{
    struct ag_cursor in = ag_cursor (value);
    struct ag_head head;
    struct ag_str part, key;
    uint8_t hash[AG_HASH];
    bool text;
    if (is_reference (value, hash, &text))
        return put_blob (journal, hash, text, value, out, err);
    if (ag_next (&in, &head) || (head.kind != AG_LIST && head.kind != AG_MAP)) {
        ag_put_value (out, value);
        return 0;
    }
    if (head.kind == AG_LIST)
        ag_put_list (out, head.count);
    else
        ag_put_map (out, head.count);
    for (uint32_t i = 0; i < head.count; i++) {
        if (head.kind == AG_MAP && !ag_take (&in, &key))
            ag_put_value (out, key);
        if (ag_take (&in, &part) || ag_blobs_in (journal, part, out, err))
            return -1;
    }
    return 0;
}
