//  SPDX-License-Identifier: Apache-2.0
#include "supervisor/workers.h"
#include "common/answer.h"
#include "common/log.h"
#include "common/net.h"
#include "supervisor/effect.h"
#include "supervisor/fleet.h"
#include "supervisor/match.h"
#include "supervisor/mismatch.h"
#include "supervisor/remark.h"
#include "supervisor/replay.h"
#include "supervisor/spec.h"
#include "supervisor/trial.h"
#include "supervisor/unit.h"
#include "supervisor/walls.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LOST_MS = 1000 }; //  news of its end may be on the way

struct ag_workers {
    struct ag_session *table; //  by routing id
};

//  One request of one session, while it is handled.
struct request {
    struct ag_house *house;
    struct ag_session *session;
    struct ag_invocation *invocation; //  that the session has; NULL: none
    const struct ag_msg *msg;
    struct ag_buf answer;
    bool waits; //  the answer, until what it stands on is on disk, whoever gets it
};

typedef int handler_fn (struct request *request, struct ag_err *err);

struct ag_workers *
ag_workers_new (void)
{
    return ag_xcalloc (1, sizeof (struct ag_workers));
}

static void
forget (struct ag_workers *self, struct ag_session *session)
{
    HASH_DEL (self->table, session);
    free (session);
}

void
ag_workers_destroy (struct ag_workers **self_p)
{
    if (!*self_p)
        return;
    struct ag_session *session = (*self_p)->table, *next;
    HASH_CLEAR (hh, (*self_p)->table);
    for (; session; session = next) {
        next = session->hh.next;
        free (session);
    }
    free (*self_p);
    *self_p = NULL;
}

static void
enter (struct ag_session *session, enum ag_session_state state)
{
    session->state = state;
    session->since_ms = ag_now_ms();
}

void
ag_session_end (struct ag_house *house, struct ag_session **session_p)
{
    struct ag_session *session = *session_p;
    if (!session)
        return;
    session->unit->session = *session_p = NULL; //  which may be the same place
    forget (house->workers, session);
}

//  Who handles what a session says of its invocation: the run's queue, or a replay.
struct ways {
    int (*begin) (struct ag_house *, struct ag_invocation *, struct ag_buf *, struct ag_err *);
    int (*effect) (struct ag_house *, struct ag_invocation *, const struct ag_msg_effect *,
                   struct ag_buf *, struct ag_err *);
    int (*done) (struct ag_house *, struct ag_invocation *, const struct ag_msg_done *,
                 struct ag_buf *, struct ag_err *);
    int (*fail) (struct ag_house *, struct ag_invocation *, const struct ag_msg_fail *,
                 struct ag_buf *, struct ag_err *);
};

static const struct ways *
ways_of (const struct ag_unit *unit)
{
    static const struct ways live = {ag_invocation_begin, ag_effect_ask, ag_invocation_done,
                                     ag_invocation_fail},
                             again = {ag_replay_invoke, ag_replay_effect, ag_replay_done,
                                      ag_replay_fail};
    return unit->replay ? &again : &live;
}

static struct ag_invocation *
open_of (struct ag_session *session)
{
    const struct ag_unit *unit = session->unit;
    struct ag_invocation *open =
        unit->replay ? ag_replay_open (unit->replay) : ag_queue_open (session->house, unit->run);
    return open && open->session == session ? open : NULL;
}

//  The wall clock of an invocation ran out.
static void
wall_over (void *context)
{
    struct ag_session *session = context;
    struct ag_invocation *open = open_of (session);
    if (open)
        open->timer = 0;
    ag_unit_kill (session->house, session->unit, "the wall clock of %llu ms ran out",
                  (unsigned long long)ag_unit_net (session->unit, "wall_ms"));
}

//  An answer that moves work on: to a program, which may reach others, it goes after the sync.
static void
move_on (struct ag_house *house, const struct ag_session *session, const struct ag_buf *answer)
{
    if (session->unit->inner)
        ag_outbox_put_inner (house->outbox, &session->route, ag_buf_str (answer));
    else
        ag_outbox_put (house->outbox, &session->route, ag_buf_str (answer));
}

