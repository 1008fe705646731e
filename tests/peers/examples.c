//  The monitors of docs/examples, in Python and Node, against a real broker: they print every event though
//  hints get lost, answers fail to come and the store is replaced.
//  SPDX-License-Identifier: Apache-2.0
#include "tests/peers/house.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>

struct example {
    const char *language;
    pid_t pid;
    FILE *lines;
};

static struct house house;

static int
setup (void **state)
{
    (void)state;
    house_open (&house, 0);
    supervisor_open (&house);
    supervisor_expect_link (&house, 0);
    return 0;
}

static int
teardown (void **state)
{
    struct example *self = *state;
    if (self->pid) {
        kill (self->pid, SIGKILL);
        waitpid (self->pid, NULL, 0);
        fclose (self->lines);
    }
    house_close (&house);
    return 0;
}

static void
install (const char *language)
{
    char command[500];
    snprintf (command, sizeof command, "%s/tests/peers/install_examples %s/examples %s",
              getenv ("AG_SOURCE"), getenv ("AG_BUILD"), language);
    int status = system (command);
    if (WEXITSTATUS (status) == 77)
        skip();
    assert_int_equal (status, 0);
}

//  Node looks for packages beside the file it runs, so it runs a copy.
static void
run (struct example *self, const char *after)
{
    char program[300], file[300], copy[800];
    const char *build = getenv ("AG_BUILD");
    bool node = !strcmp (self->language, "node");
    snprintf (program, sizeof program, node ? "node" : "%s/examples/venv/bin/python", build);
    snprintf (file, sizeof file, "%s/examples/monitor.%s", build, node ? "mjs" : "py");
    snprintf (copy, sizeof copy, "cp %s/docs/examples/monitor.%s %s", getenv ("AG_SOURCE"),
              node ? "mjs" : "py", file);
    assert_int_equal (system (copy), 0);
    int fds[2];
    assert_int_equal (pipe (fds), 0);
    self->pid = fork();
    if (self->pid == 0) {
        prctl (PR_SET_PDEATHSIG, SIGKILL);
        dup2 (fds[1], STDOUT_FILENO);
        execlp (program, program, file, house.home.dir, after, NULL);
        _exit (127);
    }
    close (fds[1]);
    self->lines = fdopen (fds[0], "r");
}

static void
put_head (struct ag_buf *out, const char *store, uint64_t stream)
{
    ag_put_map (out, 3);
    ag_put_lit (out, "store");
    ag_put_lit (out, store);
    ag_put_lit (out, "epoch");
    ag_put_uint (out, 1);
    ag_put_lit (out, "stream");
    ag_put_uint (out, stream);
}

static void
hint (const char *topic, const char *store, uint64_t stream)
{
    struct ag_buf head = {0};
    put_head (&head, store, stream);
    supervisor_publish (&house, ag_str (topic), ag_buf_str (&head), AG_LIT (""));
    ag_buf_fini (&head);
}

//  The log of the supervisor that we play: so many events, three a page.
static void
put_page (struct ag_buf *out, const char *store, uint64_t after, uint64_t stream)
{
    uint64_t end = stream < after + 3 ? stream : after + 3;
    end = end < after ? after : end;
    struct ag_answer answer = ag_answer_begin (out, "ok", (struct ag_str){0});
    ag_answer_key (&answer, "store");
    ag_put_lit (out, store);
    ag_answer_key (&answer, "stream");
    ag_put_uint (out, stream);
    ag_answer_key (&answer, "after");
    ag_put_uint (out, end);
    ag_answer_key (&answer, "events");
    ag_put_list (out, (uint32_t)(end - after));
    while (after++ < end) {
        ag_put_map (out, 3);
        ag_put_lit (out, "stream");
        ag_put_uint (out, after);
        ag_put_lit (out, "label");
        ag_put_lit (out, "demo");
        ag_put_lit (out, "type");
        ag_put_lit (out, store);
    }
    ag_answer_end (&answer);
}

static int
hear_ask (struct ag_parts *parts, uint64_t *after)
{
    struct ag_msg msg;
    struct ag_err err;
    if (supervisor_hear (&house, 30000, parts) <= 0)
        return -1;
    assert_int_equal (ag_wire_read (AG_PEER_CLIENT, ag_part (parts, 2), &msg, &err), 0);
    assert_int_equal (msg.type, AG_MSG_events);
    *after = msg.events.after;
    return 0;
}

//  Answer pages until the monitor has asked for everything.
static void
serve (const char *store, uint64_t stream)
{
    uint64_t after;
    do {
        struct ag_parts parts;
        struct ag_buf page = {0};
        assert_int_equal (hear_ask (&parts, &after), 0);
        put_page (&page, store, after, stream);
        supervisor_answer (&house, &parts, ag_buf_str (&page));
        ag_buf_fini (&page);
        ag_parts_fini (&parts);
    } while (after > stream || after + 3 < stream);
}

static void
expect_lines (struct example *self, uint64_t first, uint64_t last, const char *type)
{
    for (uint64_t stream = first; stream <= last; stream++) {
        char line[100] = "", want[100];
        snprintf (want, sizeof want, "%llu demo %s\n", (unsigned long long)stream, type);
        assert_non_null (fgets (line, sizeof line, self->lines));
        assert_string_equal (line, want);
    }
}

static void
the_example_misses_nothing (void **state)
{
    struct example *self = *state;
    struct ag_parts lost;
    uint64_t after;
    install (self->language);
    run (self, "2");
    supervisor_expect_link (&house, 1);
    hint ("beat", "one", 4);
    serve ("one", 4);
    expect_lines (self, 3, 4, "one");
    hint ("run/r1/x", "one", 20); //  5 to 19 got lost
    serve ("one", 20);
    expect_lines (self, 5, 20, "one");
    hint ("run/r1/x", "one", 20); //  old: nothing is asked
    hint ("run/r1/x", "one", 21);
    assert_int_equal (hear_ask (&lost, &after), 0); //  not answered: asked again
    ag_parts_fini (&lost);
    serve ("one", 21);
    expect_lines (self, 21, 21, "one");
    hint ("beat", "two", 5); //  another store
    serve ("two", 5);
    expect_lines (self, 1, 5, "two");
}

int
main (void)
{
    static struct example python = {.language = "python"}, node = {.language = "node"};
    const struct CMUnitTest tests[] = {
        {"the_example_in_python_misses_nothing", the_example_misses_nothing, setup, teardown,
         &python},
        {"the_example_in_node_misses_nothing", the_example_misses_nothing, setup, teardown, &node},
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
