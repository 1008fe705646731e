//  SPDX-License-Identifier: Apache-2.0
#include "tests/peers/house.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>

//  libzmq 4.3.4 sometimes forgets a session whose peer left in the middle of its handshake (seen under load, no
//  frame of ours in it). Here it is the tests' own sockets; the programs under test look for leaks themselves.
const char *__lsan_default_suppressions (void);
const char *
__lsan_default_suppressions (void)
{
    return "leak:libzmq.so";
}

static const char nonce[] = "0123456789abcdef0123456789abcdef";

//  ---- the nursery: starts the broker, then does what it is told until the pipe closes

static pid_t
start_broker (const struct house *self, rlim_t files)
{
    pid_t pid = fork();
    if (pid)
        return pid;
    char program[300], log[100];
    snprintf (program, sizeof program, "%s/agsup-broker", getenv ("AG_BIN"));
    snprintf (log, sizeof log, "%s/broker.log", self->top);
    if (files)
        setrlimit (RLIMIT_NOFILE, &(struct rlimit){files, files});
    prctl (PR_SET_PDEATHSIG, SIGKILL);
    setenv ("AGSUP_NONCE", nonce, 1);
    //  Looking for leaks needs ptrace, which only root may do to a process that is not dumpable.
    setenv ("ASAN_OPTIONS",
            geteuid() ? "quarantine_size_mb=1:detect_leaks=0" : "quarantine_size_mb=1", 1);
    if (!freopen (log, "a", stderr))
        _exit (126);
    execl (program, "agsup-broker", "--home", self->home.dir, NULL);
    _exit (127);
}

static int
exit_status (int status)
{
    return WIFSIGNALED (status) ? 128 + WTERMSIG (status) : WEXITSTATUS (status);
}

//  Connect in a child of ours, as a worker would.
static int
connect_in_child (const char *path)
{
    int status = 0;
    pid_t pid = fork();
    if (pid == 0) {
        int fd = raw_connect (path);
        _exit (fd < 0 || raw_handshake (fd, "DEALER"));
    }
    waitpid (pid, &status, 0);
    return exit_status (status);
}

_Noreturn static void
be_nursery (const struct house *self, rlim_t files, int command, int report)
{
    int answer = start_broker (self, files);
    pid_t broker = answer;
    char word[200];
    prctl (PR_SET_PDEATHSIG, SIGKILL);
    do {
        if (write (report, &answer, sizeof answer) < 0 || read (command, word, sizeof word) <= 0)
            break;
        if (word[0] == '/')
            answer = connect_in_child (word);
        else {
            kill (broker, atoi (word));
            answer = waitpid (broker, &answer, 0) == broker ? exit_status (answer) : -1;
        }
    } while (true);
    _exit (0);
}

static int
tell_nursery (struct house *self, const char *word)
{
    int answer = -1;
    assert_int_equal (write (self->command, word, strlen (word) + 1), strlen (word) + 1);
    assert_int_equal (read (self->report, &answer, sizeof answer), sizeof answer);
    return answer;
}

static void
start_nursery (struct house *self, rlim_t files)
{
    int down[2], up[2], answer = 0;
    assert_int_equal (pipe (down) | pipe (up), 0);
    self->nursery = fork();
    if (self->nursery == 0) {
        close (down[1]);
        close (up[0]);
        be_nursery (self, files, down[0], up[1]);
    }
    close (down[0]);
    close (up[1]);
    self->command = down[1];
    self->report = up[0];
    assert_int_equal (read (self->report, &answer, sizeof answer), sizeof answer);
    self->broker = answer;
}

//  ---- the house

void
house_open (struct house *self, rlim_t files)
{
    struct ag_err err;
    *self = (struct house){.top = "/tmp/agsup-peers-XXXXXX"};
    assert_non_null (getenv ("AG_BIN"));
    assert_non_null (mkdtemp (self->top));
    char dir[64];
    snprintf (dir, sizeof dir, "%s/home", self->top);
    assert_int_equal (ag_home_make (dir, &err), 0);
    assert_int_equal (ag_home_open (&self->home, dir, &err), 0);
    assert_int_equal (ag_home_prepare (&self->home, &err), 0);
    assert_int_equal (ag_home_token (&self->home, self->token, &err), 0);
    start_nursery (self, files);
    self->context = ag_net_context();
}

