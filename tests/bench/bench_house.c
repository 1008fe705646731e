/*  bench_house - what a house that stands costs its clients: throughput, waits, starts, ends.
 *
 *  Usage: bench_house HOME load RUN KIND OPS OUTSTANDING SECONDS [EVENTS [RATE]]     at most so many a second
 *         bench_house HOME fork|promote|diff RUN TIMES
 *         bench_house HOME first RUN TIMES AGSUP
 *         bench_house HOME successor AGENT TIMES
 *         bench_house HOME again NURSERY
 *         bench_house HOME forks RUN COUNT                   to the first object of each
 *         bench_house HOME command TIMES AGSUP WORD…         from its start to its end, which is 0
 *         bench_house HOME invoke RUN[,RUN…] INVOCATIONS [grind]     of each run, whose workers are awake
 *         bench_house HOME start AGENT TIMES                 of a stopped one, to its worker's hello
 *
 *  Prints lines `name<TAB>value`; times are medians in microseconds. What an answer says is looked at each
 *  time: an error ends the program.
 *  SPDX-License-Identifier: Apache-2.0
 */
#include "tests/bench/bench.h"
#include "tests/bench/bench_ask.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum { OBJECTS = 1000, WINDOW = 64, ENTITIES = 100, REST_US = 50000 };

/*  Operations  */

static void
put (struct ag_buf *out, const char *key, const char *text)
{
    ag_put_lit (out, key);
    ag_put_lit (out, text);
}

//  {op, …} number n of a list.
typedef void (*op_fn) (struct ag_buf *out, unsigned n);

//  An event of about 200 bytes when it is stored, as those of the floor are.
static void
emit_op (struct ag_buf *out, unsigned n)
{
    ag_put_map (out, 3);
    put (out, "op", "emit");
    put (out, "type", "task.measured");
    ag_put_lit (out, "payload");
    ag_put_map (out, 2);
    ag_put_lit (out, "n");
    ag_put_uint (out, n);
    put (out, "text",
         "what an agent has to say about one file, in a line or two of plain words, "
         "as it would in earnest; and what it found in it.");
}

static void
put_object (struct ag_buf *out, const char *prefix, unsigned n)
{
    ag_put_map (out, 4);
    put (out, "op", "add_object");
    put (out, "type", "task");
    ag_put_lit (out, "id");
    ag_put_textf (out, "%s%u", prefix, n);
    ag_put_lit (out, "data");
    ag_put_map (out, 2);
    put (out, "title", "read the copyright file of a package and say what it allows");
    put (out, "status", "open");
}

//  The objects that patch_op patches.
static void
base_op (struct ag_buf *out, unsigned n)
{
    put_object (out, "task:", n);
}

//  Objects that are new in each fork: their ids are made by it.
static void
add_op (struct ag_buf *out, unsigned n)
{
    (void)n;
    ag_put_map (out, 3);
    put (out, "op", "add_object");
    put (out, "type", "task");
    ag_put_lit (out, "data");
    ag_put_map (out, 2);
    put (out, "title", "read the copyright file of a package and say what it allows");
    put (out, "status", "open");
}

static void
patch_op (struct ag_buf *out, unsigned n)
{
    ag_put_map (out, 3);
    put (out, "op", "patch_object");
    ag_put_lit (out, "id");
    ag_put_textf (out, "task:%u", n % OBJECTS);
    ag_put_lit (out, "data");
    ag_put_map (out, 2);
    put (out, "status", (n / OBJECTS) & 1 ? "done" : "open");
    ag_put_lit (out, "n");
    ag_put_uint (out, n);
}

static void
write_apply (const struct bench *self, const char *run, struct ag_str id, op_fn op, unsigned from,
             unsigned count, struct ag_buf *out)
{
    struct ag_buf ops = {0};
    ag_put_list (&ops, count);
    for (unsigned i = 0; i < count; i++)
        op (&ops, from + i);
    struct ag_msg msg = {.type = AG_MSG_apply,
                         .token = ag_str (self->token),
                         .id = id,
                         .apply = {.run = ag_str (run), .ops = ag_buf_str (&ops)}};
    ag_wire_write (&msg, out);
    ag_buf_fini (&ops);
}

