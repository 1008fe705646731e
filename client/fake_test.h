/*  A house that answers by a script, for tests: a home with its lock, a ROUTER, a PUB for monitors.
 *
 *  Each row answers one request, in order; what arrives after the last row gets no answer. An answer is
 *  JSON with ' for ", and gets the id of its request; NULL is silence.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_FAKE_TEST_H
#define AG_FAKE_TEST_H
#include "client/capture_test.h"
#include "client/pick.h"
#include "common/home.h"
#include "common/wire.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <zmq.h>

enum { FAKE_SEEN = 64 };

struct fake_row {
    const char *word; //  the request that is expected here
    const char *answer;
    int more; //  how often it is answered once more
};

struct fake {
    char dir[64];
    struct ag_home home;
    int lock;
    const struct fake_row *rows;
    size_t count;
    bool leaves;      //  after its last row the house is gone
    bool delimits;    //  answers begin with an empty frame, as for a REQ
    int late_ms;      //  it listens only so long after its begin
    int slow_ms;      //  before it answers
    const char *beat; //  header that is published every 20 ms, as JSON; NULL: none
    struct ag_buf seen[FAKE_SEEN];
    size_t frames[FAKE_SEEN];
    atomic_size_t seen_count;
    atomic_bool stop;
    bool joined;    //  the thread has ended already
    bool surprised; //  by a request that the script does not have there
    void *context;
    pthread_t thread;
};

static inline void
fake_publish (const struct fake *self, void *monitor)
{
    if (!self->beat)
        return;
    struct ag_buf header = value_of (self->beat);
    zmq_send (monitor, "beat", 4, ZMQ_SNDMORE);
    zmq_send (monitor, header.p, header.n, ZMQ_SNDMORE);
    zmq_send (monitor, "", 0, 0);
    ag_buf_fini (&header);
}

//  The answer of the script with the request's id in front.
static inline void
fake_answer (const struct fake *self, void *router, zmq_msg_t *who, const char *json,
             struct ag_str id)
{
    struct ag_buf answer = value_of (json), out = {0};
    struct ag_str key, value;
    struct ag_items items = ag_pairs_of (ag_buf_str (&answer));
    ag_put_map (&out, items.left + 1);
    ag_put_lit (&out, "id");
    ag_put_text (&out, id);
    while (ag_pairs_next (&items, &key, &value)) {
        ag_put_text (&out, key);
        ag_put_value (&out, value);
    }
    zmq_msg_t to;
    zmq_msg_init (&to);
    zmq_msg_copy (&to, who);
    zmq_msg_send (&to, router, ZMQ_SNDMORE);
    if (self->delimits)
        zmq_send (router, "", 0, ZMQ_SNDMORE);
    zmq_send (router, out.p, out.n, 0);
    ag_buf_fini (&answer);
    ag_buf_fini (&out);
}

static inline void
fake_take (struct fake *self, void *router)
{
    zmq_msg_t who;
    zmq_msg_init (&who);
    zmq_msg_recv (&who, router, 0);
    size_t i = self->seen_count, frames = 1;
    for (int more = zmq_msg_more (&who); more; frames++) {
        zmq_msg_t frame;
        zmq_msg_init (&frame);
        zmq_msg_recv (&frame, router, 0);
        more = zmq_msg_more (&frame);
        ag_buf_clear (&self->seen[i]);
        ag_buf_add (&self->seen[i], zmq_msg_data (&frame), zmq_msg_size (&frame));
        zmq_msg_close (&frame);
    }
    self->frames[i] = frames;
    struct ag_str request = ag_buf_str (&self->seen[i]);
    self->seen_count = i + 1 < FAKE_SEEN ? i + 1 : i;
    usleep ((useconds_t)self->slow_ms * 1000);
    if (i < self->count && !ag_str_is (ag_pick_text (request, "do"), self->rows[i].word))
        self->surprised = true;
    for (int n = 0; i < self->count && self->rows[i].answer && n <= self->rows[i].more; n++)
        fake_answer (self, router, &who, self->rows[i].answer, ag_pick_text (request, "id"));
    zmq_msg_close (&who);
}

static inline void *
fake_run (void *arg)
{
    struct fake *self = arg;
    void *router = zmq_socket (self->context, ZMQ_ROUTER),
         *monitor = zmq_socket (self->context, ZMQ_PUB);
    char *endpoint = ag_xprintf ("ipc://%s", self->home.client);
    char *beats = ag_xprintf ("ipc://%s", self->home.monitor);
    usleep ((useconds_t)self->late_ms * 1000);
    zmq_bind (router, endpoint);
    zmq_bind (monitor, beats);
    while (!self->stop && !(self->leaves && self->seen_count >= self->count)) {
        zmq_pollitem_t item = {router, 0, ZMQ_POLLIN, 0};
        if (zmq_poll (&item, 1, 20) > 0)
            fake_take (self, router);
        fake_publish (self, monitor);
    }
    if (self->leaves) {
        close (self->lock);
        self->lock = -1;
    }
    zmq_close (router); //  lingers until what was sent is read
    zmq_close (monitor);
    free (endpoint);
    free (beats);
    return NULL;
}

static inline void
fake_begin (struct fake *self, const struct fake_row *rows, size_t count)
{
    struct ag_err err;
    strcpy (self->dir, "/tmp/agsup-fake-XXXXXX");
    assert_non_null (mkdtemp (self->dir));
    assert_int_equal (ag_home_make (self->dir, &err), 0);
    assert_int_equal (ag_home_open (&self->home, self->dir, &err), 0);
    assert_int_equal (ag_home_prepare (&self->home, &err), 0);
    self->lock = ag_home_lock (&self->home, &err);
    assert_true (self->lock >= 0);
    self->rows = rows;
    self->count = count;
    self->context = zmq_ctx_new();
    assert_int_equal (pthread_create (&self->thread, NULL, fake_run, self), 0);
    while (!self->late_ms && access (self->home.monitor, F_OK)) //  bound second
        usleep (1000);
}

static inline void
fake_end (struct fake *self)
{
    self->stop = true;
    if (!self->joined)
        pthread_join (self->thread, NULL);
    zmq_ctx_term (self->context);
    if (self->lock >= 0)
        close (self->lock);
    unlink (self->home.client);
    unlink (self->home.monitor);
    ag_home_leave (&self->home);
    char *remove = ag_xprintf ("rm -rf %s", self->dir);
    assert_int_equal (system (remove), 0);
    free (remove);
    ag_home_fini (&self->home);
    for (size_t i = 0; i < FAKE_SEEN; i++)
        ag_buf_fini (&self->seen[i]);
    assert_false (self->surprised);
}

//  Text of a field of the request that came as number i.
static inline struct ag_str
fake_field (const struct fake *self, size_t i, const char *key)
{
    return ag_pick_text (ag_buf_str (&self->seen[i]), key);
}
#endif
