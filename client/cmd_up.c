//  From nothing to a fleet and back: up, down.
//  SPDX-License-Identifier: Apache-2.0
#include "client/client.h"
#include "common/home.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    UP_MS = 30000,
    DOWN_MS = 60000,
    PAUSE_MS = 10,
    STATUS_MS = 1000,
    TAIL_BYTES = 4096,
    WORDS_BYTES = 300
};

static void
pause_a_moment (void)
{
    nanosleep (&(struct timespec){.tv_nsec = PAUSE_MS * 1000000}, NULL);
}

//  The last lines of a log, from the line that says why a process ended when there is one; whole lines, and
//  few enough for an error's text.
static char *
last_words (char *text)
{
    char *why = NULL;
    for (char *at = text; (at = strstr (at, "error: ended: ")); at++)
        why = at + strlen ("error: ended: ");
    if (why) {
        why[strcspn (why, "\n")] = 0;
        return why;
    }
    size_t n = strlen (text);
    if (n <= WORDS_BYTES)
        return text;
    char *line = strchr (text + n - WORDS_BYTES, '\n');
    return line ? line + 1 : text + n - WORDS_BYTES;
}

//  Without the hint that a log has after an error: whoever shows the error has it too.
static void
drop_hint (char *words, enum ag_code code)
{
    char *hint = strstr (words, ag_code_hint (code));
    if (hint && hint - words > 2 && hint[-1] == '(')
        hint[-2] = 0;
}

//  It ended instead of getting ready: its exit status says what kind of reason, its log which one.
static int
fail_ended (int status, const struct ag_started *started, struct ag_err *err)
{
    char text[TAIL_BYTES + 1] = "";
    int fd = open (started->log, O_RDONLY | O_CLOEXEC);
    off_t end = fd >= 0 ? lseek (fd, 0, SEEK_END) : 0;
    off_t at = end - started->from > TAIL_BYTES ? end - TAIL_BYTES : started->from;
    ssize_t n = fd >= 0 ? pread (fd, text, TAIL_BYTES, at) : 0;
    while (n > 0 && text[n - 1] == '\n')
        n--;
    text[n > 0 ? n : 0] = 0;
    if (fd >= 0)
        close (fd);
    int code = WIFEXITED (status) ? WEXITSTATUS (status) : 1;
    enum ag_code kind = code == ag_code_status (AG_E_CONFIG)    ? AG_E_CONFIG
                        : code == ag_code_status (AG_E_RUNNING) ? AG_E_RUNNING
                        : code == ag_code_status (AG_E_CORRUPT) ? AG_E_CORRUPT
                                                                : AG_E_FAILED;
    char *words = last_words (text);
    drop_hint (words, kind);
    return ag_fail (err, kind, "the fleet ended before it was ready: %s (%s)", words, started->log);
}

//  One look: whether the house of this process answers, and not that of another `up` at the same time; why names a
//  disk that is full, which may take any time.
static bool
is_ready (const char *dir, pid_t pid, struct ag_err *why)
{
    struct ag_home home;
    struct ag_err err = {0};
    if (ag_home_open (&home, dir, &err))
        return false;
    bool listens = ag_home_holder (&home, &err) == pid && ag_ask_listens (home.client);
    ag_home_fini (&home);
    ag_ask_t *ask = listens ? ag_ask_new (dir, &err) : NULL;
    struct ag_buf answer = {0};
    struct ag_ask_time time = {STATUS_MS, STATUS_MS};
    bool ready = ask && !ag_ask (ask, &(struct ag_msg){.type = AG_MSG_status}, time, &answer, &err);
    struct ag_str full = ready ? ag_pick_text (ag_buf_str (&answer), "disk_full") : AG_LIT ("");
    if (full.n)
        ag_fail (why, AG_E_DISK_FULL, "%.*s", AG_STR_ARG (full));
    else if (!ready && err.code == AG_E_DISK_FULL)
        *why = err;
    ag_ask_destroy (&ask);
    ag_buf_fini (&answer);
    return ready;
}