int
ag_session_invoke (struct ag_house *house, struct ag_session *session,
                   struct ag_invocation *invocation, struct ag_err *err)
{
    struct ag_buf answer = {0};
    int rc = ways_of (session->unit)->begin (house, invocation, &answer, err);
    if (!rc) {
        move_on (house, session, &answer);
        invocation->session = session;
        session->unit->due = false;
        enter (session, AG_SESSION_BUSY);
        ag_unit_move (house, session->unit, AG_WHAT_TAKE);
        int64_t wall_ms = (int64_t)ag_unit_net (session->unit, "wall_ms");
        if (wall_ms)
            invocation->timer = ag_loop_timer (house->daemon->loop, wall_ms, 0, wall_over, session);
    }
    ag_buf_fini (&answer);
    return rc;
}

void
ag_session_stop (struct ag_house *house, struct ag_session *session, const char *reason)
{
    struct ag_buf out = {0};
    struct ag_answer answer = ag_answer_begin (&out, "stop", (struct ag_str){0});
    ag_answer_key (&answer, "reason");
    ag_put_lit (&out, reason);
    ag_answer_end (&answer);
    ag_outbox_put (house->outbox, &session->route, ag_buf_str (&out));
    enter (session, AG_SESSION_READY);
    ag_buf_fini (&out);
}

//  What is off while it runs: its remark, and what the log of its run has to say of it.
static int
note_odds (struct ag_house *house, struct ag_unit *unit, struct ag_str behaviors,
           struct ag_str tools, struct ag_err *err)
{
    struct ag_buf remark = {0};
    struct ag_run *run;
    if (ag_run_get (house->journal, unit->run, &run, err))
        return -1;
    ag_remark_policy (house, unit, &remark);
    int rc = ag_mismatch_tell (house->journal, run, ag_buf_str (&unit->spec), unit->host, behaviors,
                               tools, &remark, err);
    ag_remark_set (unit, ag_buf_str (&remark));
    ag_buf_fini (&remark);
    return rc;
}

//  The host is registered: its unit is ready, and events may move.
static int
registered (struct request *request, struct ag_str behaviors, struct ag_str tools,
            struct ag_err *err)
{
    struct ag_buf normal = {0}, tool_list = {0};
    struct ag_unit *unit = request->session->unit;
    int rc = ag_value_normalise (behaviors, &normal, err);
    if (!rc && tools.p)
        rc = ag_value_normalise (tools, &tool_list, err);
    if (!rc)
        rc = ag_match_check (ag_buf_str (&normal), err);
    if (!rc && unit->replay)
        ag_replay_register (unit, ag_buf_str (&normal));
    else if (!rc && unit->trial)
        rc = ag_trial_register (request->house, unit, ag_buf_str (&normal), ag_buf_str (&tool_list),
                                err);
    else if (!rc)
        rc = ag_queue_register (request->house, unit->run, unit->host, ag_buf_str (&normal),
                                ag_buf_str (&tool_list), err);
    if (!rc && !unit->replay && !unit->trial) //  a trial is held to it
        rc = note_odds (request->house, unit, ag_buf_str (&normal), ag_buf_str (&tool_list), err);
    ag_buf_fini (&normal);
    ag_buf_fini (&tool_list);
    if (rc)
        return -1;
    unit->due = false;
    enter (request->session, AG_SESSION_READY);
    ag_unit_is_ready (request->house, unit);
    return 0;
}

//  What the worker says of the walls that it raised itself. One that has to be and is not is no fault of the
//  worker's: its start has failed.
static int
note_walls (struct request *request, struct ag_str walls, struct ag_err *err)
{
    struct ag_unit *unit = request->session->unit;
    if (!ag_walls_said (unit, walls, err))
        return 0;
    unit->lacks = true;
    ag_unit_kill (request->house, unit, "%s", err->text);
    return -1;
}

static int
handle_hello (struct request *request, struct ag_err *err)
{
    const struct ag_msg_hello *hello = &request->msg->hello;
    struct ag_unit *unit = request->session->unit;
    request->waits = true;
    if (note_walls (request, hello->walls, err) ||
        ag_spec_welcome (request->house, unit, &request->answer, err))
        return -1;
    if (!hello->behaviors.p) //  it registers later
        return 0;
    return registered (request, hello->behaviors, hello->tools, err);
}

static int
handle_register (struct request *request, struct ag_err *err)
{
    const struct ag_msg_registration *msg = &request->msg->registration;
    request->waits = true;
    if (note_walls (request, msg->walls, err) ||
        registered (request, msg->behaviors, msg->tools, err))
        return -1;
    ag_answer_ok (&request->answer, (struct ag_str){0});
    return 0;
}

