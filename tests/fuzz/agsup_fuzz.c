/*  Any bytes as what a supervisor sent, before a program in C: whatever it looks for, it gets a value that lies
 *  within the bytes, or none.
 *  SPDX-License-Identifier: Apache-2.0
 */
#include "worker/libagsup/agsup.h"

#include <assert.h>
#include <string.h>

int LLVMFuzzerTestOneInput (const uint8_t *bytes, size_t n);

static void
check_within (struct agsup_value all, struct agsup_value part)
{
    const uint8_t *from = all.bytes, *p = part.bytes;
    assert (!part.size || (p >= from && p + part.size <= from + all.size));
}

static void
read_one (agsup_t *link, struct agsup_value value, const char *path)
{
    struct agsup_value found = agsup_find (value, path);
    check_within (value, found);
    int kind = agsup_kind (value, path);
    const char *text = agsup_text (link, value, path, NULL);
    assert (!text || (kind == AGSUP_TEXT && strlen (text) <= value.size));
    assert (kind == AGSUP_NUMBER || kind == AGSUP_BOOL || agsup_integer (value, path, 7) == 7);
    assert (kind == AGSUP_NUMBER || kind == AGSUP_BOOL || agsup_number (value, path, 7) == 7);
}

static void
walk (agsup_t *link, struct agsup_value value, int depth)
{
    struct agsup_value key, element;
    size_t elements = 0;
    for (struct agsup_walk at = {.of = value}; agsup_walk (&at, &key, &element);) {
        check_within (value, key);
        check_within (value, element);
        read_one (link, element, "");
        if (depth)
            walk (link, element, depth - 1);
        assert (++elements <= value.size);
    }
}

int
LLVMFuzzerTestOneInput (const uint8_t *bytes, size_t n)
{
    static const char *const paths[] = {
        "", "a", "0", "a.b", "objects.0.data", "a.999999999", ".", "..", "event.payload.text"};
    struct agsup_value value = {bytes, n};
    agsup_t *link = agsup_new();
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
        read_one (link, value, paths[i]);
    walk (link, value, 3);
    agsup_json (link, value);
    agsup_destroy (&link);
    return 0;
}
