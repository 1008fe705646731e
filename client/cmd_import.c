//  What moves runs between stores: import and export.
//  SPDX-License-Identifier: Apache-2.0
#include "client/feed.h"
#include "client/lines.h"
#include "client/print.h"
#include "client/sqlite.h"
#include "common/json.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/*  Import  */

enum { SHOWN_EACH = 1000 };

static int
take_line (struct ag_feed *feed, uint64_t number, struct ag_str line, struct ag_err *err)
{
    struct ag_buf value = {0};
    int rc = ag_json_read_line (line, number, &value, err);
    if (rc)
        ag_wrap (err, number > 1 ? "%s" : "%s is no export, which is a JSON object a line",
                 feed->file);
    else
        rc = ag_feed_line (feed, number, ag_buf_str (&value), err);
    ag_buf_fini (&value);
    return rc;
}

static int
feed_lines (struct ag_feed *feed, struct ag_lines *lines, struct ag_err *err)
{
    struct ag_str line;
    int rc;
    while ((rc = ag_lines_next (lines, &line, err)) > 0) {
        if ((rc = take_line (feed, lines->number, line, err)))
            break;
        if (lines->number % SHOWN_EACH == 0)
            ag_client_progress (feed->client, "%" PRIu64 " lines", lines->number);
    }
    ag_client_progress (feed->client, NULL);
    return rc;
}

static int
feed_file (struct ag_feed *feed, const char *file, struct ag_err *err)
{
    struct ag_lines lines;
    if (strcmp (file, "-") && ag_sqlite_is (file))
        return ag_sqlite_feed (feed, file, err);
    if (ag_lines_open (&lines, feed->client, file, err))
        return -1;
    int rc = feed_lines (feed, &lines, err);
    ag_lines_close (&lines);
    return rc;
}

//  A run a line: id, what it is called, how long it is, where it came from.
static void
print_runs (const struct ag_client *self, struct ag_str answer)
{
    struct ag_str run;
    for (struct ag_items items = ag_items (answer, "runs"); ag_items_next (&items, &run);) {
        struct ag_str refused = ag_pick_text (run, "refused");
        ag_look_text (stdout, ag_pick_text (run, "run_id"));
        fputc ('\n', stdout);
        if (refused.n)
            ag_client_remark (self, "run %.*s is without its label: %.*s",
                              AG_STR_ARG (ag_pick_text (run, "run_id")), AG_STR_ARG (refused));
    }
}

int
ag_cmd_import (struct ag_client *self, const struct ag_args_import *args, struct ag_err *err)
{
    struct ag_feed feed;
    struct ag_buf answer = {0};
    bool rows = strcmp (args->file, "-") != 0 && ag_sqlite_is (args->file);
    const char *name = strcmp (args->file, "-") ? args->file : "standard input";
    if (ag_feed_begin (&feed, self, name, rows ? "row" : "line", err))
        return -1;
    int rc = feed_file (&feed, args->file, err) || ag_feed_end (&feed, args->label, &answer, err)
                 ? -1
                 : 0;
    ag_feed_fini (&feed, rc ? err : NULL);
    if (!rc && self->look.json)
        ag_client_document (self, ag_buf_str (&answer));
    else if (!rc)
        print_runs (self, ag_buf_str (&answer));
    ag_buf_fini (&answer);
    return rc;
}

/*  Export  */

static void
export_event (struct ag_str event)
{
    //  Where it stood in this store is of no use in another.
    static const char *const ours[] = {"run", "label", "seq", "stream", NULL};
    struct ag_buf out = {0};
    ag_pick_rest (event, ours, &out);
    ag_look_json_line (ag_buf_str (&out));
    ag_buf_fini (&out);
}

//  Events of a run after a sequence number.
static int
export_events (struct ag_client *self, const char *run, uint64_t after, struct ag_err *err)
{
    struct ag_msg msg = {.type = AG_MSG_log, .log = {.run = ag_str (run), .after = after}};
    struct ag_buf answer = {0};
    struct ag_str event;
    int rc = 0;
    for (bool more = true; more && !rc && !(rc = ag_client_ask (self, &msg, &answer, err));) {
        struct ag_str page = ag_buf_str (&answer);
        for (struct ag_items items = ag_items (page, "events"); ag_items_next (&items, &event);)
            export_event (event);
        uint64_t next = ag_pick_uint (page, "after");
        more = ag_pick_bool (page, "more");
        rc = ag_look_flush (err) || ag_client_go_on (more, next, &msg.log.after, err) ? -1 : 0;
    }
    ag_buf_fini (&answer);
    return rc;
}

//  What may name a run: its id, or where it came from.
struct name {
    struct ag_str text, run; //  both borrow from the runs that are held
    bool is_id;
};

//  Several runs: those of the store that are wanted, in the order in which they were made, so that a parent
//  comes before its forks.
struct several {
    struct ag_client *client;
    const struct ag_words *wanted; //  none: all
    struct ag_buf held;            //  the runs of the store, [map, ...] without the list's head
    uint32_t held_count;
    struct name *names; //  of all that are held, in order
    size_t name_count;
};

static bool
is_wanted (const struct several *self, struct ag_str run)
{
    struct ag_str id = ag_pick_text (run, "run"), label = ag_pick_text (run, "label");
    for (size_t i = 0; i < self->wanted->n; i++)
        if (ag_str_is (id, self->wanted->p[i]) ||
            (label.n && ag_str_is (label, self->wanted->p[i])))
            return true;
    return !self->wanted->n;
}