//  Its packs cannot be loaded: it ends by itself, and has said why.
static int
handle_unloaded (struct request *request, struct ag_err *err)
{
    (void)err;
    if (request->session->unit->trial)
        ag_trial_failed (request->session->unit, request->msg->fail.error);
    ag_answer_ok (&request->answer, (struct ag_str){0});
    return 0;
}

static int
handle_next (struct request *request, struct ag_err *err)
{
    (void)err;
    enter (request->session, AG_SESSION_WAITING);
    ag_queues_touch (request->house, request->session->unit->run);
    return 0;
}

static int
handle_get (struct request *request, struct ag_err *err)
{
    return ag_invocation_get (request->house, request->invocation, &request->msg->get,
                              &request->answer, err);
}

static int
handle_effect (struct request *request, struct ag_err *err)
{
    if (request->invocation->pending.open)
        return ag_fail (err, AG_E_BAD_MESSAGE, "effect came while the outcome of another is due");
    int rc = ways_of (request->session->unit)
                 ->effect (request->house, request->invocation, &request->msg->effect,
                           &request->answer, err);
    request->waits = request->invocation->pending.open; //  `go`: what it asked for is on disk first
    return rc;
}

static int
handle_outcome (struct request *request, struct ag_err *err)
{
    if (!request->invocation->pending.open)
        return ag_fail (err, AG_E_BAD_MESSAGE,
                        "outcome came without an effect that was answered with go");
    request->waits = true; //  an answer is on disk before the worker goes by it
    return ag_effect_outcome (request->house, request->invocation, &request->msg->outcome,
                              &request->answer, err);
}

//  The invocation is over for this session; with `next` the answer is the next invocation.
static int
given_back (struct request *request, bool next, struct ag_err *err)
{
    enter (request->session, AG_SESSION_READY);
    ag_unit_move (request->house, request->session->unit, AG_WHAT_GIVE);
    if (!next)
        return 0;
    ag_buf_clear (&request->answer);
    return handle_next (request, err);
}

static int
handle_done (struct request *request, struct ag_err *err)
{
    const struct ag_msg_done *done = &request->msg->done;
    if (request->invocation->pending.open)
        return ag_fail (err, AG_E_BAD_MESSAGE, "done came while the outcome of an effect is due");
    if (ways_of (request->session->unit)
            ->done (request->house, request->invocation, done, &request->answer, err))
        return -1;
    return given_back (request, done->next, err);
}

static int
handle_fail (struct request *request, struct ag_err *err)
{
    const struct ag_msg_fail *fail = &request->msg->fail;
    if (ways_of (request->session->unit)
            ->fail (request->house, request->invocation, fail, &request->answer, err))
        return -1;
    if (request->session->unit->trial)
        ag_trial_failed (request->session->unit, fail->error);
    return given_back (request, fail->next, err);
}

static int
handle_print (struct request *request, struct ag_err *err)
{
    (void)err;
    const struct ag_msg_print *print = &request->msg->print;
    ag_output_line (request->session->unit->output, print->text);
    ag_answer_ok (&request->answer, (struct ag_str){0});
    return 0;
}

//  What may be said in which state, and who handles it.
static const struct {
    enum ag_msg_type type;
    unsigned states; //  mask of 1u << enum ag_session_state
    handler_fn *handle;
} table[] = {
    {AG_MSG_registration, 1u << AG_SESSION_REGISTERING, handle_register},
    {AG_MSG_fail, 1u << AG_SESSION_REGISTERING, handle_unloaded},
    {AG_MSG_next, 1u << AG_SESSION_READY, handle_next},
    {AG_MSG_get, 1u << AG_SESSION_BUSY, handle_get},
    {AG_MSG_effect, 1u << AG_SESSION_BUSY, handle_effect},
    {AG_MSG_outcome, 1u << AG_SESSION_BUSY, handle_outcome},
    {AG_MSG_done, 1u << AG_SESSION_BUSY, handle_done},
    {AG_MSG_fail, 1u << AG_SESSION_BUSY, handle_fail},
    {AG_MSG_print, 1u << AG_SESSION_READY | 1u << AG_SESSION_BUSY | 1u << AG_SESSION_REGISTERING,
     handle_print},
};