void
house_close (struct house *self)
{
    close (self->command);
    close (self->report);
    kill (self->nursery, SIGKILL);
    waitpid (self->nursery, NULL, 0);
    for (int i = 0; i < self->socket_count; i++)
        zmq_close (self->sockets[i]);
    if (self->supervisor)
        zmq_close (self->supervisor);
    zmq_ctx_term (self->context);
    ag_home_fini (&self->home);
    char command[64];
    snprintf (command, sizeof command, "rm -rf %s", self->top);
    assert_int_equal (system (command), 0);
}

int
house_end_broker (struct house *self, int number)
{
    char word[16];
    snprintf (word, sizeof word, "%d", number);
    return tell_nursery (self, word);
}

int
house_connect_as_worker (struct house *self, const char *socket_path)
{
    return tell_nursery (self, socket_path);
}

size_t
house_memory (const struct house *self)
{
    char path[32];
    unsigned long pages = 0;
    snprintf (path, sizeof path, "/proc/%d/statm", (int)self->broker);
    FILE *file = fopen (path, "r");
    if (file) {
        assert_int_equal (fscanf (file, "%*u %lu", &pages), 1);
        fclose (file);
    }
    return pages * (size_t)sysconf (_SC_PAGESIZE);
}

//  ---- the supervisor

void
supervisor_open (struct house *self)
{
    struct ag_err err;
    self->supervisor =
        ag_net_socket (self->context, &(struct ag_net){ZMQ_ROUTER, 100000, 100000, NULL});
    assert_int_equal (ag_net_bind (self->supervisor, self->home.broker, 0600, &err), 0);
}

void
supervisor_close (struct house *self)
{
    zmq_setsockopt (self->supervisor, ZMQ_LINGER, &(int){0}, sizeof (int));
    ag_net_unbind (self->supervisor, self->home.broker);
    zmq_close (self->supervisor);
    self->supervisor = NULL;
}

int
supervisor_hear (struct house *self, int64_t wait_ms, struct ag_parts *parts)
{
    struct ag_err err;
    zmq_pollitem_t item = {self->supervisor, 0, ZMQ_POLLIN, 0};
    *parts = (struct ag_parts){0};
    return zmq_poll (&item, 1, wait_ms) > 0
               ? ag_net_recv (self->supervisor, 2 * AG_NET_FRAME_BYTES, parts, &err)
               : 0;
}

static struct ag_str link_id; //  of the connection that said `link` last

void
supervisor_expect_link (struct house *self, uint64_t monitors)
{
    static char id[256];
    struct ag_parts parts;
    struct ag_msg msg;
    struct ag_err err;
    assert_int_equal (supervisor_hear (self, 30000, &parts), 1);
    assert_int_equal (parts.count, 3);
    assert_int_equal (ag_be64 (ag_part (&parts, 1).p), 0);
    assert_int_equal (ag_wire_read (AG_PEER_BROKER, ag_part (&parts, 2), &msg, &err), 0);
    assert_int_equal (msg.type, AG_MSG_link);
    assert_true (ag_str_is (msg.link.nonce, nonce));
    assert_int_equal (msg.link.monitors, monitors);
    assert_int_equal (parts.peer.pid, self->broker);
    memcpy (id, ag_part (&parts, 0).p, ag_part (&parts, 0).n);
    link_id = (struct ag_str){id, ag_part (&parts, 0).n};
    ag_parts_fini (&parts);
}

void
supervisor_answer (struct house *self, struct ag_parts *asked, struct ag_str answer)
{
    struct ag_err err;
    struct ag_str frames[] = {ag_part (asked, 0), ag_part (asked, 1), answer};
    assert_int_equal (ag_net_send (self->supervisor, frames, 3, &err), 0);
}

