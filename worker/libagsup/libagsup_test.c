//  libagsup against a supervisor that another thread plays, from a list of raw answers.
//  SPDX-License-Identifier: Apache-2.0
#include "worker/libagsup/agsup.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zmq.h>

enum { ANSWERS = 16, MB = 1 << 20 };

//  JSON text, or raw bytes where size is not 0; frames is how often it is sent in one message.
struct said {
    const char *text;
    size_t size;
    int frames;
};
#define SAY(json)                                                                                  \
    {                                                                                              \
        json, 0, 1                                                                                 \
    }
#define HANG_UP                                                                                    \
    {                                                                                              \
        "", 0, 0                                                                                   \
    }
#define RAW(bytes, size)                                                                           \
    {                                                                                              \
        bytes, size, 1                                                                             \
    }

struct fake {
    char dir[32], endpoint[64];
    void *context, *router;
    pthread_t thread;
    agsup_t *tongue; //  makes the answers and reads the requests
    const struct said *answers;
    char heard[ANSWERS][4096]; //  as JSON
    int count;
};

static void
send_answer (struct fake *self, zmq_msg_t *who, const struct said *said)
{
    struct agsup_value value = {said->text, said->size};
    if (!said->size)
        assert_int_equal (agsup_parse (self->tongue, &value, said->text), 0);
    zmq_msg_send (who, self->router, ZMQ_SNDMORE);
    for (int i = 1; i <= said->frames; i++)
        zmq_send (self->router, value.bytes, value.size, i < said->frames ? ZMQ_SNDMORE : 0);
}

//  Answers one request after the other, to the end of the list, or to HANG_UP.
static void *
play (void *arg)
{
    struct fake *self = arg;
    zmq_msg_t who, what;
    zmq_msg_init (&who);
    zmq_msg_init (&what);
    for (const struct said *said = self->answers; said->text; said++) {
        if (zmq_msg_recv (&who, self->router, 0) < 0 || zmq_msg_recv (&what, self->router, 0) < 0)
            break;
        struct agsup_value request = {zmq_msg_data (&what), zmq_msg_size (&what)};
        snprintf (self->heard[self->count++], sizeof *self->heard, "%s",
                  agsup_json (self->tongue, request));
        if (!said->frames)
            break;
        send_answer (self, &who, said);
    }
    zmq_msg_close (&who);
    zmq_msg_close (&what);
    if (self->count && !self->answers[self->count - 1].frames) {
        zmq_close (self->router);
        self->router = NULL;
    }
    return NULL;
}

static agsup_t *
begin (struct fake *self, const struct said *answers)
{
    int patience_ms = 10000;
    *self = (struct fake){.dir = "/tmp/agsup-lib-XXXXXX", .answers = answers};
    assert_non_null (mkdtemp (self->dir));
    snprintf (self->endpoint, sizeof self->endpoint, "ipc://%s/w", self->dir);
    self->context = zmq_ctx_new();
    self->router = zmq_socket (self->context, ZMQ_ROUTER);
    zmq_setsockopt (self->router, ZMQ_RCVTIMEO, &patience_ms, sizeof patience_ms);
    assert_int_equal (zmq_bind (self->router, self->endpoint), 0);
    setenv ("AGSUP_WORKER", self->endpoint, 1);
    setenv ("AGSUP_NONCE", "0123456789abcdef", 1);
    self->tongue = agsup_new();
    pthread_create (&self->thread, NULL, play, self);
    return agsup_new();
}

static void
end (struct fake *self, agsup_t *link)
{
    agsup_destroy (&link);
    assert_null (link);
    zmq_ctx_shutdown (self->context); //  where it waits for more
    pthread_join (self->thread, NULL);
    if (self->router)
        zmq_close (self->router);
    zmq_ctx_term (self->context);
    agsup_destroy (&self->tongue);
    unlink (self->endpoint + strlen ("ipc://"));
    assert_int_equal (rmdir (self->dir), 0);
}

#define WELCOME "{\"do\":\"welcome\",\"agent\":\"a\",\"settings\":{\"words\":\"hi\"}}"
#define INVOKE                                                                                     \
    "{\"do\":\"invoke\",\"attempt\":1,\"behavior\":\"b\",\"event\":{\"id\":\"evt_001\","           \
    "\"payload\":{\"goal\":\"g \\\"q\\\"\",\"list\":[1,{\"x\":2.5}],\"yes\":true}}}"
