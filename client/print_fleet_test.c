//  SPDX-License-Identifier: Apache-2.0
#include "client/capture_test.h"
#include "client/print.h"

#include <fcntl.h>
#include <sys/ioctl.h>

typedef void print_fn (const struct ag_look *look, struct ag_str answer);

//  What a terminal of so many columns gets of an answer, given as JSON with ' for ".
static char *
on_terminal (unsigned short columns, print_fn *print, const char *json)
{
    int terminal = posix_openpt (O_RDWR | O_NOCTTY);
    assert_true (terminal >= 0 && !grantpt (terminal) && !unlockpt (terminal));
    int screen = open (ptsname (terminal), O_RDWR | O_NOCTTY), saved = dup (STDOUT_FILENO);
    struct winsize size = {.ws_row = 24, .ws_col = columns};
    assert_int_equal (ioctl (screen, TIOCSWINSZ, &size), 0);
    struct ag_buf value = value_of (json);
    fflush (stdout);
    dup2 (screen, STDOUT_FILENO);
    print (&(struct ag_look){.terminal = true, .columns = columns}, ag_buf_str (&value));
    fflush (stdout);
    dup2 (saved, STDOUT_FILENO);
    char *text = ag_xcalloc (4096, 1);
    assert_true (read (terminal, text, 4095) > 0);
    close (saved);
    close (screen);
    close (terminal);
    ag_buf_fini (&value);
    return text;
}

//  A reason ends with what to do about it.
static void
a_reason_is_not_cut_at_the_edge_of_a_terminal (void **state)
{
    (void)state;
    char *text = on_terminal (
        60, ag_print_status,
        "{'home':'/x','epoch':1,'stream':1,'agents':[{'name':'auditor','run':'r1','state':'failed',"
        "'restarts':5,'events':4,'queue':1,'reason':'5 deaths within 60 s; last: exit status 1: "
        "`agsup output auditor`, then `agsup start auditor`'}],'forks':[]}");
    assert_contains (text, "exit status 1: `agsup output auditor`, then `agsup start auditor`\r\n");
    free (text);
}

//  A label is unique in a store, so it says enough.
static void
a_run_is_called_by_its_label_or_else_by_its_id (void **state)
{
    (void)state;
    static const struct {
        print_fn *print;
        const char *json, *text;
    } rows[] = {
        {ag_print_states,
         "{'runs':[{'run':'r1','label':'auditor','state':'idle'},{'run':'r2','label':null,"
         "'state':'busy'}]}",
         "auditor  idle\nr2  busy\n"},
        {ag_print_verify,
         "{'runs':[{'run':'r1','label':'auditor','events':3,'reason':null},{'run':'r2','label':"
         "null,"
         "'events':1,'first_bad':'evt_001','reason':'bad'}]}",
         "ok   auditor 3 events\nBAD  r2 1 event, first bad evt_001: bad\n"},
        {ag_print_kept, "{'run':'r1','label':'auditor','tip':'evt_009','reasons':[]}",
         "auditor 9 events, archived to 0, covered to 0\n"},
        {ag_print_replay, "{'run':'r1','label':'auditor','invocations':2,'compared_events':5}",
         "auditor as recorded: 2 invocations, 5 events compared\n"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct ag_buf value = value_of (rows[i].json);
        struct capture capture = capture_begin();
        rows[i].print (&(struct ag_look){0}, ag_buf_str (&value));
        char *text = capture_end (&capture);
        assert_string_equal (text, rows[i].text);
        ag_buf_fini (&value);
        free (text);
    }
}

int
main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (a_reason_is_not_cut_at_the_edge_of_a_terminal),
        cmocka_unit_test (a_run_is_called_by_its_label_or_else_by_its_id),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
