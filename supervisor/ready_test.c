//  SPDX-License-Identifier: Apache-2.0
#include "supervisor/ready.h"

#include "common/conf.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>
#include <stdlib.h>
#include <unistd.h>

//  What is said of a service after so long, when its configuration says this of `ready`.
static int
look (const char *ready, int64_t in_state_ms)
{
    char path[] = "/tmp/agsup-ready-XXXXXX";
    struct ag_buf conf = {0}, problems = {0};
    struct ag_unit unit = {0};
    struct ag_err err = {0};
    struct ag_str service;
    int fd = mkstemp (path);
    dprintf (fd, "version = 1\n[service.web]\ncommand = [\"true\"]\n%s\n", ready);
    close (fd);
    int rc = ag_conf_load (path, &conf, &problems, &err);
    unlink (path);
    assert_int_equal (rc, 0);
    assert_int_equal (ag_map_path (ag_buf_str (&conf), AG_LIT ("service.web"), &service), 0);
    ag_buf_add_str (&unit.spec, service);
    int is = ag_ready_check (&unit, in_state_ms);
    ag_buf_fini (&unit.spec);
    ag_buf_fini (&problems);
    ag_buf_fini (&conf);
    return is;
}

static void
a_service_that_says_nothing_of_it_is_ready_at_once (void **state)
{
    (void)state;
    assert_int_equal (look ("", 0), 1);
    assert_int_equal (look ("ready = {}", 0), 1);
    assert_int_equal (look ("ready = { within = \"5s\" }", 0), 1);
}

static void
a_service_is_ready_when_what_it_says_has_come_and_has_died_when_it_is_late (void **state)
{
    (void)state;
    assert_int_equal (look ("ready = { seconds = 2 }", 1999), 0);
    assert_int_equal (look ("ready = { seconds = 2 }", 2000), 1);
    assert_int_equal (look ("ready = { file = \"/\" }", 0), 1);
    assert_int_equal (look ("ready = { file = \"/nonexistent\" }", 30000), 0);
    assert_int_equal (look ("ready = { file = \"/nonexistent\" }", 30001), -1);
    assert_int_equal (look ("ready = { file = \"/nonexistent\", within = \"1s\" }", 1001), -1);
}

int
main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (a_service_that_says_nothing_of_it_is_ready_at_once),
        cmocka_unit_test (
            a_service_is_ready_when_what_it_says_has_come_and_has_died_when_it_is_late),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