#define OK   "{\"do\":\"ok\"}"
#define STOP "{\"do\":\"stop\",\"reason\":\"idle\"}"

//  Up to an open invocation.
static struct agsup_value
open_job (agsup_t *link)
{
    struct agsup_value job;
    assert_int_equal (agsup_behavior (link, "{'name': 'b', 'on': ['goal.created']}"), 0);
    assert_int_equal (agsup_connect (link, NULL, "{'name': %s}", "test"), 0);
    assert_int_equal (agsup_next (link, &job), 1);
    return job;
}

static void
an_agent_is_a_loop_of_next_and_done (void **state)
{
    static const struct said answers[] = {
        SAY (WELCOME), SAY (INVOKE), SAY (INVOKE), SAY (STOP), {0}};
    struct fake fake;
    struct agsup_value job, welcome;
    agsup_t *link = begin (&fake, answers);
    (void)state;
    assert_int_equal (agsup_behavior (link, "{'name': 'b', 'on': [%s]}", "goal.created"), 0);
    assert_int_equal (agsup_tool (link, "{'name': 't', 'schema': {}}"), 0);
    assert_int_equal (agsup_connect (link, &welcome, "{'name': 'greeter'}"), 0);
    const char *words = agsup_text (link, welcome, "settings.words", "");
    int jobs = 0;
    while (agsup_next (link, &job) == 1) {
        const char *goal = agsup_text (link, job, "event.payload.goal", "");
        agsup_op (link, "{'op': 'add_object', 'type': 'greeting', 'data': {'text': %s, 'n': %d}}",
                  goal, jobs++);
        assert_int_equal (agsup_done (link), 0);
    }
    assert_int_equal (jobs, 2);
    assert_string_equal (words, "hi");
    assert_string_equal (agsup_code (link), "");
    end (&fake, link);
    assert_string_equal (
        fake.heard[0],
        "{\"do\":\"hello\",\"protocol\":1,\"nonce\":\"0123456789abcdef\",\"behaviors\":"
        "[{\"name\":\"b\",\"on\":[\"goal.created\"]}],\"tools\":[{\"name\":\"t\","
        "\"schema\":{}}],\"name\":\"greeter\"}");
    assert_string_equal (fake.heard[1], "{\"do\":\"next\"}");
    assert_string_equal (fake.heard[3],
                         "{\"do\":\"done\",\"ops\":[{\"op\":\"add_object\",\"type\":\"greeting\","
                         "\"data\":{\"text\":\"g \\\"q\\\"\",\"n\":1}}],\"next\":true}");
}

static void
an_effect_gives_the_same_whoever_did_it (void **state)
{
    static const struct said answers[] = {
        SAY (WELCOME),
        SAY (INVOKE),
        SAY ("{\"do\":\"go\"}"),
        SAY (OK),
        SAY ("{\"do\":\"result\",\"output\":{\"n\":7}}"),
        SAY ("{\"do\":\"go\"}"),
        SAY (OK),
        SAY ("{\"do\":\"result\",\"output\":null,\"error\":{\"type\":\"E\",\"message\":\"no\"}}"),
        SAY ("{\"do\":\"refused\",\"code\":\"budget.llm_calls\",\"message\":\"spent\"}"),
        {0}};
    struct fake fake;
    struct agsup_value output;
    agsup_t *link = begin (&fake, answers);
    (void)state;
    open_job (link);
    for (int again = 0; again < 2; again++) {
        int became =
            agsup_effect (link, &output, "{'tool': 't', 'args': {}, 'idempotent': %hhd}", 1);
        assert_int_equal (became, again ? AGSUP_RESULT : AGSUP_GO);
        if (became == AGSUP_GO)
            became = agsup_outcome (link, &output, "{'output': {'n': %d}, 'cost_usd': '0.01'}", 7);
        assert_int_equal (became, AGSUP_RESULT);
        assert_int_equal (agsup_integer (output, "n", 0), 7);
    }
    for (int again = 0; again < 2; again++) {
        int became = agsup_effect (link, &output, "{'tool': 't', 'args': {}}");
        if (became == AGSUP_GO)
            became = agsup_outcome (link, &output, "{'error': {'type': 'E', 'message': %s}}", "no");
        assert_int_equal (became, AGSUP_FAILED);
        assert_string_equal (agsup_text (link, output, "message", ""), "no");
    }
    assert_int_equal (agsup_effect (link, &output, "{'tool': 't', 'args': {}}"), AGSUP_REFUSED);
    assert_string_equal (agsup_text (link, output, "code", ""), "budget.llm_calls");
    end (&fake, link);
    assert_string_equal (fake.heard[2],
                         "{\"do\":\"effect\",\"tool\":\"t\",\"args\":{},\"idempotent\":true}");
    assert_string_equal (fake.heard[3],
                         "{\"do\":\"outcome\",\"output\":{\"n\":7},\"cost_usd\":\"0.01\"}");
}

