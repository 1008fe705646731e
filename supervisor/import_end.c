//  How an import ends: its runs are shown, or taken away.
//  SPDX-License-Identifier: Apache-2.0
#include "supervisor/import_impl.h"
#include "supervisor/event.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DROPPED = 20000 }; //  keys that one step takes away

/*  The session  */

int
ag_import_read (ag_journal_t *journal, struct ag_str name, struct ag_import *import,
                struct ag_err *err)
{
    struct ag_key key;
    struct ag_buf value = {0};
    ag_key_import (&key, name);
    *import = (struct ag_import){0};
    int rc = ag_batch_get (ag_journal_batch (journal), AG_META, ag_key_str (&key), &value, err);
    if (rc > 0)
        *import = (struct ag_import){.pages = ag_be64 (value.p),
                                     .runs = ag_be64 (value.p + 8),
                                     .events = ag_be64 (value.p + 16),
                                     .run = ag_be64 (value.p + 24)};
    ag_buf_fini (&value);
    return rc;
}

void
ag_import_write (ag_journal_t *journal, struct ag_str name, const struct ag_import *import)
{
    struct ag_key key;
    struct ag_buf value = {0};
    ag_key_import (&key, name);
    ag_buf_be64 (&value, import->pages);
    ag_buf_be64 (&value, import->runs);
    ag_buf_be64 (&value, import->events);
    ag_buf_be64 (&value, import->run);
    ag_batch_put (ag_journal_batch (journal), AG_META, ag_key_str (&key), ag_buf_str (&value));
    ag_buf_fini (&value);
}

static void
forget (ag_journal_t *journal, const struct ag_key *key)
{
    ag_batch_delete (ag_journal_batch (journal), AG_META, ag_key_str (key));
}

/*  Showing  */

struct wanted {
    uint64_t number;
    char label[AG_NAME_BYTES + 1]; //  of any length up to this; longer ones can be none
};

static int
by_number (const void *a, const void *b)
{
    const struct wanted *x = a, *y = b;
    return (x->number > y->number) - (x->number < y->number);
}

//  Every run of the import with the label it came with, oldest first.
static int
list_runs (ag_journal_t *journal, struct ag_str name, struct wanted *list, uint64_t room,
           uint64_t *count, struct ag_err *err)
{
    struct ag_key from;
    struct ag_str key, value;
    ag_key_import_runs (&from, name);
    struct ag_key to = ag_key_end (&from);
    ag_view_t *view =
        ag_batch_scan (ag_journal_batch (journal), AG_META, ag_key_str (&from), ag_key_str (&to));
    int rc = 0;
    *count = 0;
    while (*count < room && (rc = ag_view_next (view, &key, &value, err)) > 0) {
        struct wanted *one = &list[(*count)++];
        size_t n = value.n - 8 <= AG_NAME_BYTES ? value.n - 8 : AG_NAME_BYTES;
        one->number = ag_be64 (value.p);
        memcpy (one->label, value.p + 8, n);
    }
    ag_view_destroy (&view);
    qsort (list, *count, sizeof *list, by_number);
    return rc < 0 ? -1 : 0;
}

struct ending {
    ag_journal_t *journal;
    struct ag_str label;
    ag_label_fn *check;
    void *arg;
    struct ag_buf *out;
};

//  The label that a run is to have: its own, or made from the one that was asked for.
static struct ag_str
label_of (const struct ending *self, const struct wanted *one, uint64_t place, char room[128])
{
    if (!self->label.n)
        return ag_str (one->label);
    if (place == 1)
        return self->label;
    snprintf (room, 128, "%.*s-%" PRIu64, AG_STR_ARG (self->label), place);
    return ag_str (room);
}

//  A label that cannot be had here costs no history: the run has none, and the answer says why.
static int
show (struct ending *self, struct ag_run *run, struct ag_str label, struct ag_err *refused)
{
    if (label.n && (!self->check || !self->check (self->arg, label, refused)) &&
        !ag_run_show (self->journal, run, label, refused))
        return 0;
    if (label.n && refused->code != AG_E_EXISTS && refused->code != AG_E_USAGE)
        return -1;
    return ag_run_show (self->journal, run, (struct ag_str){0}, refused);
}

