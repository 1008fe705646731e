//  Verification: asked for again and again until it is done.
//  SPDX-License-Identifier: Apache-2.0
#include "supervisor/commands.h"
#include "supervisor/verifies.h"
#include "supervisor/verify.h"

#include <stdio.h>
#include <stdlib.h>

enum {
    WAITING_MAX = 16,
    TICKET = 64,
    UNASKED_MS = 5000,
    PIECE_MS = 4, //  of work,
    REST_MS = 2,  //  and then at least so long for everybody else
    STEP = 32,    //  events, keys or entities between two looks at the clock
    PAGE_RUNS = 1000
};

struct ag_probe {
    char ticket[TICKET + 1];
    uint64_t only, after; //  as it was asked for: a run, or all after this one
    bool state;
    int64_t asked_ms, rest_ms; //  last asked; no work before
    struct ag_verify one;      //  the run in hand; without a number: none
    uint64_t last, seen; //  the last run that was taken in hand; events of those that are done
    struct ag_buf runs;  //  what was found
    uint32_t count;
    bool ok, more, over;  //  more: runs after those of this page
    struct ag_err broken; //  a code: it could not go on
    struct ag_probe *next;
};

static void
drop (struct ag_probe **at)
{
    struct ag_probe *self = *at;
    *at = self->next;
    ag_verify_fini (&self->one);
    ag_buf_fini (&self->runs);
    free (self);
}

void
ag_verifies_destroy (struct ag_house *house)
{
    while (house->verifies)
        drop (&house->verifies);
}

/*  The work  */

static bool
take_number (void *arg, struct ag_run *run)
{
    *(uint64_t *)arg = run->number;
    return false;
}

//  The next run comes into hand, where there is one and the page has room.
static int
take_next (struct ag_house *house, struct ag_probe *self, struct ag_err *err)
{
    uint64_t number = 0;
    if (self->only)
        number = self->count ? 0 : self->only;
    else if (ag_run_scan (house->journal, self->last, take_number, &number, err))
        return -1;
    self->more = number && (self->count == PAGE_RUNS || self->runs.n >= AG_ANSWER_LIST_BYTES);
    self->over = !number || self->more;
    if (!self->over)
        self->one = (struct ag_verify){.run = self->last = number, .state = self->state};
    return 0;
}

static void
keep_found (struct ag_probe *self)
{
    ag_verify_write (&self->one, &self->runs);
    self->count++;
    self->seen += self->one.events;
    self->ok = self->ok && !self->one.reason[0];
    ag_verify_fini (&self->one);
    self->one = (struct ag_verify){0};
}

static int
step (struct ag_house *house, struct ag_probe *self, struct ag_err *err)
{
    if (!self->one.run)
        return take_next (house, self, err);
    int more = ag_verify_step (ag_journal_store (house->journal), &self->one, STEP, err);
    if (more == 0)
        keep_found (self);
    return more < 0 ? -1 : 0;
}

static void
work (struct ag_house *house, struct ag_probe *self)
{
    int64_t begin = ag_now_ms();
    if (begin < self->rest_ms)
        return;
    while (!self->over && ag_now_ms() - begin < PIECE_MS)
        if (step (house, self, &self->broken))
            self->over = true;
    self->rest_ms = ag_now_ms() + REST_MS;
    ag_loop_again (house->daemon->loop, REST_MS);
}

void
ag_verifies_pump (struct ag_house *house)
{
    int64_t now = ag_now_ms();
    for (struct ag_probe **at = &house->verifies; *at;)
        if (now - (*at)->asked_ms > UNASKED_MS)
            drop (at);
        else
            at = &(*at)->next;
    struct ag_probe *first = house->verifies;
    while (first && first->over)
        first = first->next;
    if (first)
        work (house, first);
}

/*  The request  */

static bool
is_same (const struct ag_probe *self, const struct ag_msg_verify *msg, uint64_t run)
{
    return ag_str_is (msg->ticket, self->ticket) && self->only == run &&
           self->after == msg->after && self->state == msg->state;
}

static struct ag_probe *
begin (const struct ag_msg_verify *msg, uint64_t run)
{
    struct ag_probe *self = ag_xcalloc (1, sizeof *self);
    snprintf (self->ticket, sizeof self->ticket, "%.*s", AG_STR_ARG (msg->ticket));
    self->only = run;
    self->after = self->last = msg->after;
    self->state = msg->state;
    self->ok = true;
    return self;
}

//  Its place in the line; begun at the end of it when there is none.
static struct ag_probe **
find (struct ag_house *house, const struct ag_msg_verify *msg, uint64_t run, struct ag_err *err)
{
    int count = 0;
    struct ag_probe **at = &house->verifies;
    for (; *at && !is_same (*at, msg, run); at = &(*at)->next)
        count++;
    if (!*at && count >= WAITING_MAX) {
        ag_fail (err, AG_E_BUSY, "%d verifications are waiting already", count);
        return NULL;
    }
    if (!*at)
        *at = begin (msg, run);
    (*at)->asked_ms = ag_now_ms();
    return at;
}

static void
answer_verified (struct ag_command *command, const struct ag_probe *self)
{
    struct ag_answer answer = ag_command_begin (command);
    ag_answer_key (&answer, "ok");
    ag_put_bool (answer.out, self->ok);
    ag_answer_key (&answer, "runs");
    ag_put_list (answer.out, self->over ? self->count : 0);
    if (self->over)
        ag_buf_add_str (answer.out, ag_buf_str (&self->runs));
    if (self->over && self->more) {
        ag_answer_key (&answer, "next");
        ag_put_uint (answer.out, self->last);
    }
    ag_answer_key (&answer, "seen");
    ag_put_uint (answer.out, self->seen + self->one.events);
    ag_answer_key (&answer, "done");
    ag_put_bool (answer.out, self->over);
    ag_answer_end (&answer);
}

int
ag_command_verify (struct ag_command *command, struct ag_err *err)
{
    const struct ag_msg_verify *msg = &command->msg->verify;
    struct ag_house *house = command->house;
    struct ag_run *run = NULL;
    if (msg->run.p && ag_run_find (house->journal, msg->run, &run, err))
        return -1;
    struct ag_probe **at = find (house, msg, run ? run->number : 0, err);
    if (!at || (!(*at)->over && ag_command_hold (command, msg->wait_ms)))
        return at ? 0 : -1;
    int rc = (*at)->broken.code ? -1 : 0;
    if (rc)
        *err = (*at)->broken;
    else
        answer_verified (command, *at);
    if ((*at)->over)
        drop (at);
    return rc;
}
