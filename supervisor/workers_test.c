//  SPDX-License-Identifier: Apache-2.0
#include "supervisor/workers.h"
#include "common/net.h"
#include "common/spawn_wire.h"
#include "supervisor/core_test.h"
#include "supervisor/fleet_inside.h"
#include "supervisor/queue.h"
#include "supervisor/record.h"

#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

//  One agent whose only host is at the worker socket; nothing is sent.
struct floor {
    struct core *core;
    struct ag_daemon daemon;
    struct ag_house house;
    struct ag_fleet fleet;
    struct ag_unit unit;
    struct ag_run *run;
};

static void
floor_init (struct floor *self, struct core *core, bool inner)
{
    struct ag_birth birth = {.label = AG_LIT ("agent")};
    *self = (struct floor){.core = core};
    self->daemon = (struct ag_daemon){.loop = ag_loop_new(), .context = ag_net_context()};
    self->house = (struct ag_house){.daemon = &self->daemon,
                                    .journal = core->journal,
                                    .outbox = ag_outbox_new(),
                                    .workers = ag_workers_new(),
                                    .fleet = &self->fleet};
    self->house.queues = ag_queues_new (&self->house);
    self->house.worker_socket = ag_net_socket (
        self->daemon.context, &(struct ag_net){.type = ZMQ_ROUTER, .hwm_in = 9, .hwm_out = 9});
    self->house.worker_guard =
        ag_guard_new (self->daemon.context, self->daemon.loop, self->house.worker_socket,
                      (struct ag_guard_limits){1 << 30, 8});
    must (core, ag_run_create (core->journal, &birth, &self->run, &core->err));
    self->house.fleet_run = self->run->number;
    self->unit = (struct ag_unit){.name = "agent",
                                  .run = self->run->number,
                                  .place = self->run->number << 8,
                                  .state = AG_UNIT_STARTING,
                                  .nonce = "nonce-of-the-agent",
                                  .child = 1,
                                  .pid = getpid(),
                                  .inner = inner};
    must (core, ag_json_read (ag_str ("{\"hosts\":[{\"kind\":\"script\"}]}"), &self->unit.spec,
                              &core->err));
    self->unit.budget = ag_budget_of (ag_buf_str (&self->unit.spec));
    ag_note_put (core->journal, self->run, AG_LIT ("spec"), 0, ag_buf_str (&self->unit.spec));
    self->fleet.first = &self->unit;
    HASH_ADD (by_place, self->fleet.by_place, place, sizeof self->unit.place, &self->unit);
}

static void
floor_fini (struct floor *self)
{
    ag_queues_destroy (&self->house.queues);
    ag_workers_destroy (&self->house.workers);
    ag_outbox_destroy (&self->house.outbox);
    HASH_CLEAR (by_place, self->fleet.by_place);
    ag_guard_destroy (&self->house.worker_guard);
    zmq_close (self->house.worker_socket);
    zmq_ctx_term (self->daemon.context);
    ag_loop_destroy (&self->daemon.loop);
    ag_buf_fini (&self->unit.spec);
}

static void
put_frame (struct ag_parts *parts, struct ag_str bytes)
{
    zmq_msg_t *frame = &parts->frame[parts->count++];
    assert_int_equal (zmq_msg_init_size (frame, bytes.n), 0);
    memcpy (zmq_msg_data (frame), bytes.p, bytes.n);
}

//  The worker says this, and the queues move. True: what it caused to be said need not be on disk.
static bool
is_inner_after (struct floor *self, struct ag_msg msg)
{
    struct ag_parts parts = {.peer = {.pid = getpid()}};
    struct ag_buf bytes = {0};
    ag_outbox_fail (self->house.outbox, &self->core->err); //  begins empty
    ag_wire_write (&msg, &bytes);
    put_frame (&parts, AG_LIT ("peer"));
    put_frame (&parts, ag_buf_str (&bytes));
    ag_workers_message (&self->house, &parts);
    assert_false (ag_unit_is_doomed (&self->unit));
    ag_queues_pump (&self->house);
    ag_parts_fini (&parts);
    ag_buf_fini (&bytes);
    return ag_outbox_is_inner (self->house.outbox);
}

//  Registered for on.work, with so many events to work on; hello and register wait for the sync.
static void
begin_work (struct floor *self, int events)
{
    struct ag_buf behaviors = {0};
    must (self->core, ag_json_read (ag_str ("[{\"name\":\"work\",\"on\":[\"on.work\"]}]"),
                                    &behaviors, &self->core->err));
    struct ag_msg hello = {
        .type = AG_MSG_hello,
        .hello = {.protocol = 1, .nonce = AG_LIT ("nonce-of-the-agent"), .name = AG_LIT ("test")}};
    assert_false (is_inner_after (self, hello));
    struct ag_msg list = {.type = AG_MSG_registration,
                          .registration = {.behaviors = ag_buf_str (&behaviors)}};
    assert_false (is_inner_after (self, list));
    for (int i = 0; i < events; i++) {
        struct ag_draft draft = {.type = AG_LIT ("on.work"), .payload = AG_LIT ("\x80")};
        uint64_t seq;
        must (self->core,
              ag_journal_append (self->core->journal, self->run, &draft, &seq, &self->core->err));
    }
    ag_buf_fini (&behaviors);
}

