/*  nursery_test - a real agsupd whose supervisor and broker are this test.
 *
 *  The test program stands under the names agsup-supervisor and agsup-broker in a directory of its own. As
 *  supervisor it hands descriptor 3 to the test and waits for a byte, with which it exits; so the test
 *  itself is the supervisor, and can still kill it. Every wait is bounded.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_NURSERY_TEST_H
#define AG_NURSERY_TEST_H
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <libgen.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>
#include "common/buf.h"
#include "common/home.h"
#include "common/spawn_wire.h"
#include "supervisor/nursery/clock.h"
#include "supervisor/nursery/procs.h"

enum { PATIENCE_MS = 8000, NOBODY = 65534 };

//  What a house process says of itself at its start.
struct hello {
    pid_t pid;
    int broker, has_config;
    char nonce[AG_NONCE];
};

struct house {
    char dir[64], home[80], id[AG_NONCE];
    uid_t uid;
    pid_t agsupd;
    int listener, ready;
    //  of the last supervisor
    ag_nursery_t *nursery;
    struct hello supervisor, broker;
    int control;                    //  a byte written here is its exit status
    struct ag_nursery_event *heard; //  and not yet asked for
    size_t heard_count;
};

//  The other side: the two programs of the house.

_Noreturn static inline void
play (const char *name, int argc, char **argv)
{
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    struct hello hello = {
        .pid = getpid(), .broker = !strcmp (name, "agsup-broker"), .has_config = argc > 3};
    char code = 0;
    int fd = socket (AF_UNIX, SOCK_SEQPACKET, 0), pair = AG_SPAWN_FD;
    if (argc < 3 || strcmp (argv[1], "--home") || argv[2][0] != '/')
        _exit (64);
    snprintf (to.sun_path, sizeof to.sun_path, "%s/test.sock", getenv ("AG_TEST_DIR"));
    memcpy (hello.nonce, getenv ("AGSUP_NONCE"), AG_NONCE);
    if (connect (fd, (struct sockaddr *)&to, sizeof to) < 0 ||
        ag_packet_send (fd, &hello, sizeof hello, &pair, !hello.broker))
        _exit (65);
    close (hello.broker ? -1 : pair);
    _exit (read (fd, &code, 1) == 1 ? code : 66);
}

//  Each lives for a moment, in which it makes the next one; after so many it is over by itself.
_Noreturn static inline void
run_away (void)
{
    bool is_last = write (1, "go", 2) != 2;
    for (int i = 0; i < 200000 && !is_last; i++)
        is_last = syscall (SYS_clone, SIGCHLD, 0, 0, 0, 0) != 0;
    _exit (0);
}

//  Start and end of a house.

static inline void
make_dirs (struct house *self)
{
    char exe[PATH_MAX] = "", path[128];
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    strcpy (self->dir, "/tmp/agsup-nursery-XXXXXX");
    assert_non_null (mkdtemp (self->dir));
    snprintf (self->home, sizeof self->home, "%s/home", self->dir);
    assert_true (readlink ("/proc/self/exe", exe, sizeof exe - 1) > 0);
    static const char *const names[] = {"agsup-supervisor", "agsup-broker", "agsup-runaway"};
    for (int i = 0; i < 3; i++) {
        snprintf (path, sizeof path, "%s/%s", self->dir, names[i]);
        assert_int_equal (symlink (exe, path), 0);
    }
    snprintf (at.sun_path, sizeof at.sun_path, "%s/test.sock", self->dir);
    self->listener = socket (AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    assert_int_equal (bind (self->listener, (struct sockaddr *)&at, sizeof at), 0);
    assert_int_equal (listen (self->listener, 64), 0);
    assert_int_equal (chown (self->dir, self->uid, (gid_t)-1), 0);
    assert_int_equal (chmod (at.sun_path, 0777), 0);
}

//  agsupd with these options more; returns its pid.
static inline pid_t
launch (struct house *self, int ready, const char *const *more)
{
    char bin[PATH_MAX], fd[16];
    snprintf (bin, sizeof bin, "%s/agsupd", getenv ("AG_BIN"));
    snprintf (fd, sizeof fd, "%d", ready);
    const char *argv[16] = {bin, "--home", self->home, "--programs", self->dir};
    int n = 5;
    if (ready >= 0) {
        argv[n++] = "--ready-fd";
        argv[n++] = fd;
    }
    for (; more && *more; more++)
        argv[n++] = *more;
    pid_t pid = fork();
    if (pid)
        return pid;
    int quiet =
        open (getenv ("AG_TEST_LOG") ? getenv ("AG_TEST_LOG") : "/dev/null", O_WRONLY | O_APPEND);
    dup2 (quiet, 2);
    gid_t more_groups[] = {4242}; //  that no child with a uid of its own may keep
    if (geteuid() == 0 && setgroups (1, more_groups))
        _exit (70);
    if (geteuid() != self->uid && (setgroups (0, NULL) || setgid (NOBODY) || setuid (self->uid)))
        _exit (70);
    prctl (PR_SET_PDEATHSIG, SIGKILL); //  a test that is stopped leaves nothing
    setenv ("AG_TEST_DIR", self->dir, 1);
    if (geteuid()) //  its processes cannot be looked into, also not by the leak checker
        setenv ("ASAN_OPTIONS", "detect_leaks=0", 1);
    execv (bin, (char **)argv);
    _exit (71);
}

static inline bool
readable_within (int fd, int ms)
{
    struct pollfd poll_fd = {fd, POLLIN, 0};
    return poll (&poll_fd, 1, ms) > 0;
}

//  Take the next house process that says hello; the supervisor's end becomes ours.
static inline void
greet (struct house *self)
{
    struct hello hello;
    int fds[AG_PACKET_FDS];
    bool lost;
    assert_true (readable_within (self->listener, PATIENCE_MS));
    int fd = accept4 (self->listener, NULL, NULL, SOCK_CLOEXEC);
    assert_true (readable_within (fd, PATIENCE_MS));
    assert_int_equal (ag_packet_receive (fd, &hello, sizeof hello, fds, &lost), 1);
    if (hello.broker) {
        self->broker = hello; //  it lives as long as this descriptor, or until it is killed
        return;
    }
    ag_nursery_destroy (&self->nursery);
    if (self->control >= 0)
        close (self->control);
    self->supervisor = hello;
    self->control = fd;
    self->nursery = ag_nursery_new (fds[0]);
}

static inline void
read_id (struct house *self)
{
    struct ag_home home;
    struct ag_err err;
    assert_int_equal (ag_home_open (&home, self->home, &err), 0);
    strcpy (self->id, home.id);
    ag_home_fini (&home);
}

static inline void
open_house (struct house *self, const char *const *more)
{
    int ends[2];
    assert_int_equal (pipe (ends), 0);
    fcntl (ends[0], F_SETFD, FD_CLOEXEC);
    self->agsupd = launch (self, ends[1], more);
    close (ends[1]);
    self->ready = ends[0];
    for (int i = 0; i < 2; i++)
        greet (self);
    ag_nursery_ready (self->nursery, AG_HOUSE_SUPERVISOR);
    ag_nursery_ready (self->nursery, AG_HOUSE_BROKER);
    assert_true (readable_within (self->ready, PATIENCE_MS));
    read_id (self);
}

//  Exit status of a child of this test; a signal is 256 and more.
static inline int
status_of (pid_t pid)
{
    int status = 0;
    for (int i = 0; i < PATIENCE_MS / 5; i++) {
        if (waitpid (pid, &status, WNOHANG) == pid)
            return WIFEXITED (status) ? WEXITSTATUS (status) : 256 + WTERMSIG (status);
        poll (NULL, 0, 5);
    }
    fail_msg ("process %d does not end", pid);
    return -1;
}

static inline int
close_house (struct house *self, int signal)
{
    kill (self->agsupd, signal);
    int status = status_of (self->agsupd);
    self->agsupd = 0;
    return status;
}

static inline int
house_setup (void **state, uid_t uid)
{
    struct house *self = ag_xcalloc (1, sizeof *self);
    *self = (struct house){.uid = uid, .listener = -1, .control = -1, .ready = -1};
    make_dirs (self);
    *state = self;
    return 0;
}

//  Whether the tests can run once more as an ordinary user: by root, from where one may come.
static inline bool
nobody_can_come (void)
{
    char exe[PATH_MAX] = "";
    int status = -1;
    if (geteuid() || readlink ("/proc/self/exe", exe, sizeof exe - 1) < 0)
        return false;
    pid_t pid = fork();
    if (pid == 0)
        _exit (setgroups (0, NULL) || setgid (NOBODY) || setuid (NOBODY) || access (exe, X_OK));
    waitpid (pid, &status, 0);
    if (status)
        printf ("skipped as uid %d: it cannot reach %s\n", NOBODY, exe);
    return status == 0;
}

static inline int
as_we_are (void **state)
{
    return house_setup (state, geteuid());
}

static inline int
as_nobody (void **state)
{
    return house_setup (state, NOBODY);
}

static inline int
house_teardown (void **state)
{
    struct house *self = *state;
    char command[128];
    int ended = 0;
    for (int i = 0; self->agsupd > 0 && !ended && i < PATIENCE_MS / 10; i++) {
        kill (self->agsupd, SIGTERM); //  again and again: two that wait are one
        poll (NULL, 0, 10);
        ended = waitpid (self->agsupd, NULL, WNOHANG);
    }
    assert_true (self->agsupd <= 0 || ended);
    ag_nursery_destroy (&self->nursery);
    close (self->listener);
    close (self->control);
    close (self->ready);
    struct ag_home home;
    struct ag_err err;
    if (!ag_home_open (&home, self->home, &err)) { //  what a killed one left outside of it
        ag_home_leave (&home);
        ag_home_fini (&home);
    }
    snprintf (command, sizeof command, "rm -rf %s", self->dir);
    int rc = system (command);
    free (self->heard);
    free (self);
    return rc;
}

//  Talking to it.

static inline bool
forget (struct house *self, uint32_t what, uint64_t id, struct ag_nursery_event *event)
{
    for (size_t i = 0; i < self->heard_count; i++) {
        if (self->heard[i].what != what || self->heard[i].id != id)
            continue;
        *event = self->heard[i];
        memmove (&self->heard[i], &self->heard[i + 1], (--self->heard_count - i) * sizeof *event);
        return true;
    }
    return false;
}

static inline void
remember (struct house *self, const struct ag_nursery_event *event)
{
    self->heard = ag_xrealloc (self->heard, (self->heard_count + 1) * sizeof *event);
    self->heard[self->heard_count++] = *event;
}

//  Take in what has come, or wait for something until the deadline: false when nothing came.
static inline bool
listen_to (struct house *self, uint64_t deadline_ms)
{
    struct ag_err err;
    struct ag_nursery_event event;
    uint64_t now_ms = ag_clock_ms();
    int got = ag_nursery_next (self->nursery, &event, &err);
    if (got < 0)
        fail_msg ("%s", err.text);
    if (got)
        remember (self, &event);
    struct pollfd poll_fd = {ag_nursery_fd (self->nursery), ag_nursery_poll (self->nursery), 0};
    return got || (now_ms < deadline_ms && poll (&poll_fd, 1, (int)(deadline_ms - now_ms)) > 0);
}

//  Whether the event came, within ms.
static inline bool
hears (struct house *self, uint32_t what, uint64_t id, int ms, struct ag_nursery_event *event)
{
    uint64_t deadline_ms = ag_clock_ms() + (uint64_t)ms;
    while (!forget (self, what, id, event))
        if (!listen_to (self, deadline_ms))
            return false;
    return true;
}

//  How the life of a child ended: STOPPED or FAILED.
static inline struct ag_nursery_event
await_end (struct house *self, uint64_t id)
{
    struct ag_nursery_event event = {0};
    uint64_t deadline_ms = ag_clock_ms() + PATIENCE_MS;
    while (!forget (self, AG_NURSERY_STOPPED, id, &event) &&
           !forget (self, AG_NURSERY_FAILED, id, &event))
        if (!listen_to (self, deadline_ms))
            fail_msg ("child %llu never ended", (unsigned long long)id);
    return event;
}

static inline struct ag_nursery_event
await (struct house *self, uint32_t what, uint64_t id)
{
    struct ag_nursery_event event = {0};
    if (!hears (self, what, id, PATIENCE_MS, &event))
        fail_msg ("event %u of child %llu never came", what, (unsigned long long)id);
    return event;
}

//  Tests run side by side.
static inline void
nonce_of (uint64_t id, char nonce[AG_NONCE])
{
    snprintf (nonce, AG_NONCE, "%08x%024llx", (unsigned)getpid(), (unsigned long long)id);
}

static inline void
spawn (struct house *self, const struct ag_spawn *spawn)
{
    struct ag_err err;
    char nonce[AG_NONCE];
    static const char *const env[] = {"PATH=/usr/bin:/bin", NULL};
    struct ag_spawn copy = *spawn;
    nonce_of (spawn->id, nonce);
    copy.nonce = nonce;
    copy.env = copy.env ? copy.env : env;
    if (ag_nursery_spawn (self->nursery, &copy, &err))
        fail_msg ("%s", err.text);
}

//  A shell that runs the text, ended in the way that `layer` (a mask) makes possible.
static inline void
shell (struct house *self, uint64_t id, uint32_t layers, enum ag_child_kind kind, const char *text)
{
    const char *const argv[] = {"sh", "-c", text, NULL};
    spawn (self, &(struct ag_spawn){.id = id, .kind = kind, .layers = layers, .argv = argv});
}

static inline void
sleeper (struct house *house, uint64_t id, enum ag_child_kind kind)
{
    const char *const argv[] = {"sleep", "1000", NULL};
    spawn (house, &(struct ag_spawn){.id = id, .kind = kind, .argv = argv});
}

static inline void
shut_output (const struct ag_nursery_event *event)
{
    close (event->output[0]);
    close (event->output[1]);
}

//  Everything up to the end of what a descriptor brings.
static inline void
drink (int fd, char *text, size_t size)
{
    size_t n = 0;
    while (n + 1 < size && readable_within (fd, PATIENCE_MS)) {
        ssize_t got = read (fd, text + n, size - 1 - n);
        if (got <= 0)
            break;
        n += (size_t)got;
    }
    text[n] = 0;
    close (fd);
}

static inline bool
is_sleep (pid_t pid)
{
    char path[32], name[16] = "";
    snprintf (path, sizeof path, "/proc/%d/comm", pid);
    int fd = open (path, O_RDONLY | O_CLOEXEC);
    ssize_t n = read (fd, name, sizeof name - 1);
    close (fd);
    return n > 0 && !strcmp (name, "sleep\n");
}

//  Processes that were started with this value, so those of one child or of one house; of these, the ones
//  that have become what they were to become, `sleep`.
static inline int
count_with (const char *name, const char *wanted, bool sleeping)
{
    struct ag_procs procs;
    struct ag_err err;
    char value[AG_NONCE];
    int n = 0;
    assert_int_equal (ag_procs_open (&procs, &err), 0);
    assert_int_equal (ag_procs_read (&procs), 0);
    for (size_t i = 0; i < procs.count; i++)
        n += ag_proc_env (&procs, procs.list[i].pid, name, value, sizeof value) &&
             !strcmp (value, wanted) && (!sleeping || is_sleep (procs.list[i].pid));
    ag_procs_close (&procs);
    return n;
}

static inline int
children_of (pid_t parent)
{
    struct ag_procs procs;
    struct ag_err err;
    int n = 0;
    assert_int_equal (ag_procs_open (&procs, &err), 0);
    assert_int_equal (ag_procs_read (&procs), 0);
    for (size_t i = 0; i < procs.count; i++)
        n += procs.list[i].parent == parent;
    ag_procs_close (&procs);
    return n;
}

static inline int
count_of (uint64_t id)
{
    char nonce[AG_NONCE];
    nonce_of (id, nonce);
    return count_with ("AGSUP_NONCE", nonce, false);
}

//  Whether the house comes to have so many sleepers.
static inline bool
comes_to (struct house *self, int count)
{
    for (int i = 0; i < PATIENCE_MS / 10; i++) {
        if (count_with ("AGSUP_HOME_ID", self->id, true) == count)
            return true;
        poll (NULL, 0, 10);
    }
    return false;
}

static inline void
skip_because (const char *reason)
{
    print_message ("    skipped: %s\n", reason);
    skip();
}

//  The first thing in main. The tests follow; as root, what depends on who runs it once more as nobody.
static inline void
play_if_called (int argc, char **argv)
{
    const char *name = basename (argv[0]);
    if (!strcmp (name, "agsup-runaway"))
        run_away();
    if (!strncmp (name, "agsup-", 6))
        play (name, argc, argv);
    setenv ("AG_BIN", "build/bin", 0);
}

#define OURS(test)    cmocka_unit_test_setup_teardown (test, as_we_are, house_teardown)
#define NOBODYS(test) cmocka_unit_test_setup_teardown (test, as_nobody, house_teardown)
#endif
