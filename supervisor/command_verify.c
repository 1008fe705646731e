//  Verification: asked for again and again until it is done.
//  SPDX-License-Identifier: Apache-2.0
#include "supervisor/commands.h"
#include "supervisor/ticket.h"
#include "supervisor/verification.h"
#include "supervisor/verify.h"

#include <stdio.h>
#include <stdlib.h>

enum {
    VERIFICATIONS_MAX = 16,
    PIECE_MS = 4, //  of work,
    REST_MS = 2,  //  and then at least so long for everybody else
    STEP = 32,    //  events, keys or entities between two looks at the clock
    PAGE_RUNS = 1000
};

struct verification {
    struct ag_ticket ticket;
    uint64_t only, after; //  as it was asked for: a run, or all after this one
    int64_t rest_ms;      //  no work before
    struct ag_verify one; //  the run in hand; without a number: none
    char label[AG_LABEL_BYTES + 1];
    uint64_t last, seen; //  the last run that was taken in hand; events of those that are done
    struct ag_buf runs;  //  what was found
    uint32_t count;
    bool ok, more; //  more: runs after those of this page
};

static struct verification *
of (struct ag_ticket *ticket)
{
    return (struct verification *)ticket;
}

static void
drop (struct ag_house *house, struct verification *self)
{
    ag_ticket_remove (&house->verifications, &self->ticket);
    ag_verify_fini (&self->one);
    ag_buf_fini (&self->runs);
    free (self);
}

void
ag_verifications_destroy (struct ag_house *house)
{
    while (house->verifications)
        drop (house, of (house->verifications));
}

/*  The work  */

static bool
take_run (void *arg, struct ag_run *run)
{
    *(struct ag_run **)arg = run;
    return false;
}

//  The next run comes into hand, where there is one and the page has room.
static int
take_next (struct ag_house *house, struct verification *self, struct ag_err *err)
{
    struct ag_run *run = NULL;
    if (self->only ? !self->count && ag_run_get (house->journal, self->only, &run, err)
                   : ag_run_scan (house->journal, self->last, take_run, &run, err))
        return -1;
    self->more = run && (self->count == PAGE_RUNS || self->runs.n >= AG_ANSWER_LIST_BYTES);
    self->ticket.over = !run || self->more;
    if (!self->ticket.over) {
        self->one.run = self->last = run->number;
        snprintf (self->label, sizeof self->label, "%s", run->discarded ? "" : run->label);
    }
    return 0;
}

static void
keep_found (struct verification *self)
{
    ag_verify_write (&self->one, self->label[0] ? ag_str (self->label) : (struct ag_str){0},
                     &self->runs);
    self->count++;
    self->seen += self->one.events;
    self->ok = self->ok && !self->one.reason[0];
    ag_verify_next (&self->one, 0);
}

static int
step (struct ag_house *house, struct verification *self, struct ag_err *err)
{
    if (!self->one.run)
        return take_next (house, self, err);
    int more = ag_verify_step (ag_journal_store (house->journal), &self->one, STEP, err);
    if (more == 0)
        keep_found (self);
    return more < 0 ? -1 : 0;
}

static void
work (struct ag_house *house, struct verification *self)
{
    struct ag_err err;
    int64_t begin = ag_now_ms();
    if (begin < self->rest_ms)
        return;
    while (!self->ticket.over && ag_now_ms() - begin < PIECE_MS)
        if (step (house, self, &err))
            ag_ticket_break (&self->ticket, &err);
    self->rest_ms = ag_now_ms() + REST_MS;
    ag_loop_again (house->daemon->loop, REST_MS);
}

void
ag_verifications_pump (struct ag_house *house)
{
    struct ag_ticket *next, *first = NULL;
    for (struct ag_ticket *one = house->verifications; one; one = next) {
        next = one->next;
        if (ag_ticket_is_left (one))
            drop (house, of (one));
        else if (!first && !one->over)
            first = one;
    }
    if (first)
        work (house, of (first));
}

/*  The request  */

static bool
is_same (const struct verification *self, const struct ag_msg_verify *msg, uint64_t run)
{
    return ag_str_is (msg->ticket, self->ticket.text) && self->only == run &&
           self->after == msg->after && self->one.state == msg->state;
}

static struct verification *
begin (struct ag_house *house, const struct ag_msg_verify *msg, uint64_t run)
{
    struct verification *self = ag_xcalloc (1, sizeof *self);
    ag_ticket_add (&house->verifications, &self->ticket, msg->ticket);
    self->only = run;
    self->after = self->last = msg->after;
    self->one.state = msg->state;
    self->ok = true;
    return self;
}

//  Begun at the end of the line when there is none; NULL when that is too long.
static struct verification *
find (struct ag_house *house, const struct ag_msg_verify *msg, uint64_t run, struct ag_err *err)
{
    struct ag_ticket *one = house->verifications;
    while (one && !is_same (of (one), msg, run))
        one = one->next;
    if (one) {
        ag_ticket_again (one);
        return of (one);
    }
    if (ag_ticket_room (house->verifications, VERIFICATIONS_MAX, "verifications", err))
        return NULL;
    return begin (house, msg, run);
}

static void
answer_verified (struct ag_command *command, const struct verification *self)
{
    struct ag_answer answer = ag_command_begin (command);
    ag_answer_key (&answer, "ok");
    ag_put_bool (answer.out, self->ok);
    ag_answer_key (&answer, "runs");
    ag_put_list (answer.out, self->ticket.over ? self->count : 0);
    if (self->ticket.over)
        ag_buf_add_str (answer.out, ag_buf_str (&self->runs));
    if (self->ticket.over && self->more) {
        ag_answer_key (&answer, "next");
        ag_put_uint (answer.out, self->last);
    }
    ag_answer_key (&answer, "seen");
    ag_put_uint (answer.out, self->seen + self->one.events);
    ag_answer_key (&answer, "done");
    ag_put_bool (answer.out, self->ticket.over);
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
    struct verification *self = find (house, msg, run ? run->number : 0, err);
    if (!self || (!self->ticket.over && ag_command_hold (command, msg->wait_ms)))
        return self ? 0 : -1;
    int rc = self->ticket.broken.code ? -1 : 0;
    if (rc)
        *err = self->ticket.broken;
    else
        answer_verified (command, self);
    if (self->ticket.over)
        drop (house, self);
    return rc;
}
