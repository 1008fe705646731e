//  What fake_test.h declares; included by it alone.
//  SPDX-License-Identifier: Apache-2.0
#ifndef AG_FAKE_INSIDE_TEST_H
#define AG_FAKE_INSIDE_TEST_H
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <zmq.h>

//  argv NULL: agsup-worker.
static inline void
fake_spawn (struct fake *self, char *const argv[], const char *files)
{
    const char *bin = getenv ("AG_BIN");
    char *program = ag_xprintf ("%s/agsup-worker", bin ? bin : "build/bin");
    char *const worker[] = {program, NULL};
    self->pid = fork();
    if (self->pid == 0) {
        prctl (PR_SET_PDEATHSIG, SIGKILL); //  also when a test is ended from outside
        setenv ("AGSUP_WORKER", self->endpoint, 1);
        setenv ("AGSUP_NONCE", "0123456789abcdef", 1);
        if (files)
            setenv ("AGSUP_FILES", files, 1);
        argv = argv ? argv : worker;
        execv (argv[0], argv);
        _exit (127);
    }
    free (program);
}

static inline void
fake_listen (struct fake *self)
{
    int soon = 30000, now = 0;
    *self = (struct fake){0};
    strcpy (self->dir, "/tmp/agsup-worker-XXXXXX");
    assert_non_null (mkdtemp (self->dir));
    snprintf (self->endpoint, sizeof self->endpoint, "ipc://%s/w", self->dir);
    self->context = zmq_ctx_new();
    self->router = zmq_socket (self->context, ZMQ_ROUTER);
    zmq_setsockopt (self->router, ZMQ_RCVTIMEO, &soon, sizeof soon);
    zmq_setsockopt (self->router, ZMQ_LINGER, &now, sizeof now);
    assert_int_equal (zmq_bind (self->router, self->endpoint), 0);
}

static inline void
fake_start (struct fake *self, const char *files)
{
    fake_listen (self);
    fake_spawn (self, NULL, files);
}

static inline void
fake_receive (struct fake *self, struct ag_buf *out)
{
    zmq_msg_t frame;
    zmq_msg_init (&frame);
    assert_true (zmq_msg_recv (&frame, self->router, 0) >= 0);
    ag_buf_clear (out);
    ag_buf_add (out, zmq_msg_data (&frame), zmq_msg_size (&frame));
    zmq_msg_close (&frame);
}

static inline void
fake_send (struct fake *self, struct ag_str bytes)
{
    assert_true (zmq_send (self->router, self->identity.p, self->identity.n, ZMQ_SNDMORE) >= 0);
    if (self->delimiter)
        assert_true (zmq_send (self->router, "", 0, ZMQ_SNDMORE) >= 0);
    assert_true (zmq_send (self->router, bytes.p, bytes.n, 0) >= 0);
}

static inline void
fake_keep_log (struct fake *self)
{
    struct ag_str text = {0};
    ag_map_text (ag_buf_str (&self->heard), "text", &text);
    snprintf (self->last_log, sizeof self->last_log, "%.*s", AG_STR_ARG (text));
    self->log_lines++;
}

static inline const char *
fake_hear (struct fake *self)
{
    struct ag_str word;
    for (;;) {
        fake_receive (self, &self->identity);
        fake_receive (self, &self->heard);
        self->delimiter = !self->heard.n; //  a REQ socket
        if (self->delimiter)
            fake_receive (self, &self->heard);
        assert_int_equal (ag_map_text (ag_buf_str (&self->heard), "do", &word), 0);
        if (!ag_str_is (word, "log"))
            break;
        fake_keep_log (self);
        fake_send (self, AG_LIT ("\x81\xa2"
                                 "do\xa2ok"));
    }
    ag_buf_clear (&self->json);
    ag_json_write (ag_buf_str (&self->heard), AG_JSON_LINE, &self->json);
    ag_buf_add (&self->json, "", 1);
    return (const char *)self->json.p;
}

//  A `fail` is answered by ok; what the test says is for the `next` that follows it, but for an ok.
static inline void
fake_pass_fail (struct fake *self, const char *format)
{
    if (!self->json.n || strncmp ((const char *)self->json.p, "{\"do\":\"fail\"", 12) ||
        strstr (format, "\"ok\""))
        return;
    fake_send (self, AG_LIT ("\x81\xa2"
                             "do\xa2ok"));
    assert_string_equal (fake_hear (self), "{\"do\":\"next\"}");
}

static inline void
fake_say (struct fake *self, const char *format, ...)
{
    struct ag_buf text = {0};
    struct ag_err err;
    va_list list;
    fake_pass_fail (self, format);
    va_start (list, format);
    int n = vsnprintf (NULL, 0, format, list);
    va_end (list);
    char *room = ag_xmalloc ((size_t)n + 1);
    va_start (list, format);
    vsnprintf (room, (size_t)n + 1, format, list);
    va_end (list);
    if (ag_json_read ((struct ag_str){room, (size_t)n}, &text, &err))
        fail_msg ("%s in %s", err.text, room);
    fake_send (self, ag_buf_str (&text));
    ag_buf_fini (&text);
    free (room);
}

