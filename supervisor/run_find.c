//  SPDX-License-Identifier: Apache-2.0
#include "common/wire.h"
#include "supervisor/journal_impl.h"

#include <string.h>

//  Where a run of this label is remembered.
static uint64_t *
named (ag_journal_t *self, struct ag_str label)
{
    unsigned hash;
    HASH_VALUE (label.p, label.n, hash);
    return &self->named[hash % AG_NAMED];
}

//  The open run that text names, without a look into the store: each request names one, mostly the same few.
//  What is remembered is believed only for what the run itself says. An id that is a run's is no label.
static struct ag_run *
find_open (ag_journal_t *self, struct ag_str text)
{
    uint64_t number;
    bool by_id = !ag_run_number (text, &number);
    struct ag_open *open = ag_open_find (self, by_id ? number : *named (self, text));
    if (!open || open->run.hidden)
        return NULL;
    if (!by_id && (open->run.discarded || !ag_str_is (text, open->run.label)))
        return NULL;
    return &open->run;
}

//  1 when text is the label of a run, with its number.
static int
find_label (ag_journal_t *self, struct ag_str text, uint64_t *number, struct ag_err *err)
{
    struct ag_key key;
    struct ag_buf hold = {0};
    if (text.n == 0 || text.n > AG_LABEL_BYTES || memchr (text.p, 0, text.n))
        return 0;
    ag_key_label (&key, text);
    int rc = ag_batch_get (self->batch, AG_META, ag_key_str (&key), &hold, err);
    if (rc > 0)
        *named (self, text) = *number = ag_be64 (hold.p);
    ag_buf_fini (&hold);
    return rc;
}

static int
exists (ag_journal_t *self, uint64_t number, struct ag_err *err)
{
    struct ag_key key;
    struct ag_buf hold = {0};
    ag_key_run (&key, number);
    int rc = ag_batch_get (self->batch, AG_META, ag_key_str (&key), &hold, err);
    ag_buf_fini (&hold);
    return rc;
}

int
ag_run_find (ag_journal_t *self, struct ag_str text, struct ag_run **run, struct ag_err *err)
{
    uint64_t number;
    *run = find_open (self, text);
    if (*run)
        return 0;
    int rc = find_label (self, text, &number, err);
    if (rc == 0 && !ag_run_number (text, &number))
        rc = exists (self, number, err);
    if (rc > 0)
        return ag_run_get (self, number, run, err);
    if (rc == 0)
        ag_fail (err, AG_E_NOT_FOUND, "there is no run `%.*s`", AG_STR_ARG (text));
    return -1;
}

//  A decimal sequence of at most 19 digits.
static int
read_seq (struct ag_str text, uint64_t *seq)
{
    *seq = 0;
    if (text.n == 0 || text.n > 19)
        return -1;
    for (size_t i = 0; i < text.n; i++) {
        if (text.p[i] < '0' || text.p[i] > '9')
            return -1;
        *seq = *seq * 10 + (uint64_t)(text.p[i] - '0');
    }
    return *seq ? 0 : -1;
}

//  The house's word that an invocation begins now or later.
static bool
is_work (enum ag_type type)
{
    return type == AG_EV_BEHAVIOR_STARTED || type == AG_EV_RELATION_BEHAVIOR_STARTED ||
           type == AG_EV_BEHAVIOR_SCHEDULED || type == AG_EV_PATTERN_MATCHED;
}

struct start {
    uint64_t before; //  the last event that was looked at and is no work
    bool found;
    uint32_t looked;
};

static bool
look_for_work (void *arg, const struct ag_event *event)
{
    struct start *start = arg;
    start->found = is_work (ag_type_of (event->type));
    if (!start->found)
        start->before = event->seq;
    return !start->found && ++start->looked < AG_LOOKED_EVENTS;
}

//  Before the run's own first invocation; its tip when it had none.
static int
find_start (ag_journal_t *self, const struct ag_run *run, uint64_t *seq, struct ag_err *err)
{
    struct start start = {.before = run->cut};
    if (ag_journal_scan (self, run, run->cut, UINT64_MAX, look_for_work, &start, err))
        return -1;
    if (!start.found && start.before < run->head.tip)
        return ag_fail (err, AG_E_USAGE,
                        "run %s did no work in its first %d events; name an event to start at",
                        run->id, AG_LOOKED_EVENTS);
    *seq = start.before;
    return 0;
}

int
ag_point_find (ag_journal_t *self, struct ag_str text, struct ag_run **run, uint64_t *seq,
               struct ag_err *err)
{
    const char *mark = text.n ? memchr (text.p, '@', text.n) : NULL;
    struct ag_str name = {text.p, mark ? (size_t)(mark - text.p) : text.n};
    if (ag_run_find (self, name, run, err))
        return -1;
    *seq = (*run)->head.tip;
    if (!mark)
        return 0;
    struct ag_str point = {mark + 1, text.n - name.n - 1};
    if (ag_str_is (point, "tip"))
        return 0;
    if (ag_str_is (point, "start"))
        return find_start (self, *run, seq, err);
    if (ag_evt_read (point, seq) && read_seq (point, seq))
        return ag_fail (err, AG_E_USAGE,
                        "`%.*s` is no point of a run: RUN@evt_042, RUN@42, RUN@start, RUN@tip",
                        AG_STR_ARG (text));
    if (*seq > (*run)->head.tip)
        return ag_fail (err, AG_E_NOT_FOUND, "run %s has no event %.*s", (*run)->id,
                        AG_STR_ARG (point));
    return 0;
}

//  Calls back for each number at the end of a key of META.
static int
scan (ag_journal_t *self, const struct ag_key *from, const struct ag_key *to, ag_run_fn fn,
      void *arg, struct ag_err *err)
{
    struct ag_str key, value;
    struct ag_run *run;
    ag_view_t *view = ag_batch_scan (self->batch, AG_META, ag_key_str (from), ag_key_str (to));
    int rc;
    while ((rc = ag_view_next (view, &key, &value, err)) > 0) {
        rc = ag_run_get (self, ag_key_last_number (key), &run, err);
        if (rc < 0 || !fn (arg, run))
            break;
    }
    ag_view_destroy (&view);
    return rc < 0 ? -1 : 0;
}

int
ag_run_scan (ag_journal_t *self, uint64_t after, ag_run_fn fn, void *arg, struct ag_err *err)
{
    struct ag_key from, to;
    ag_key_run (&from, after + 1);
    ag_key_run (&to, self->next_run);
    return after + 1 < self->next_run ? scan (self, &from, &to, fn, arg, err) : 0;
}

int
ag_run_children (ag_journal_t *self, uint64_t parent, uint64_t after, ag_run_fn fn, void *arg,
                 struct ag_err *err)
{
    struct ag_key from, to;
    ag_key_child (&from, parent, after + 1);
    ag_key_child (&to, parent, self->next_run);
    return after + 1 < self->next_run ? scan (self, &from, &to, fn, arg, err) : 0;
}