static void
values_are_read_by_paths_and_what_is_not_there_is_no_error (void **state)
{
    agsup_t *link = agsup_new();
    struct agsup_value value, key, element, none = {0};
    (void)state;
    assert_int_equal (agsup_parse (link, &value,
                                   "{\"a\":[10,{\"b\":\"t\"}],\"n\":-1,\"f\":2.5,\"big\":"
                                   "18446744073709551615,\"w\":3.0,\"y\":true,\"z\":\"\\u0000\"}"),
                      0);
    assert_string_equal (agsup_text (link, value, "a.1.b", "?"), "t");
    assert_int_equal (agsup_integer (value, "a.0", 0), 10);
    assert_int_equal (agsup_integer (value, "a.2", 5), 5);
    assert_int_equal (agsup_integer (value, "a.00", 5), 10);
    assert_int_equal (agsup_integer (value, "n", 0), -1);
    assert_int_equal (agsup_integer (value, "f", 5), 5);
    assert_int_equal (agsup_integer (value, "w", 5), 3);
    assert_int_equal (agsup_integer (value, "big", 5), 5);
    assert_int_equal (agsup_integer (value, "y", 5), 1);
    assert_true (agsup_number (value, "f", 0) == 2.5 && agsup_number (value, "n", 0) == -1);
    assert_true (agsup_number (value, "a", 9) == 9);
    assert_string_equal (agsup_text (link, value, "z", "otherwise"), "otherwise");
    assert_string_equal (agsup_text (link, value, "n", "otherwise"), "otherwise");
    assert_null (agsup_text (link, none, "a.b", NULL));
    assert_int_equal (agsup_kind (value, ""), AGSUP_MAP);
    assert_int_equal (agsup_kind (value, "a"), AGSUP_LIST);
    assert_int_equal (agsup_kind (value, "a.b.c"), AGSUP_NONE);
    assert_string_equal (agsup_json (link, agsup_find (value, "a")), "[10,{\"b\":\"t\"}]");
    assert_string_equal (agsup_json (link, none), "");
    struct agsup_walk walk = {.of = value};
    assert_true (agsup_walk (&walk, &key, &element));
    assert_string_equal (agsup_text (link, key, "", ""), "a");
    int left = 0;
    while (agsup_walk (&walk, NULL, &element))
        left++;
    assert_int_equal (left, 6);
    assert_false (agsup_walk (&walk, NULL, &element));
    walk = (struct agsup_walk){.of = agsup_find (value, "n")};
    assert_false (agsup_walk (&walk, &key, &element));
    agsup_destroy (&link);
}

//  The one behaviour made of this template, as JSON, or why there is none.
#define MAKES(expected, ...)                                                                       \
    do {                                                                                           \
        static const struct said answers[] = {SAY (WELCOME), {0}};                                 \
        struct fake fake;                                                                          \
        agsup_t *link = begin (&fake, answers);                                                    \
        int made = agsup_behavior (link, __VA_ARGS__);                                             \
        assert_int_equal (agsup_connect (link, NULL, "{'name': 'x'}"), made);                      \
        char *message = strdup (agsup_message (link));                                             \
        end (&fake, link);                                                                         \
        if (!strstr (made ? message : fake.heard[0], expected))                                    \
            fail_msg ("%s, not %s", made ? message : fake.heard[0], expected);                     \
        free (message);                                                                            \
    } while (0)