static int
by_text (const void *a, const void *b)
{
    return ag_str_cmp (((const struct name *)a)->text, ((const struct name *)b)->text);
}

static void
add_name (struct several *self, struct ag_str text, struct ag_str run, bool is_id)
{
    self->names[self->name_count++] = (struct name){text, run, is_id};
}

//  Once, when all runs are held. A run that has its own id from elsewhere has one name.
static void
index_names (struct several *self)
{
    struct ag_items items = {ag_cursor (ag_buf_str (&self->held)), self->held_count};
    struct ag_str run;
    self->names = ag_xcalloc (2 * (size_t)self->held_count + 1, sizeof *self->names);
    while (ag_items_next (&items, &run)) {
        struct ag_str id = ag_pick_text (run, "run"), origin = ag_pick_text (run, "origin");
        add_name (self, id, run, true);
        if (origin.n && !ag_str_eq (id, origin))
            add_name (self, origin, run, false);
    }
    qsort (self->names, self->name_count, sizeof *self->names, by_text);
}

//  The first that is not before this text.
static size_t
seek_name (const struct several *self, struct ag_str text)
{
    size_t from = 0, to = self->name_count;
    while (from < to) {
        size_t middle = from + (to - from) / 2;
        if (ag_str_cmp (self->names[middle].text, text) < 0)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

static bool
is_named (const struct several *self, size_t i, struct ag_str text)
{
    return i < self->name_count && ag_str_eq (self->names[i].text, text);
}

//  The run of an id among those that are exported; p NULL when it is none of them.
static struct ag_str
held_run (const struct several *self, struct ag_str id)
{
    size_t i = id.n ? seek_name (self, id) : self->name_count;
    for (; is_named (self, i, id); i++)
        if (self->names[i].is_id)
            return self->names[i].run;
    return (struct ag_str){0};
}

//  What a run is called in the file: where it came from, as long as that names one run alone.
static struct ag_str
name_of (const struct several *self, struct ag_str run)
{
    struct ag_str origin = ag_pick_text (run, "origin");
    bool alone = origin.n && !is_named (self, seek_name (self, origin) + 1, origin);
    return alone ? origin : ag_pick_text (run, "run");
}

//  A fork whose parent is exported too begins at its cut, any other run at its first event.
static int
export_run (struct several *self, struct ag_str run, struct ag_err *err)
{
    struct ag_buf line = {0};
    struct ag_str parent = held_run (self, ag_pick_text (run, "parent_run_id")), none = {0};
    bool fork = parent.p != NULL;
    char id[64];
    snprintf (id, sizeof id, "%.*s", AG_STR_ARG (ag_pick_text (run, "run")));
    ag_put_map (&line, 5);
    ag_put_pair_or_null (&line, "run_id", name_of (self, run));
    ag_put_pair_or_null (&line, "label", ag_pick_text (run, "label"));
    ag_put_pair_or_null (&line, "parent_run_id", fork ? name_of (self, parent) : none);
    ag_put_pair_or_null (&line, "forked_at_event_id",
                         fork ? ag_pick_text (run, "forked_at_event") : none);
    ag_put_pair_or_null (&line, "ids", fork ? ag_pick_text (run, "ids") : none);
    ag_look_json_line (ag_buf_str (&line));
    ag_buf_fini (&line);
    return export_events (self->client, id, fork ? ag_pick_seq (run, "forked_at_event") : 0, err);
}

static int
hold_runs (struct several *self, struct ag_err *err)
{
    struct ag_msg msg = {.type = AG_MSG_tree};
    struct ag_buf answer = {0};
    struct ag_str run;
    int rc = 0;
    for (bool more = true;
         more && !rc && !(rc = ag_client_ask (self->client, &msg, &answer, err));) {
        struct ag_str page = ag_buf_str (&answer);
        for (struct ag_items items = ag_items (page, "runs"); ag_items_next (&items, &run);)
            if (is_wanted (self, run)) {
                ag_put_value (&self->held, run);
                self->held_count++;
            }
        more = ag_pick_bool (page, "more");
        rc = ag_client_go_on (more, ag_pick_uint (page, "after"), &msg.tree.after, err);
    }
    ag_buf_fini (&answer);
    return rc;
}

static int
export_several (struct ag_client *self, const struct ag_words *wanted, struct ag_err *err)
{
    struct several several = {.client = self, .wanted = wanted};
    struct ag_str run;
    int rc = hold_runs (&several, err);
    if (!rc && several.held_count < wanted->n)
        rc =
            ag_fail (err, AG_E_NOT_FOUND, "of %zu runs there are %u: each by its id or label, once",
                     wanted->n, several.held_count);
    index_names (&several);
    struct ag_items items = {ag_cursor (ag_buf_str (&several.held)), several.held_count};
    while (!rc && ag_items_next (&items, &run))
        rc = export_run (&several, run, err);
    free (several.names);
    ag_buf_fini (&several.held);
    return rc;
}

int
ag_cmd_export (struct ag_client *self, const struct ag_args_export *args, struct ag_err *err)
{
    if (args->all != (args->runs.n == 0))
        return ag_fail (err, AG_E_USAGE, "name runs, or give --all");
    if (args->runs.n == 1)
        return export_events (self, args->runs.p[0], 0, err);
    return export_several (self, &args->runs, err);
}