//  The nursery, whose news of the process comes late.
static pid_t
tell_late (int pair)
{
    struct ag_nursery_event event = {.what = AG_NURSERY_SPAWNED, .id = 1, .pid = getpid()};
    pid_t teller = fork();
    if (teller)
        return teller;
    usleep (100000);
    _exit (ag_packet_send (pair, &event, sizeof event, NULL, 0) != 0);
}

static void
a_hello_that_is_faster_than_the_news_of_its_process_waits_for_them (void **state)
{
    struct floor self;
    char dir[] = "/tmp/ag-workers-XXXXXX", command[64];
    int pair[2], status;
    assert_non_null (mkdtemp (dir));
    floor_init (&self, *state, true);
    assert_int_equal (socketpair (AF_UNIX, SOCK_SEQPACKET, 0, pair), 0);
    self.house.nursery = ag_nursery_new (pair[0]);
    self.unit.output = ag_output_new (dir, "agent", self.daemon.loop);
    self.unit.child = 0;
    self.unit.pid = 0;
    ag_unit_set_child (&self.fleet, &self.unit, 1);
    pid_t teller = tell_late (pair[1]);
    begin_work (&self, 0);
    assert_int_equal (self.unit.pid, getpid());
    assert_non_null (self.unit.session);
    assert_int_equal (waitpid (teller, &status, 0), teller);
    ag_unit_set_child (&self.fleet, &self.unit, 0);
    ag_output_destroy (&self.unit.output);
    ag_nursery_destroy (&self.house.nursery);
    close (pair[1]);
    floor_fini (&self);
    snprintf (command, sizeof command, "rm -r %s", dir);
    assert_int_equal (system (command), 0);
}

static const struct ag_msg ask_next = {.type = AG_MSG_next};
static const struct ag_msg done_next = {.type = AG_MSG_done, .done = {.next = true}};

static struct ag_msg
effect (bool idempotent)
{
    return (struct ag_msg){
        .type = AG_MSG_effect,
        .effect = {.tool = AG_LIT ("fire"), .args = AG_LIT ("\x80"), .idempotent = idempotent}};
}

static void
invocations_of_a_script_move_on_before_the_sync (void **state)
{
    struct floor self;
    floor_init (&self, *state, true);
    begin_work (&self, 2);
    assert_true (is_inner_after (&self, ask_next));
    assert_true (is_inner_after (
        &self, (struct ag_msg){.type = AG_MSG_get, .get = {.type = AG_LIT ("task"), .depth = 1}}));
    assert_true (is_inner_after (&self, done_next));
    floor_fini (&self);
}

static void
what_a_program_is_told_is_on_disk_first (void **state)
{
    struct floor self;
    floor_init (&self, *state, false);
    begin_work (&self, 2);
    assert_false (is_inner_after (&self, ask_next));
    assert_false (is_inner_after (&self, done_next));
    floor_fini (&self);
}

static void
no_effect_begins_or_ends_before_the_sync (void **state)
{
    struct floor self;
    struct ag_msg outcome = {.type = AG_MSG_outcome, .outcome = {.output = AG_LIT ("\x01")}};
    floor_init (&self, *state, true);
    begin_work (&self, 1);
    assert_true (is_inner_after (&self, ask_next));
    for (int idempotent = 0; idempotent < 2; idempotent++) {
        assert_false (is_inner_after (&self, effect (idempotent)));
        assert_false (is_inner_after (&self, outcome));
    }
    floor_fini (&self);
}

static void
one_answer_that_waits_makes_the_turn_wait (void **state)
{
    struct floor self;
    struct ag_route client = {.client = true, .handle = 7};
    floor_init (&self, *state, true);
    begin_work (&self, 1);
    assert_true (is_inner_after (&self, ask_next));
    ag_outbox_put (self.house.outbox, &client, AG_LIT ("\x80"));
    assert_false (ag_outbox_is_inner (self.house.outbox));
    floor_fini (&self);
}

int
main (void)
{
    const struct CMUnitTest tests[] = {
        core_test (invocations_of_a_script_move_on_before_the_sync),
        core_test (what_a_program_is_told_is_on_disk_first),
        core_test (no_effect_begins_or_ends_before_the_sync),
        core_test (one_answer_that_waits_makes_the_turn_wait),
        core_test (a_hello_that_is_faster_than_the_news_of_its_process_waits_for_them),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