static void
apply (struct bench *self, const char *run, op_fn op, unsigned from, unsigned count)
{
    struct ag_buf frame = {0};
    char id[65];
    snprintf (id, sizeof id, "%s/%llu", self->prefix, (unsigned long long)++self->asked);
    write_apply (self, run, ag_str (id), op, from, count, &frame);
    send_frame (self, ag_buf_str (&frame));
    ag_buf_fini (&frame);
    hear (self);
}

/*  load: so many requests outstanding  */

//  Requests made before the clock runs; only the digits of their ids change.
struct rounds {
    struct ag_buf frames[WINDOW];
    char *digits[WINDOW];
    size_t count;
    uint64_t sent;
    double sent_us[WINDOW];
};

static void
make_rounds (const struct bench *self, struct rounds *rounds, const char *run, op_fn op,
             unsigned ops)
{
    char id[2 * AG_BENCH_ID + 2];
    for (unsigned i = 0; i < WINDOW; i++) {
        snprintf (id, sizeof id, "%s/%016x", self->prefix, i);
        write_apply (self, run, ag_str (id), op, i * ops, ops, &rounds->frames[i]);
        rounds->digits[i] = memmem (rounds->frames[i].p, rounds->frames[i].n, id, strlen (id));
        rounds->digits[i] += AG_BENCH_ID + 1;
    }
}

static void
send_round (struct bench *self, struct rounds *rounds)
{
    size_t slot = rounds->sent % WINDOW;
    char digits[AG_BENCH_ID + 1];
    snprintf (digits, sizeof digits, "%016llx", (unsigned long long)rounds->sent + WINDOW);
    memcpy (rounds->digits[slot], digits, AG_BENCH_ID);
    rounds->sent_us[slot] = now_us();
    rounds->sent++;
    send_frame (self, ag_buf_str (&rounds->frames[slot]));
}

//  Waits until the next round is due, of so many events a second that are offered.
static void
pace (const struct rounds *rounds, unsigned ops, double rate, double begin)
{
    double early = begin + (double)rounds->sent * ops / rate * 1e6 - now_us();
    if (early > 0)
        usleep ((useconds_t)early);
}

static void
load (struct bench *self, char **argv)
{
    const char *run = argv[0];
    bool patches = !strcmp (argv[1], "patch");
    unsigned ops = (unsigned)atoi (argv[2]), outstanding = (unsigned)atoi (argv[3]);
    double seconds = atof (argv[4]);
    uint64_t most = argv[5] ? strtoull (argv[5], NULL, 10) : UINT64_MAX;
    double rate = argv[5] && argv[6] ? atof (argv[6]) : 0;
    struct rounds rounds = {0};
    double *waits = NULL;
    size_t heard = 0, room = 0;
    if (patches)
        for (unsigned i = 0; i < OBJECTS; i += ENTITIES)
            apply (self, run, base_op, i, ENTITIES);
    make_rounds (self, &rounds, run, patches ? patch_op : emit_op, ops);
    double begin = now_us(), end = begin + seconds * 1e6, now = begin;
    while (rounds.sent < outstanding)
        send_round (self, &rounds);
    while (heard < rounds.sent) {
        hear (self);
        now = now_us();
        if (heard == room)
            waits = ag_xrealloc (waits, (room = room ? 2 * room : 4096) * sizeof *waits);
        waits[heard] = now - rounds.sent_us[heard % WINDOW];
        heard++;
        if (now >= end || rounds.sent * ops >= most)
            continue;
        if (rate > 0)
            pace (&rounds, ops, rate, begin);
        send_round (self, &rounds);
    }
    printf ("events_per_s\t%.6g\n", (double)heard * ops / (now - begin) * 1e6);
    printf ("p50_us\t%.6g\n", median (waits, heard));
    free (waits);
    for (int i = 0; i < WINDOW; i++)
        ag_buf_fini (&rounds.frames[i]);
}