static void
a_template_is_json_with_arguments_that_cannot_change_its_form (void **state)
{
    struct agsup_value list = {"\x92\x01\xa1x", 4}, broken = {"\x92\x01", 2};
    (void)state;
    MAKES ("[{\"a\":\"b'\\\"\\\\\",\"c\":[1,-2,3,-4,5,6,7,true,false,0.5]}]",
           "{'a': %s, 'c': [%d, %lld, %u, %ld, %lu, %llu, %zu, %hhd, %hhd, %g]}", "b'\"\\", 1, -2LL,
           3u, -4L, 5UL, 6ULL, (size_t)7, 1, 0, 0.5);
    MAKES ("[{\"k\":[1,\"x\"],\"ab\":null}]", "{%s: %p, \"ab\": null}", "k", (void *)&list);
    MAKES ("[{\"a\":\"bc\"}]", "{'a': %.*s}", 2, "bcd");
    MAKES ("[{\"a\":\"it's\"}]", "{\"a\": \"it's\"}");
    MAKES ("a % within a text", "{'a': 'b%s'}", "c");
    MAKES ("a text that is not UTF-8", "{'a': %s}", "\xff");
    MAKES ("a value that is none", "{'a': %p}", (void *)&broken);
    MAKES ("a value that is none", "{'a': %p}", NULL);
    MAKES ("a number that is not finite", "{'a': %g}", 1e308 * 10);
    MAKES ("a key that is no text", "{%d: 1}", 1);
    MAKES ("a conversion that is none of", "{'a': %x}", 1u);
    MAKES ("line 1, column 7: the end where a value should be", "{'a': ");
    MAKES ("this key occurs twice", "{'a': 1, %s: 2}", "a");
}

static void
a_bad_operation_is_said_again_by_done_and_the_invocation_stays_open (void **state)
{
    static const struct said answers[] = {SAY (WELCOME), SAY (INVOKE), SAY (OK), SAY (STOP), {0}};
    struct fake fake;
    struct agsup_value job;
    agsup_t *link = begin (&fake, answers);
    (void)state;
    open_job (link);
    assert_int_equal (agsup_op (link, "{'op': %s}", "\xff"), -1);
    assert_int_equal (agsup_op (link, "{'op': 'emit', 'type': 'x'}"), 0);
    assert_int_equal (agsup_done (link), -1);
    assert_non_null (strstr (agsup_message (link), "a text that is not UTF-8"));
    assert_string_equal (agsup_code (link), "bad_value");
    assert_int_equal (agsup_fail (link, "{'type': 'Bad', 'message': %s}", agsup_message (link)), 0);
    assert_int_equal (agsup_next (link, &job), 0);
    assert_int_equal (agsup_next (link, &job), -1);
    assert_string_equal (agsup_message (link),
                         "agsup_next is out of turn: the supervisor has said stop");
    end (&fake, link);
    assert_non_null (strstr (fake.heard[2], "{\"do\":\"fail\",\"error\":{\"type\":\"Bad\""));
}

static void
what_is_out_of_turn_or_of_bounds_is_not_sent (void **state)
{
    static const struct said answers[] = {
        SAY (WELCOME), SAY (INVOKE), SAY ("{\"do\":\"go\"}"), {0}};
    struct fake fake;
    struct agsup_value value;
    agsup_t *link = begin (&fake, answers);
    (void)state;
    assert_int_equal (agsup_next (link, &value), -1);
    assert_string_equal (agsup_message (link),
                         "agsup_next is out of turn: agsup_connect comes first");
    assert_int_equal (agsup_log (link, "info", "x"), -1);
    open_job (link);
    assert_int_equal (agsup_behavior (link, "{}"), -1);
    assert_int_equal (agsup_next (link, &value), -1);
    assert_int_equal (agsup_outcome (link, &value, "{'output': 1}"), -1);
    assert_int_equal (agsup_get (link, &value, "{'depth': 9}"), -1);
    assert_string_equal (agsup_message (link), "get.depth is 9, not 1 to 8");
    assert_int_equal (agsup_get (link, &value, "[]"), -1);
    assert_int_equal (agsup_effect (link, &value, "{'args': {}}"), -1);
    assert_string_equal (agsup_message (link), "effect.tool is missing");
    assert_int_equal (agsup_effect (link, &value, "{'tool': 't', 'args': {}}"), AGSUP_GO);
    assert_int_equal (agsup_done (link), -1);
    assert_string_equal (agsup_message (link),
                         "agsup_done is out of turn: agsup_outcome of an effect is due");
    end (&fake, link);
    assert_int_equal (fake.count, 3);
}