static int
await_ready (const struct ag_client *self, struct ag_err *err)
{
    int status;
    pid_t pid = self->started->pid;
    struct ag_err why = {0};
    while (!is_ready (self->place.home, pid, &why) || why.code) {
        if (why.code)
            return ag_fail (err, why.code, "process %d waits for room: %s", pid, why.text);
        if (waitpid (pid, &status, WNOHANG) == pid)
            return fail_ended (status, self->started, err);
        if (!ag_client_left_ms (self, UP_MS))
            return ag_fail (err, AG_E_TIMEOUT, "process %d is not ready yet; %s says why", pid,
                            self->started->log);
        ag_client_progress (self, "starting %s", self->place.home);
        pause_a_moment();
    }
    return 0;
}

//  {home, pid}
static void
show_up (const struct ag_client *self, pid_t pid)
{
    if (!self->look.json) {
        ag_client_remark (self, "the fleet of %s is up, process %d", self->place.home, pid);
        return;
    }
    struct ag_buf out = {0};
    ag_put_map (&out, 2);
    ag_put_lit (&out, "home");
    ag_put_lit (&out, self->place.home);
    ag_put_lit (&out, "pid");
    ag_put_uint (&out, (uint64_t)pid);
    ag_look_json (&self->look, ag_buf_str (&out));
    ag_buf_fini (&out);
}

//  agsupd was spawned before this was loaded.
int
ag_cmd_up (struct ag_client *self, const struct ag_args_up *args, struct ag_err *err)
{
    (void)args;
    int rc = await_ready (self, err);
    ag_client_progress (self, NULL);
    if (!rc)
        show_up (self, self->started->pid);
    return rc;
}

//  The end is proved by the lock: nobody holds the home any more.
static int
await_free (const struct ag_client *self, const struct ag_home *home, struct ag_err *err)
{
    pid_t pid;
    while ((pid = ag_home_holder (home, err)) > 0) {
        if (!ag_client_left_ms (self, DOWN_MS))
            return ag_fail (err, AG_E_TIMEOUT, "process %d still holds the home %s", pid,
                            home->dir);
        ag_client_progress (self, "ending %s", home->dir);
        pause_a_moment();
    }
    return (int)pid;
}

//  Where no supervisor answers, its parent is told: it ends in order at SIGTERM.
static void
tell_holder (const struct ag_home *home)
{
    struct ag_err none;
    pid_t pid = ag_home_holder (home, &none);
    int process = pid > 0 ? pidfd_open (pid, 0) : -1;
    if (process >= 0 && ag_home_holder (home, &none) == pid)
        pidfd_send_signal (process, SIGTERM, NULL, 0);
    if (process >= 0)
        close (process);
}

//  An answer that got lost on the way does not matter: the lock tells. What does not answer within a third of the
//  time is told otherwise, and has the rest for its end.
static int
ask_down (struct ag_client *self, const struct ag_home *home, struct ag_buf *answer,
          struct ag_err *err)
{
    uint64_t third_ms = (uint64_t)ag_client_left_ms (self, DOWN_MS) / 3;
    int rc = ag_client_poll (self, &(struct ag_msg){.type = AG_MSG_down}, third_ms, answer, err);
    if (!rc)
        return 0;
    if (!self->ask || (err->code != AG_E_NO_SUPERVISOR && err->code != AG_E_TIMEOUT))
        return -1;
    tell_holder (home);
    return 0;
}

static int
take_down (struct ag_client *self, const struct ag_home *home, struct ag_err *err)
{
    struct ag_buf answer = {0};
    pid_t pid = ag_home_holder (home, err);
    int rc = pid < 0    ? -1
             : pid == 0 ? ag_fail (err, AG_E_NO_SUPERVISOR, "no supervisor runs in %s", home->dir)
                        : ask_down (self, home, &answer, err);
    if (!rc)
        rc = await_free (self, home, err);
    ag_client_progress (self, NULL);
    if (!rc && self->look.json)
        ag_client_document (self, ag_buf_str (&answer));
    else if (!rc)
        ag_client_remark (self, "the fleet of %s is down", home->dir);
    ag_buf_fini (&answer);
    return rc;
}

int
ag_cmd_down (struct ag_client *self, const struct ag_args_down *args, struct ag_err *err)
{
    (void)args;
    struct ag_home home;
    if (ag_client_home (self, err) || ag_home_open (&home, self->place.home, err))
        return -1;
    int rc = take_down (self, &home, err);
    ag_home_fini (&home);
    return rc;
}