/*  invoke: so many invocations of each run, one after the other in a run  */

static void
due_op (struct ag_buf *out, const char *type, unsigned n)
{
    ag_put_map (out, 3);
    put (out, "op", "emit");
    put (out, "type", type);
    ag_put_lit (out, "payload");
    ag_put_map (out, 1);
    ag_put_lit (out, "n");
    ag_put_uint (out, n);
}

static void
step_op (struct ag_buf *out, unsigned n)
{
    due_op (out, "step.due", n);
}

//  Much to compute, little to write.
static void
grind_op (struct ag_buf *out, unsigned n)
{
    due_op (out, "grind.due", n);
}

static void
await_idle (struct bench *self, char *const *runs, unsigned count)
{
    struct ag_buf names = {0};
    bool done = false;
    ag_put_list (&names, count);
    for (unsigned i = 0; i < count; i++)
        ag_put_lit (&names, runs[i]);
    for (double end = now_us() + AG_BENCH_WAIT_MS * 1e3; !done && now_us() < end;) {
        ask (self, (struct ag_msg){.type = AG_MSG_wait,
                                   .wait = {.runs = ag_buf_str (&names), .wait_ms = 10000}});
        ag_map_bool (ag_buf_str (&self->answer), "done", &done);
    }
    if (!done)
        die ("a minute went by", "and there is work left");
    ag_buf_fini (&names);
}

static void
invoke (struct bench *self, char *list, unsigned each, op_fn op)
{
    char *runs[16] = {0};
    unsigned count = 0;
    for (char *name = strtok (list, ","); name && count < 16; name = strtok (NULL, ","))
        runs[count++] = name;
    for (unsigned i = 0; i < count; i++)
        apply (self, runs[i], op, 0, 1);
    await_idle (self, runs, count);
    double begin = now_us();
    for (unsigned i = 0; i < count; i++)
        apply (self, runs[i], op, 0, each);
    await_idle (self, runs, count);
    printf ("invocations_per_s\t%.6g\n", each * count / (now_us() - begin) * 1e6);
}

/*  fork, promote, diff  */

//  A fork of the run's tip that starts nothing; its id.
static void
fork_run (struct bench *self, const char *run, char id[32])
{
    struct ag_msg msg = {.type = AG_MSG_fork,
                         .fork = {.point = ag_str (run), .count = 1, .no_start = true}};
    ask (self, msg);
    snprintf (id, 32, "%.*s", AG_STR_ARG (answer_text (self, "run_id")));
}

typedef double one_fn (struct bench *self, const char *run);

static double
one_fork (struct bench *self, const char *run)
{
    char id[32];
    double begin = now_us();
    fork_run (self, run, id);
    return now_us() - begin;
}

static double
one_promote (struct bench *self, const char *run)
{
    char id[32];
    fork_run (self, run, id);
    apply (self, id, add_op, 0, ENTITIES);
    double begin = now_us();
    ask (self, (struct ag_msg){.type = AG_MSG_promote, .promote = {.fork = ag_str (id)}});
    return now_us() - begin;
}

static double
one_diff (struct bench *self, const char *run)
{
    char id[32];
    fork_run (self, run, id);
    apply (self, id, add_op, 0, ENTITIES);
    double begin = now_us();
    ask (self, (struct ag_msg){.type = AG_MSG_diff, .diff = {.a = ag_str (run), .b = ag_str (id)}});
    return now_us() - begin;
}

/*  first, successor: from outside to an event that a worker caused  */

//  Stream number of the newest event.
static uint64_t
stream_now (struct bench *self)
{
    uint64_t stream = 0;
    ask (self, (struct ag_msg){.type = AG_MSG_status});
    ag_map_uint (ag_buf_str (&self->answer), "stream", &stream);
    return stream;
}

