//  SPDX-License-Identifier: Apache-2.0
#include "supervisor/key.h"

#include <assert.h>
#include <endian.h>
#include <string.h>

enum { VERSION = 1 };

static void
add (struct ag_key *key, const void *bytes, size_t n)
{
    assert (n <= AG_KEY_BYTES - key->n);
    if (n)
        memcpy (key->p + key->n, bytes, n);
    key->n += n;
}

static void
begin (struct ag_key *key, char kind)
{
    key->n = 2;
    key->p[0] = VERSION;
    key->p[1] = (uint8_t)kind;
}

static void
add_number (struct ag_key *key, uint64_t number)
{
    number = htobe64 (number);
    add (key, &number, sizeof number);
}

static void
add_name (struct ag_key *key, struct ag_str name)
{
    assert (name.n <= AG_NAME_BYTES);
    add (key, name.p, name.n);
    add (key, "", 1);
}

static void
begin_run (struct ag_key *key, char kind, uint64_t run)
{
    begin (key, kind);
    add_number (key, run);
}

struct ag_str
ag_key_str (const struct ag_key *key)
{
    return (struct ag_str){(const char *)key->p, key->n};
}

struct ag_key
ag_key_end (const struct ag_key *prefix)
{
    struct ag_key end = *prefix;
    while (end.p[end.n - 1] == 0xff)
        end.n--;
    end.p[end.n - 1]++;
    return end;
}

void
ag_key_next (struct ag_key *key)
{
    add (key, "", 1);
}

void
ag_key_journal (struct ag_key *key)
{
    begin (key, 'j');
}

void
ag_key_run (struct ag_key *key, uint64_t run)
{
    begin_run (key, 'r', run);
}

void
ag_key_making (struct ag_key *key, uint64_t run)
{
    begin_run (key, 'm', run);
}

void
ag_key_imports (struct ag_key *key)
{
    begin (key, 'i');
}

void
ag_key_import (struct ag_key *key, struct ag_str name)
{
    begin (key, 'i');
    add_name (key, name);
}

void
ag_key_import_runs (struct ag_key *key, struct ag_str name)
{
    begin (key, 'I');
    add_name (key, name);
}

void
ag_key_import_run (struct ag_key *key, struct ag_str name, struct ag_str origin)
{
    ag_key_import_runs (key, name);
    add_name (key, origin);
}

void
ag_key_head (struct ag_key *key, uint64_t run)
{
    begin_run (key, 'h', run);
}

void
ag_key_label (struct ag_key *key, struct ag_str label)
{
    begin (key, 'l');
    add_name (key, label);
}

void
ag_key_child (struct ag_key *key, uint64_t parent, uint64_t child)
{
    begin_run (key, 'c', parent);
    add_number (key, child);
}

void
ag_key_stream (struct ag_key *key, uint64_t last)
{
    begin_run (key, 's', last);
}

void
ag_key_checkpoint (struct ag_key *key, uint64_t run, uint64_t seq)
{
    begin_run (key, 'k', run);
    add_number (key, seq);
}

void
ag_key_typed (struct ag_key *key, uint64_t run, struct ag_str type, uint64_t seq)
{
    begin_run (key, 'y', run);
    add_name (key, type);
    add_number (key, seq);
}

void
ag_key_requests (struct ag_key *key)
{
    begin (key, 'q');
}

void
ag_key_request (struct ag_key *key, struct ag_str principal, struct ag_str id)
{
    begin (key, 'q');
    add_name (key, principal);
    add_name (key, id);
}

void
ag_key_notes (struct ag_key *key, uint64_t run, struct ag_str prefix)
{
    begin_run (key, 'n', run);
    add (key, prefix.p, prefix.n);
}

void
ag_key_note (struct ag_key *key, uint64_t run, struct ag_str name, uint64_t seq)
{
    begin_run (key, 'n', run);
    add_name (key, name);
    add_number (key, ~seq);
}

void
ag_key_count (struct ag_key *key, uint64_t run, struct ag_str name)
{
    begin_run (key, 'u', run);
    add_name (key, name);
}

void
ag_key_effect (struct ag_key *key, uint64_t run, const uint8_t hash[AG_HASH])
{
    begin_run (key, 'e', run);
    add (key, hash, AG_HASH);
}

void
ag_key_wrote (struct ag_key *key, uint64_t fork, int kind, struct ag_str id)
{
    begin_run (key, 'w', fork);
    add (key, &(char){(char)kind}, 1);
    add_name (key, id);
}

void
ag_key_promoted (struct ag_key *key, uint64_t fork)
{
    begin_run (key, 'p', fork);
}

void
ag_key_event (struct ag_key *key, uint64_t run, uint64_t seq)
{
    begin_run (key, 'v', run);
    add_number (key, seq);
}

void
ag_key_version (struct ag_key *key, uint64_t run, int kind, struct ag_str id, uint64_t seq)
{
    ag_key_tip (key, run, kind, id);
    add_number (key, ~seq);
}

void
ag_key_tips (struct ag_key *key, uint64_t run, int kind)
{
    begin_run (key, (char)kind, run);
}

void
ag_key_tip (struct ag_key *key, uint64_t run, int kind, struct ag_str id)
{
    begin_run (key, (char)kind, run);
    add_name (key, id);
}

void
ag_key_of_run (struct ag_key *key, char kind, uint64_t run)
{
    begin_run (key, kind, run);
}

void
ag_key_of_type (struct ag_key *key, bool live, uint64_t run, int kind, struct ag_str type)
{
    begin_run (key, live ? 't' : 'T', run);
    add (key, &(char){(char)kind}, 1);
    add_name (key, type);
}

void
ag_key_of_object (struct ag_key *key, bool live, uint64_t run, struct ag_str object)
{
    begin_run (key, live ? 'e' : 'E', run);
    add_name (key, object);
}

void
ag_key_add_id (struct ag_key *key, struct ag_str id)
{
    add_name (key, id);
}

void
ag_key_add_number (struct ag_key *key, uint64_t number)
{
    add_number (key, number);
}

void
ag_key_blob (struct ag_key *key, const uint8_t hash[AG_HASH], uint64_t chunk)
{
    begin (key, 'b');
    add (key, hash, AG_HASH);
    add_number (key, chunk);
}

void
ag_key_archived (struct ag_key *key, uint64_t run, uint64_t last)
{
    begin_run (key, 'a', run);
    add_number (key, last);
}

struct ag_str
ag_key_last (struct ag_str key, size_t prefix)
{
    assert (key.n > prefix);
    return (struct ag_str){key.p + prefix, strnlen (key.p + prefix, key.n - prefix)};
}

uint64_t
ag_key_last_number (struct ag_str key)
{
    assert (key.n >= 8);
    return ag_be64 (key.p + key.n - 8);
}