static void
put_text_or_null (struct ag_buf *out, const char *key, const char *text)
{
    ag_put_lit (out, key);
    if (text && text[0])
        ag_put_lit (out, text);
    else
        ag_put_null (out);
}

static void
put_shown (struct ag_buf *out, const struct ag_run *run, const char *refused)
{
    ag_put_map (out, 7);
    put_text_or_null (out, "run_id", run->id);
    put_text_or_null (out, "label", run->label);
    put_text_or_null (out, "parent_run_id", run->above ? run->above->id : NULL);
    ag_put_lit (out, "forked_at_event");
    ag_put_evt (out, run->cut);
    put_text_or_null (out, "origin", run->origin);
    ag_put_lit (out, "events");
    ag_put_uint (out, run->head.tip);
    put_text_or_null (out, "refused", refused);
}

static int
show_all (struct ending *self, const struct wanted *list, uint64_t count, struct ag_err *err)
{
    for (uint64_t i = 0; i < count; i++) {
        char room[128];
        struct ag_run *run;
        struct ag_err refused = {0};
        struct ag_str label = label_of (self, &list[i], i + 1, room);
        if (ag_run_get (self->journal, list[i].number, &run, err))
            return -1;
        if (show (self, run, label, &refused)) {
            *err = refused;
            return -1;
        }
        put_shown (self->out, run, refused.text);
    }
    return 0;
}

static void
forget_all (ag_journal_t *journal, struct ag_str name, const struct wanted *list, uint64_t count)
{
    struct ag_key key;
    struct ag_err ignored;
    struct ag_run *run;
    for (uint64_t i = 0; i < count; i++)
        if (!ag_run_get (journal, list[i].number, &run, &ignored)) {
            ag_key_import_run (&key, name, ag_str (run->origin));
            forget (journal, &key);
        }
    ag_key_import (&key, name);
    forget (journal, &key);
}

int
ag_import_end (ag_journal_t *journal, struct ag_str name, struct ag_str label, ag_label_fn *check,
               void *arg, struct ag_buf *out, struct ag_err *err)
{
    struct ag_import import;
    struct ending self = {journal, label, check, arg, out};
    uint64_t count;
    int rc = ag_import_read (journal, name, &import, err);
    if (rc == 0 || (rc > 0 && !import.runs))
        return ag_fail (err, AG_E_NOT_FOUND, "nothing of an import %.*s was taken in",
                        AG_STR_ARG (name));
    if (rc < 0)
        return -1;
    struct wanted *list = ag_xcalloc (import.runs, sizeof *list);
    rc = list_runs (journal, name, list, import.runs, &count, err);
    ag_put_map (out, 1);
    ag_put_lit (out, "runs");
    ag_put_list (out, (uint32_t)count);
    if (!rc)
        rc = show_all (&self, list, count, err);
    if (!rc)
        forget_all (journal, name, list, count);
    free (list);
    return rc;
}

/*  Dropping  */

//  Take away at most `room` keys with a prefix; how many, or -1.
static int64_t
drop_keys (ag_journal_t *journal, enum ag_table table, const struct ag_key *from, size_t room,
           struct ag_err *err)
{
    struct ag_buf keys = {0};
    struct ag_str key, value;
    struct ag_head head;
    struct ag_key to = ag_key_end (from);
    ag_view_t *view =
        ag_batch_scan (ag_journal_batch (journal), table, ag_key_str (from), ag_key_str (&to));
    size_t count = 0;
    int rc = 0;
    for (; count < room && (rc = ag_view_next (view, &key, &value, err)) > 0; count++)
        ag_put_bytes (&keys, key);
    ag_view_destroy (&view);
    struct ag_cursor in = ag_cursor (ag_buf_str (&keys));
    while (!ag_next (&in, &head))
        ag_batch_delete (ag_journal_batch (journal), table, head.s);
    ag_buf_fini (&keys);
    return rc < 0 ? -1 : (int64_t)count;
}