static void
await_event (struct bench *self, uint64_t after, const char *type)
{
    struct ag_str events, event;
    double end = now_us() + AG_BENCH_WAIT_MS * 1e3;
    do {
        if (now_us() > end)
            die ("a minute went by without", type);
        ask (self,
             (struct ag_msg){
                 .type = AG_MSG_events,
                 .events = {.after = after, .limit = 1, .wait_ms = 10000, .type = ag_str (type)}});
        if (ag_map_get (ag_buf_str (&self->answer), "events", &events) ||
            ag_map_uint (ag_buf_str (&self->answer), "after", &after))
            die ("events", "no such fields");
    } while (ag_list_nth (events, 0, &event));
}

//  So many forks with a goal, from asking for them until each has made an object.
static void
fork_many (struct bench *self, const char *run, unsigned count)
{
    uint64_t after = stream_now (self);
    double begin = now_us(), end = begin + AG_BENCH_WAIT_MS * 1e3;
    ask (self, (struct ag_msg){
                   .type = AG_MSG_fork,
                   .fork = {.point = ag_str (run), .goal = AG_LIT ("measure"), .count = count}});
    for (unsigned made = 0; made < count;) {
        struct ag_str events, event;
        ask (self, (struct ag_msg){.type = AG_MSG_events,
                                   .events = {.after = after,
                                              .limit = 500,
                                              .wait_ms = 10000,
                                              .type = AG_LIT ("object.created")}});
        if (now_us() > end)
            die ("a minute went by", "and not every fork has made its object");
        if (ag_map_get (ag_buf_str (&self->answer), "events", &events) ||
            ag_map_uint (ag_buf_str (&self->answer), "after", &after))
            die ("events", "no such fields");
        for (uint32_t i = 0; !ag_list_nth (events, i, &event); i++)
            made++;
    }
    printf ("us\t%.6g\n", now_us() - begin);
}