void
supervisor_publish (struct house *self, struct ag_str topic, struct ag_str header,
                    struct ag_str body)
{
    struct ag_err err;
    struct ag_str frames[] = {link_id, {"\0\0\0\0\0\0\0\0", 8}, topic, header, body};
    while (ag_net_send (self->supervisor, frames, 5, &err)) {
        assert_int_equal (err.code, AG_E_BUSY);
        usleep (1000);
    }
}

void
supervisor_serve (struct house *self)
{
    struct ag_parts parts;
    struct ag_msg msg;
    struct ag_err err;
    struct ag_buf answer = {0};
    assert_int_equal (supervisor_hear (self, 30000, &parts), 1);
    assert_int_equal (parts.count, 3);
    assert_true (ag_be64 (ag_part (&parts, 1).p) != 0);
    assert_int_equal (ag_wire_read (AG_PEER_CLIENT, ag_part (&parts, 2), &msg, &err), 0);
    ag_answer_ok (&answer, msg.id);
    supervisor_answer (self, &parts, ag_buf_str (&answer));
    ag_buf_fini (&answer);
    ag_parts_fini (&parts);
}

//  ---- clients and monitors

//  The broker may not have bound yet.
void *
house_connect (struct house *self, int type)
{
    struct ag_err err;
    const char *path = type == ZMQ_SUB ? self->home.monitor : self->home.client;
    for (int i = 0; i < 1000 && access (path, F_OK); i++)
        usleep (10000);
    void *socket = ag_net_socket (self->context, &(struct ag_net){type, 100000, 100000, NULL});
    zmq_setsockopt (socket, ZMQ_LINGER, &(int){0}, sizeof (int));
    assert_in_range (self->socket_count, 0, SOCKETS - 1);
    self->sockets[self->socket_count++] = socket;
    assert_int_equal (ag_net_connect (socket, path, &err), 0);
    return socket;
}

static void
write_request (const struct house *self, const char *id, size_t bytes, struct ag_buf *out)
{
    struct ag_buf ops = {0};
    struct ag_msg msg = {.type = AG_MSG_status, .token = ag_str (self->token), .id = ag_str (id)};
    if (bytes) {
        char *text = calloc (1, bytes);
        ag_put_list (&ops, 1);
        ag_put_text (&ops, (struct ag_str){text, bytes});
        free (text);
        msg.type = AG_MSG_apply;
        msg.apply.run = AG_LIT ("r1");
        msg.apply.ops = ag_buf_str (&ops);
    }
    ag_wire_write (&msg, out);
    ag_buf_fini (&ops);
}

void
client_ask (struct house *self, void *socket, const char *id, size_t bytes)
{
    struct ag_err err;
    struct ag_buf request = {0};
    write_request (self, id, bytes, &request);
    assert_int_equal (ag_net_send (socket, &(struct ag_str){(char *)request.p, request.n}, 1, &err),
                      0);
    ag_buf_fini (&request);
}

static void
copy_field (struct ag_str map, const char *key, char *out, size_t room)
{
    struct ag_str text;
    if (!ag_map_text (map, key, &text))
        snprintf (out, room, "%.*s", AG_STR_ARG (text));
}

struct answer
client_hear (void *socket, int64_t wait_ms)
{
    struct answer answer = {0};
    struct ag_parts parts;
    struct ag_err err;
    zmq_pollitem_t item = {socket, 0, ZMQ_POLLIN, 0};
    if (zmq_poll (&item, 1, wait_ms) <= 0 ||
        ag_net_recv (socket, AG_NET_FRAME_BYTES, &parts, &err) <= 0)
        return answer;
    struct ag_str map = ag_part (&parts, parts.count - 1);
    copy_field (map, "do", answer.word, sizeof answer.word);
    copy_field (map, "code", answer.code, sizeof answer.code);
    copy_field (map, "id", answer.id, sizeof answer.id);
    ag_parts_fini (&parts);
    return answer;
}