static void
a_done_that_cannot_be_committed_fails_the_invocation_and_work_goes_on (void **state)
{
    static const struct said answers[] = {SAY (WELCOME),
                                          SAY (INVOKE),
                                          SAY ("{\"do\":\"error\",\"code\":\"too_large\","
                                               "\"message\":\"too much\",\"retryable\":false}"),
                                          SAY (OK),
                                          SAY (INVOKE),
                                          SAY ("{\"do\":\"again\"}"),
                                          SAY (STOP),
                                          {0}};
    struct fake fake;
    struct agsup_value job;
    agsup_t *link = begin (&fake, answers);
    (void)state;
    open_job (link);
    assert_int_equal (agsup_done (link), 0);
    assert_int_equal (agsup_log (link, "info", "x"), -1);
    assert_int_equal (agsup_next (link, &job), 1);
    assert_int_equal (agsup_done (link), 0);
    assert_int_equal (agsup_next (link, &job), 0);
    end (&fake, link);
    assert_string_equal (fake.heard[3],
                         "{\"do\":\"fail\",\"error\":{\"type\":\"too_large\",\"message\":"
                         "\"too much\",\"traceback\":\"\"}}");
    assert_string_equal (fake.heard[6], "{\"do\":\"next\"}");
}

//  Answers of a supervisor that is none: each is an error in words, at each call.
static const struct said hostile[] = {
    SAY ("[]"),
    SAY ("{}"),
    SAY ("7"),
    SAY ("{\"do\":7}"),
    SAY ("{\"do\":\"sing\"}"),
    SAY ("{\"do\":\"error\"}"),
    SAY ("{\"do\":\"error\",\"code\":1,\"message\":[]}"),
    SAY ("{\"do\":\"error\",\"code\":\"unheard.of\",\"message\":\"x\"}"),
    RAW ("\x81", 1),                                      //  a pair is missing
    RAW ("\xc1", 1),                                      //  no msgpack at all
    RAW ("\x81\xa2\x64\x6f\xa4ok", 7),                    //  cut in a text
    RAW ("\x81\xa2\x64\x6f", 4),                          //  cut before a value
    RAW ("\xdf\xff\xff\xff\xff\xa2\x64\x6f\xa2ok", 11),   //  more pairs than bytes
    RAW ("\x81\xa2\x64\x6f\xdb\xff\xff\xff\xff\x6f", 10), //  a longer text than bytes
    RAW ("\x81\xa2\x64\x6f\xa2ok\xc0", 8),                //  something behind its end
    RAW ("\x82\xa2\x64\x6f\xa2ok\x91\x01\xc7", 10),       //  a key that is a list, an ext type
    RAW ("\x81\xa2\x64\x6f\xa2\xff\xfe", 7),              //  a word that is no UTF-8
    {OK, 0, 3},                                           //  three frames
};
enum { HOSTILE = sizeof hostile / sizeof *hostile };

static void
hostile_answers_are_errors_at_each_call (void **state)
{
    (void)state;
    for (size_t i = 0; i < HOSTILE; i++) {
        const struct said answers[] = {hostile[i],   SAY (WELCOME), hostile[i],
                                       SAY (INVOKE), hostile[i],    hostile[i],
                                       hostile[i],   hostile[i],    {0}};
        struct fake fake;
        struct agsup_value value;
        agsup_t *link = begin (&fake, answers);
        agsup_behavior (link, "{'name': 'b', 'on': ['x']}");
        assert_int_equal (agsup_connect (link, NULL, "{'name': 'x'}"), -1);
        assert_int_equal (agsup_connect (link, NULL, "{'name': 'x'}"), 0);
        assert_int_equal (agsup_next (link, &value), -1);
        assert_true (*agsup_code (link) && *agsup_message (link));
        assert_int_equal (agsup_next (link, &value), 1);
        assert_int_equal (agsup_log (link, "info", "%s", "x"), -1);
        assert_int_equal (agsup_effect (link, &value, "{'tool': 't', 'args': {}}"), -1);
        assert_int_equal (agsup_done (link), 0);
        assert_int_equal (agsup_next (link, &value), -1);
        assert_true (*agsup_code (link) && *agsup_message (link));
        end (&fake, link);
    }
}