//  A program whose output nobody wants; and its end, which is 0.
static pid_t
start (char *const argv[])
{
    posix_spawn_file_actions_t files;
    pid_t pid;
    posix_spawn_file_actions_init (&files);
    posix_spawn_file_actions_addopen (&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    if (posix_spawn (&pid, argv[0], &files, NULL, argv, environ))
        die (argv[0], "cannot be started");
    posix_spawn_file_actions_destroy (&files);
    return pid;
}

static void
await_end (pid_t pid, const char *name)
{
    int status;
    if (waitpid (pid, &status, 0) != pid || status)
        die (name, "failed");
}

static char *agsup;

static double
one_first (struct bench *self, const char *run)
{
    char *argv[] = {agsup,       "--home", self->home.dir, "--quiet", "fork",
                    (char *)run, "--goal", "measure",      NULL};
    uint64_t stream = stream_now (self);
    double begin = now_us();
    pid_t pid = start (argv);
    await_event (self, stream, "object.created");
    double spent = now_us() - begin;
    await_end (pid, agsup);
    return spent;
}

//  The process of an agent, as status tells it; 0: it has none.
static pid_t
agent_pid (struct bench *self, const char *agent)
{
    struct ag_str agents, one;
    uint64_t pid = 0;
    ask (self, (struct ag_msg){.type = AG_MSG_status});
    if (ag_map_get (ag_buf_str (&self->answer), "agents", &agents))
        die ("status", "no agents");
    for (uint32_t i = 0; !ag_list_nth (agents, i, &one); i++) {
        struct ag_str name;
        if (!ag_map_text (one, "name", &name) && ag_str_is (name, agent))
            ag_map_uint (one, "pid", &pid);
    }
    return (pid_t)pid;
}

//  Something for the agent to do, and it has done it: so it has a process.
static pid_t
wake (struct bench *self, const char *agent)
{
    uint64_t stream = stream_now (self);
    ask (self, (struct ag_msg){.type = AG_MSG_goal,
                               .goal = {.run = ag_str (agent), .text = AG_LIT ("measure")}});
    await_event (self, stream, "object.created");
    pid_t pid = agent_pid (self, agent);
    if (!pid)
        die (agent, "has no process");
    return pid;
}

static double
one_successor (struct bench *self, const char *agent)
{
    pid_t pid = wake (self, agent);
    uint64_t stream = stream_now (self);
    double begin = now_us();
    kill (pid, SIGKILL);
    await_event (self, stream, "agent.ready");
    return now_us() - begin;
}

static double
one_start (struct bench *self, const char *agent)
{
    ask (self, (struct ag_msg){.type = AG_MSG_stop, .stop = {.run = ag_str (agent)}});
    usleep (REST_US); //  the kernel takes down what the last one had
    uint64_t stream = stream_now (self);
    double begin = now_us();
    ask (self, (struct ag_msg){.type = AG_MSG_start, .start = {.run = ag_str (agent)}});
    ask (self, (struct ag_msg){.type = AG_MSG_goal,
                               .goal = {.run = ag_str (agent), .text = AG_LIT ("measure")}});
    await_event (self, stream, "agent.ready");
    return now_us() - begin;
}

static void
repeat (struct bench *self, one_fn *one, const char *run, unsigned times)
{
    double *each = ag_xcalloc (times, sizeof *each);
    for (unsigned i = 0; i < times; i++)
        each[i] = one (self, run);
    printf ("p50_us\t%.6g\n", median (each, times));
    free (each);
}

//  The supervisor is dead and the nursery stopped, so that it does not know yet: from its going on to the
//  first answer. The broker keeps the request meanwhile.
static void
again (struct bench *self, pid_t nursery)
{
    double begin = now_us();
    kill (nursery, SIGCONT);
    ask (self, (struct ag_msg){.type = AG_MSG_status});
    printf ("us\t%.6g\n", now_us() - begin);
}

static void
command (struct bench *self, unsigned times, char **words, int count)
{
    char **argv = ag_xcalloc ((size_t)count + 4, sizeof *argv);
    double *each = ag_xcalloc (times, sizeof *each);
    argv[0] = words[0];
    argv[1] = "--home";
    argv[2] = self->home.dir;
    memcpy (argv + 3, words + 1, (size_t)(count - 1) * sizeof *argv);
    for (unsigned i = 0; i < times; i++) {
        double begin = now_us();
        await_end (start (argv), argv[0]);
        each[i] = now_us() - begin;
    }
    printf ("p50_us\t%.6g\n", median (each, times));
    free (each);
    free (argv);
}

int
main (int argc, char **argv)
{
    static const struct {
        const char *word;
        one_fn *one;
    } rows[] = {{"fork", one_fork},   {"promote", one_promote},     {"diff", one_diff},
                {"first", one_first}, {"successor", one_successor}, {"start", one_start},
                {NULL, NULL}};
    struct bench self;
    if (argc < 4)
        die ("usage", "bench_house HOME WHAT …");
    open_house (&self, argv[1]);
    agsup = argc > 5 ? argv[5] : NULL;
    if (!strcmp (argv[2], "load") && argc >= 8)
        load (&self, argv + 3);
    if (!strcmp (argv[2], "again"))
        again (&self, (pid_t)atoi (argv[3]));
    if (!strcmp (argv[2], "command") && argc >= 6)
        command (&self, (unsigned)atoi (argv[3]), argv + 4, argc - 4);
    if (!strcmp (argv[2], "invoke") && argc >= 5)
        invoke (&self, argv[3], (unsigned)atoi (argv[4]), argc > 5 ? grind_op : step_op);
    if (!strcmp (argv[2], "forks") && argc >= 5)
        fork_many (&self, argv[3], (unsigned)atoi (argv[4]));
    for (int i = 0; rows[i].word; i++)
        if (!strcmp (argv[2], rows[i].word) && argc >= 5)
            repeat (&self, rows[i].one, argv[3], (unsigned)atoi (argv[4]));
    close_house (&self);
    return 0;
}