static int
dispatch (struct request *request, struct ag_err *err)
{
    static const char *const names[] = {
        [AG_SESSION_READY] = "ready", [AG_SESSION_WAITING] = "waiting", [AG_SESSION_BUSY] = "busy"};
    struct ag_session *session = request->session;
    request->invocation = open_of (session);
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (table[i].type == request->msg->type && table[i].states & 1u << session->state &&
            (session->state != AG_SESSION_BUSY || request->invocation))
            return table[i].handle (request, err);
    const char *word = ag_wire_shape (request->msg->type)->word;
    if (session->state == AG_SESSION_REGISTERING)
        return ag_fail (err, AG_E_BAD_MESSAGE,
                        "%s came out of turn: hello had no `behaviors`, and no register has told "
                        "them since",
                        word);
    return ag_fail (err, AG_E_BAD_MESSAGE, "%s came out of turn: this worker is %s", word,
                    names[session->state]);
}

//  A worker that broke the protocol: its reason in its run's log, its process ended.
static void
end_worker (struct ag_house *house, struct ag_unit *unit, const struct ag_err *why)
{
    struct ag_run *run;
    struct ag_err err;
    struct ag_buf payload = {0};
    if (ag_unit_is_doomed (unit)) //  a flood is one reason, not a thousand events
        return;
    ag_put_map (&payload, 2);
    ag_put_lit (&payload, "host");
    ag_put_uint (&payload, unit->host);
    ag_put_lit (&payload, "reason");
    ag_put_lit (&payload, ag_utf8 (ag_str (why->text)) ? why->text : "a message that is not text");
    if (!unit->replay && !unit->trial && //  nothing of that is in the run's log
        (ag_run_get (house->journal, unit->run, &run, &err) ||
         ag_journal_tell (house->journal, run, AG_EV_WORKER_REFUSED, 0, &payload, NULL, &err)))
        ag_log_err (AG_ERROR, &err, "a worker's end is not in its log");
    ag_buf_fini (&payload);
    ag_unit_kill (house, unit, "%s", why->text);
}

//  Known peers by their routing id; a new one says hello with the nonce of a live process.
static struct ag_session *
session_of (struct ag_house *house, const struct ag_route *route)
{
    struct ag_session *session;
    HASH_FIND (hh, house->workers->table, route->id, route->id_bytes, session);
    return session;
}

static struct ag_session *
admit (struct ag_house *house, const struct ag_route *route, const struct ag_parts *parts,
       const struct ag_msg *msg, struct ag_err *err)
{
    struct ag_unit *unit =
        msg->type == AG_MSG_hello ? ag_fleet_by_nonce (house, msg->hello.nonce) : NULL;
    if (!unit) {
        ag_fail (err, AG_E_NOT_ALLOWED,
                 "a worker's first message is hello with its own AGSUP_NONCE");
        return NULL;
    }
    if (unit->session) {
        ag_fail (err, AG_E_NOT_ALLOWED, "%s has said hello already", unit->name);
        return NULL;
    }
    int64_t end_ms = ag_fleet_news_end();
    while (!unit->pid && ag_fleet_news (house, end_ms)) //  its hello may overtake the news of it
        continue;
    if (!ag_fleet_is_inside (parts->peer.pid, unit->pid)) {
        ag_fail (err, AG_E_NOT_ALLOWED, "process %d is not of %s", (int)parts->peer.pid,
                 unit->name);
        return NULL;
    }
    struct ag_session *session = ag_xcalloc (1, sizeof *session);
    session->house = house;
    session->route = *route;
    session->unit = unit;
    session->pid = parts->peer.pid;
    session->made_ms = ag_guard_accepted_ms (house->worker_guard, session->pid);
    unit->session = session;
    enter (session, AG_SESSION_REGISTERING);
    HASH_ADD (hh, house->workers->table, route.id, route->id_bytes, session);
    return session;
}

static void
answer_error (struct ag_house *house, const struct ag_route *route, const struct ag_err *err)
{
    struct ag_buf answer = {0};
    ag_answer_error (&answer, (struct ag_str){0}, err);
    ag_outbox_put (house->outbox, route, ag_buf_str (&answer));
    ag_buf_fini (&answer);
}

