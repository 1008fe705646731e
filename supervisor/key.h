/*  key - how every key of the store is composed; the one file that knows.
 *
 *  A key starts with a version byte and a kind byte. Numbers are big-endian, an id is followed by a zero
 *  byte (no id holds one), so byte order is the order of what the keys say. A sequence is stored inverted
 *  where the newest has to come first.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_KEY_H
#define AG_KEY_H
#include "common/hash.h"
#include "supervisor/store.h"

enum { AG_KEY_BYTES = 560, AG_NAME_BYTES = 256 }; //  two names of AG_NAME_BYTES fit in a key

struct ag_key {
    size_t n;
    uint8_t p[AG_KEY_BYTES];
};

//  Borrows from the key.
struct ag_str ag_key_str (const struct ag_key *key);
//  The end of the range of all keys that begin so.
struct ag_key ag_key_end (const struct ag_key *prefix);
//  The first key after this one.
void ag_key_next (struct ag_key *key);

//  META
void ag_key_journal (struct ag_key *key);
void ag_key_run (struct ag_key *key, uint64_t run);
void ag_key_making (struct ag_key *key, uint64_t run);
//  An import, and a run of it by its origin; all runs of it begin like that of no origin without its end.
void ag_key_import (struct ag_key *key, struct ag_str name);
void ag_key_imports (struct ag_key *key);
void ag_key_import_runs (struct ag_key *key, struct ag_str name);
void ag_key_import_run (struct ag_key *key, struct ag_str name, struct ag_str origin);
void ag_key_head (struct ag_key *key, uint64_t run);
void ag_key_label (struct ag_key *key, struct ag_str label);
void ag_key_child (struct ag_key *key, uint64_t parent, uint64_t child);
void ag_key_stream (struct ag_key *key, uint64_t last);
void ag_key_checkpoint (struct ag_key *key, uint64_t run, uint64_t seq);
void ag_key_typed (struct ag_key *key, uint64_t run, struct ag_str type, uint64_t seq);
void ag_key_requests (struct ag_key *key);
void ag_key_request (struct ag_key *key, struct ag_str principal, struct ag_str id);
void ag_key_notes (struct ag_key *key, uint64_t run, struct ag_str prefix);
void ag_key_note (struct ag_key *key, uint64_t run, struct ag_str name, uint64_t seq);
void ag_key_count (struct ag_key *key, uint64_t run, struct ag_str name);
void ag_key_effect (struct ag_key *key, uint64_t run, const uint8_t hash[AG_HASH]);
void ag_key_wrote (struct ag_key *key, uint64_t fork, int kind, struct ag_str id);
void ag_key_promoted (struct ag_key *key, uint64_t fork);

//  EVENT, VERSION, TIP
void ag_key_event (struct ag_key *key, uint64_t run, uint64_t seq);
void ag_key_version (struct ag_key *key, uint64_t run, int kind, struct ag_str id, uint64_t seq);
void ag_key_tips (struct ag_key *key, uint64_t run, int kind);
void ag_key_tip (struct ag_key *key, uint64_t run, int kind, struct ag_str id);

//  All keys of a run that begin with this kind byte.
void ag_key_of_run (struct ag_key *key, char kind, uint64_t run);

//  INDEX: ids by type, relations by the object they touch; of live things, or of removed ones.
void ag_key_of_type (struct ag_key *key, bool live, uint64_t run, int kind, struct ag_str type);
void ag_key_of_object (struct ag_key *key, bool live, uint64_t run, struct ag_str object);
//  Adds the id to either; what a scan finds there is read back by `ag_key_last`. A number behind it tells
//  apart what had the same id.
void ag_key_add_id (struct ag_key *key, struct ag_str id);
void ag_key_add_number (struct ag_key *key, uint64_t number);

//  BLOB: a piece of a blob; a chunk of events of a run, by its last event
void ag_key_blob (struct ag_key *key, const uint8_t hash[AG_HASH], uint64_t chunk);
void ag_key_archived (struct ag_key *key, uint64_t run, uint64_t last);

//  The id, up to its zero byte, that follows the first `prefix` bytes of a key that was found.
struct ag_str ag_key_last (struct ag_str key, size_t prefix);
//  The number at the end of a key that was found.
uint64_t ag_key_last_number (struct ag_str key);
#endif