//  Everything that a hidden run can have written, its record last.
static int
drop_run (ag_journal_t *journal, uint64_t run, size_t *room, struct ag_err *err)
{
    static const struct {
        enum ag_table table;
        char kind;
    } rows[] = {{AG_EVENT, 'v'}, {AG_VERSION, 'o'}, {AG_VERSION, 'r'}, {AG_TIP, 'o'},
                {AG_TIP, 'r'},   {AG_INDEX, 't'},   {AG_INDEX, 'T'},   {AG_INDEX, 'e'},
                {AG_INDEX, 'E'}, {AG_META, 'k'},    {AG_META, 'y'},    {AG_META, 'h'},
                {AG_META, 'm'}};
    for (size_t i = 0; *room && i < sizeof rows / sizeof *rows; i++) {
        struct ag_key from;
        ag_key_of_run (&from, rows[i].kind, run);
        int64_t count = drop_keys (journal, rows[i].table, &from, *room, err);
        if (count < 0)
            return -1;
        *room -= (size_t)count;
    }
    return 0;
}

//  The next run of the import that is still there: 1 with its number and its key, 0, -1.
static int
next_run (ag_journal_t *journal, struct ag_str name, struct ag_key *found, uint64_t *number,
          struct ag_err *err)
{
    struct ag_key from;
    struct ag_str key, value;
    ag_key_import_runs (&from, name);
    struct ag_key to = ag_key_end (&from);
    ag_view_t *view =
        ag_batch_scan (ag_journal_batch (journal), AG_META, ag_key_str (&from), ag_key_str (&to));
    int rc = ag_view_next (view, &key, &value, err);
    if (rc > 0) {
        *number = ag_be64 (value.p);
        found->n = key.n;
        memcpy (found->p, key.p, key.n);
    }
    ag_view_destroy (&view);
    return rc;
}

//  The answers to its pages: under the same name another file may come.
static void
drop_answers (ag_journal_t *journal, struct ag_str name, uint64_t pages)
{
    struct ag_key key;
    char id[AG_IMPORT_NAME + 24];
    for (uint64_t page = 1; page <= pages; page++) {
        snprintf (id, sizeof id, "%.*s/%" PRIu64, AG_STR_ARG (name), page);
        ag_key_request (&key, AG_LIT ("operator"), ag_str (id));
        forget (journal, &key);
    }
}

int
ag_import_drop (ag_journal_t *journal, struct ag_str name, struct ag_err *err)
{
    struct ag_import import;
    struct ag_key key;
    size_t room = DROPPED;
    uint64_t number;
    int rc = 0;
    while (room && (rc = next_run (journal, name, &key, &number, err)) > 0) {
        if (drop_run (journal, number, &room, err))
            return -1;
        if (room)
            forget (journal, &key);
    }
    if (!room || rc < 0)
        return room ? -1 : 1;
    if (ag_import_read (journal, name, &import, err) < 0)
        return -1;
    drop_answers (journal, name, import.pages);
    ag_key_import (&key, name);
    forget (journal, &key);
    return 0;
}

//  The name of any import: 1, 0, -1.
static int
any_import (ag_journal_t *journal, char name[AG_IMPORT_NAME + 1], struct ag_err *err)
{
    struct ag_key from;
    struct ag_str key, value;
    ag_key_imports (&from);
    struct ag_key to = ag_key_end (&from);
    ag_view_t *view =
        ag_batch_scan (ag_journal_batch (journal), AG_META, ag_key_str (&from), ag_key_str (&to));
    int rc = ag_view_next (view, &key, &value, err);
    if (rc > 0)
        snprintf (name, AG_IMPORT_NAME + 1, "%.*s", AG_STR_ARG (ag_key_last (key, from.n)));
    ag_view_destroy (&view);
    return rc;
}

int
ag_import_sweep (ag_journal_t *journal, struct ag_err *err)
{
    char name[AG_IMPORT_NAME + 1];
    int rc;
    while ((rc = any_import (journal, name, err)) > 0)
        if (ag_import_drop (journal, ag_str (name), err) < 0 || ag_journal_commit (journal, err))
            return -1;
    return rc;
}