//  An invocation that asked for too much may ask for less; any other refusal is of a worker beyond the protocol.
static void
serve (struct ag_house *house, struct ag_session *session, bool hello, const struct ag_msg *msg)
{
    struct request request = {.house = house, .session = session, .msg = msg};
    struct ag_err err;
    if (session->unit->trial && ag_unit_is_doomed (session->unit)) //  nothing counts after its end
        return;
    struct ag_mark mark = ag_journal_mark (house->journal);
    int rc = hello ? handle_hello (&request, &err) : dispatch (&request, &err);
    if (!rc && session->unit->trial)
        rc = ag_trial_check (house, session->unit, &err);
    if (rc) {
        ag_journal_rollback (house->journal, &mark);
        answer_error (house, &session->route, &err);
        if (session->unit->trial && ag_trial_refused (house, session->unit, &err))
            enter (session, AG_SESSION_READY);
        else if (err.code != AG_E_TOO_LARGE || session->state != AG_SESSION_BUSY)
            end_worker (house, session->unit, &err);
    } else if (request.waits && request.answer.n)
        ag_outbox_put (house->outbox, &session->route, ag_buf_str (&request.answer));
    else if (request.answer.n)
        move_on (house, session, &request.answer);
    if (!rc &&
        session->state == AG_SESSION_WAITING) //  it has its next work now, not at the turn's end
        ag_queue_pump (house, session->unit->run);
    ag_buf_fini (&request.answer);
}

//  Whose process it is that broke the rules, whatever it says of itself: its worker ends. A process of nobody
//  loses its connection.
static void
refuse_peer (struct ag_house *house, struct ag_session *session, struct ag_parts *parts,
             const struct ag_err *why)
{
    struct ag_unit *unit = session ? session->unit : ag_fleet_first (house);
    while (!session && unit && !(unit->run && ag_fleet_is_inside (parts->peer.pid, unit->pid)))
        unit = unit->next;
    if (unit)
        end_worker (house, unit, why);
    else
        ag_log_err (AG_WARN, why, "a stranger at the worker socket was dropped");
    if (!session)
        ag_peer_drop (&parts->peer);
}

void
ag_workers_message (struct ag_house *house, struct ag_parts *parts)
{
    struct ag_str id = ag_part (parts, 0), body = ag_part (parts, parts->count - 1);
    struct ag_route route = {.socket = house->worker_socket, .id_bytes = (uint8_t)id.n};
    memcpy (route.id, id.p, id.n);
    route.delimiter = parts->count == 3 && ag_part (parts, 1).n == 0;
    struct ag_session *session = session_of (house, &route);
    struct ag_err err;
    struct ag_msg msg;
    bool hello = !session;
    int rc = 0;
    if (parts->count != 2u + route.delimiter)
        rc = ag_fail (&err, AG_E_BAD_MESSAGE, "a request is one frame, not %zu", parts->count - 1);
    if (!rc)
        rc = ag_wire_read (AG_PEER_WORKER, body, &msg, &err);
    if (!rc && !session && !(session = admit (house, &route, parts, &msg, &err)))
        rc = -1;
    if (!rc) {
        serve (house, session, hello, &msg);
        return;
    }
    answer_error (house, &route, &err);
    refuse_peer (house, session, parts, &err);
}

void
ag_session_look (struct ag_house *house, struct ag_session *session, int64_t now)
{
    struct ag_err err;
    if (ag_guard_accepted_ms (house->worker_guard, session->pid) == session->made_ms)
        session->lost_ms = 0;
    else if (!session->lost_ms)
        session->lost_ms = now;
    else if (now - session->lost_ms > LOST_MS) {
        ag_fail (&err, AG_E_BAD_MESSAGE,
                 "its connection ended: a message that is too large, or another socket");
        end_worker (house, session->unit, &err);
    }
}

void
ag_workers_lost (void *context, const struct ag_route *route)
{
    struct ag_house *house = context;
    struct ag_session *session = session_of (house, route);
    if (session && session->unit->ending == AG_END_NONE)
        ag_unit_kill (house, session->unit, "it did not take its answer");
}

void
ag_workers_oversize (struct ag_house *house, struct ag_parts *parts, const struct ag_err *why)
{
    struct ag_str id = ag_part (parts, 0);
    struct ag_route route = {.socket = house->worker_socket, .id_bytes = (uint8_t)id.n};
    memcpy (route.id, id.p, id.n);
    refuse_peer (house, session_of (house, &route), parts, why);
}