static inline void
fake_put_json (struct ag_buf *out, const char *key, const char *json)
{
    struct ag_err err;
    ag_put_lit (out, key);
    assert_int_equal (ag_json_read (ag_str (json), out, &err), 0);
}

//  A pack called p: pairs of path and source, ended by NULL.
static inline void
fake_welcome_files (struct fake *self, const char *const *files, const char *limits,
                    const char *settings)
{
    struct ag_buf *out = &self->said;
    uint32_t count = 0;
    ag_buf_clear (out);
    ag_put_map (out, 3);
    fake_put_json (out, "do", "\"welcome\"");
    fake_put_json (out, "limits", limits ? limits : "{}");
    ag_put_lit (out, "packs");
    ag_put_list (out, 1);
    ag_put_map (out, 3);
    fake_put_json (out, "name", "\"p\"");
    fake_put_json (out, "settings", settings ? settings : "{}");
    ag_put_lit (out, "files");
    size_t at = ag_open_list (out);
    for (; files[2 * count]; count++) {
        ag_put_map (out, 2);
        ag_put_lit (out, "path");
        ag_put_lit (out, files[2 * count]);
        ag_put_lit (out, "bytes");
        ag_put_bytes (out, ag_str (files[2 * count + 1]));
    }
    ag_close (out, at, count);
    fake_send (self, ag_buf_str (out));
}

static inline void
fake_welcome (struct fake *self, const char *source, const char *limits, const char *settings)
{
    fake_welcome_files (self, (const char *[]){"main.lua", source, NULL}, limits, settings);
}

static inline const char *
fake_load (struct fake *self, const char *source, const char *limits, const char *settings)
{
    assert_non_null (strstr (fake_hear (self), "\"do\":\"hello\""));
    fake_welcome (self, source, limits, settings);
    return fake_hear (self);
}

//  Its packs cannot be loaded: it says so in its output, and then in a `fail`, which is returned.
static inline const char *
fake_unloaded (struct fake *self)
{
    const char *said = fake_hear (self);
    assert_non_null (strstr (said, "\"do\":\"fail\""));
    fake_say (self, "{\"do\":\"ok\"}");
    return said;
}

static inline void
fake_begin (struct fake *self, const char *const *files, const char *limits)
{
    fake_start (self, NULL);
    fake_hear (self);
    fake_welcome_files (self, files, limits, NULL);
    assert_non_null (strstr (fake_hear (self), "{\"do\":\"register\""));
    fake_say (self, "{\"do\":\"ok\"}");
    assert_string_equal (fake_hear (self), "{\"do\":\"next\"}");
}

static inline const char *
fake_invoke (struct fake *self, const char *more)
{
    fake_say (self,
              "{\"do\":\"invoke\",\"behavior\":\"b\",\"event\":{\"type\":\"x\",\"payload\":{}},"
              "\"mint\":{\"object\":1,\"relation\":1},\"seed\":1%s}",
              more);
    return fake_hear (self);
}

static inline int
fake_stop (struct fake *self)
{
    fake_say (self, "{\"do\":\"stop\",\"reason\":\"idle\"}");
    self->json.n = 0;
    return fake_end (self);
}

//  Wait for the end of the worker, 10 seconds at most.
static inline int
fake_wait (struct fake *self)
{
    int status = 0;
    for (int i = 0; i < 2000 && waitpid (self->pid, &status, WNOHANG) == 0; i++)
        nanosleep (&(struct timespec){0, 5000000}, NULL);
    if (waitpid (self->pid, NULL, WNOHANG) == 0) {
        kill (self->pid, SIGKILL);
        waitpid (self->pid, NULL, 0);
        fail_msg ("the worker did not end");
    }
    return WIFEXITED (status) ? WEXITSTATUS (status) : 128 + WTERMSIG (status);
}

static inline int
fake_end (struct fake *self)
{
    if (self->json.n && strstr ((const char *)self->json.p, "\"next\""))
        fake_say (self, "{\"do\":\"stop\",\"reason\":\"test\"}");
    int status = fake_wait (self);
    if (self->router)
        zmq_close (self->router);
    zmq_ctx_term (self->context);
    unlink (self->endpoint + strlen ("ipc://"));
    assert_int_equal (rmdir (self->dir), 0);
    ag_buf_fini (&self->identity);
    ag_buf_fini (&self->heard);
    ag_buf_fini (&self->said);
    ag_buf_fini (&self->json);
    return status;
}

//  The supervisor dies.
static inline void
fake_die (struct fake *self)
{
    zmq_close (self->router);
    self->router = NULL;
    ag_buf_clear (&self->json);
}
#endif