static void
what_an_invocation_lacks_is_read_as_not_there (void **state)
{
    static const struct said answers[] = {SAY (WELCOME),
                                          SAY ("{\"do\":\"invoke\"}"),
                                          SAY ("{\"do\":\"objects\",\"objects\":7}"),
                                          SAY ("{\"do\":\"result\"}"),
                                          {0}};
    struct fake fake;
    struct agsup_value value;
    agsup_t *link = begin (&fake, answers);
    (void)state;
    struct agsup_value job = open_job (link);
    assert_string_equal (agsup_text (link, job, "event.payload.goal", "none"), "none");
    assert_int_equal (agsup_get (link, &value, "{'id': 'x'}"), 0);
    assert_int_equal (agsup_kind (value, "objects.0.data"), AGSUP_NONE);
    assert_int_equal (agsup_effect (link, &value, "{'tool': 't', 'args': {}}"), AGSUP_RESULT);
    assert_int_equal (agsup_kind (value, ""), AGSUP_NULL);
    end (&fake, link);
}

static void
an_answer_that_is_too_large_and_the_end_of_the_supervisor_are_a_lost_link (void **state)
{
    char *huge = malloc (9 * MB);
    (void)state;
    memset (huge, 0xc0, 9 * MB);
    for (int large = 0; large < 2; large++) {
        const struct said answers[] = {SAY (WELCOME), SAY (INVOKE), RAW (huge, 9 * MB), {0}};
        const struct said ends[] = {SAY (WELCOME), SAY (INVOKE), HANG_UP, {0}};
        struct fake fake;
        struct agsup_value value;
        agsup_t *link = begin (&fake, large ? answers : ends);
        open_job (link);
        assert_int_equal (agsup_get (link, &value, "{'id': 'x'}"), -1);
        assert_string_equal (agsup_code (link), "no_supervisor");
        assert_int_equal (agsup_get (link, &value, "{'id': 'x'}"), -1);
        assert_int_equal (agsup_op (link, "{}"), -1);
        assert_int_equal (agsup_done (link), -1);
        assert_string_equal (agsup_code (link), "no_supervisor");
        end (&fake, link);
    }
    free (huge);
}

static void
where_there_is_no_supervisor_connecting_says_so (void **state)
{
    agsup_t *link = agsup_new();
    (void)state;
    setenv ("AGSUP_NONCE", "0123456789abcdef", 1);
    setenv ("AGSUP_WORKER", "ipc:///tmp/agsup-nobody-there", 1);
    assert_int_equal (agsup_connect (link, NULL, "{'name': 'x'}"), -1);
    assert_string_equal (agsup_code (link), "no_supervisor");
    agsup_destroy (&link);
    link = agsup_new();
    setenv ("AGSUP_WORKER", "no endpoint", 1);
    assert_int_equal (agsup_connect (link, NULL, "{'name': 'x'}"), -1);
    assert_non_null (strstr (agsup_message (link), "cannot connect to AGSUP_WORKER (no endpoint)"));
    unsetenv ("AGSUP_WORKER");
    assert_int_equal (agsup_connect (link, NULL, "{'name': 'x'}"), -1);
    assert_non_null (strstr (agsup_message (link), "AGSUP_WORKER is not set"));
    agsup_destroy (&link);
    agsup_destroy (&link);
}

int
main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (an_agent_is_a_loop_of_next_and_done),
        cmocka_unit_test (an_effect_gives_the_same_whoever_did_it),
        cmocka_unit_test (values_are_read_by_paths_and_what_is_not_there_is_no_error),
        cmocka_unit_test (a_template_is_json_with_arguments_that_cannot_change_its_form),
        cmocka_unit_test (a_bad_operation_is_said_again_by_done_and_the_invocation_stays_open),
        cmocka_unit_test (what_is_out_of_turn_or_of_bounds_is_not_sent),
        cmocka_unit_test (a_done_that_cannot_be_committed_fails_the_invocation_and_work_goes_on),
        cmocka_unit_test (hostile_answers_are_errors_at_each_call),
        cmocka_unit_test (what_an_invocation_lacks_is_read_as_not_there),
        cmocka_unit_test (
            an_answer_that_is_too_large_and_the_end_of_the_supervisor_are_a_lost_link),
        cmocka_unit_test (where_there_is_no_supervisor_connecting_says_so),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
