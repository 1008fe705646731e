//  SPDX-License-Identifier: Apache-2.0
#include "broker/asked.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int
setup (void **state)
{
    *state = ag_asked_new();
    return 0;
}

static int
teardown (void **state)
{
    ag_asked_destroy ((ag_asked_t **)state);
    return 0;
}

static struct ag_request
request_of (pid_t process, unsigned client)
{
    struct ag_request request = {.id = AG_LIT ("id"), .peer.pid = process};
    request.route.count = 1;
    request.route.length[0] = sizeof client;
    memcpy (request.route.bytes, &client, sizeof client);
    return request;
}

static uint64_t
add_of (ag_asked_t *self, pid_t process, unsigned client, size_t bytes)
{
    static char zeros[8 << 20];
    struct ag_err err = {.code = AG_E_BUSY};
    struct ag_request request = request_of (process, client);
    uint64_t handle = ag_asked_add (self, &request, (struct ag_str){zeros, bytes}, &err);
    assert_int_equal (err.code, AG_E_BUSY);
    return handle;
}

//  Of a client that is a process of its own.
static uint64_t
add (ag_asked_t *self, unsigned client, size_t bytes)
{
    return add_of (self, (pid_t)client + 1, client, bytes);
}

//  How a caller uses it: keep, find by the handle, take the bytes, drop.
static void
a_handle_leads_back_to_who_asked_until_it_is_dropped (void **state)
{
    ag_asked_t *self = *state;
    uint64_t handle = add (self, 7, 100);
    assert_true (handle);
    unsigned client;
    memcpy (&client, ag_asked_find (self, handle)->route.bytes, sizeof client);
    assert_int_equal (client, 7);
    assert_true (ag_str_is (ag_asked_find (self, handle)->id, "id"));
    assert_int_equal (ag_asked_bytes (self, handle).n, 100);
    ag_asked_taken (self, handle);
    assert_int_equal (ag_asked_bytes (self, handle).n, 0);
    ag_asked_drop (self, handle);
    ag_asked_drop (self, handle);
    assert_null (ag_asked_find (self, handle));
    assert_null (ag_asked_find (self, 0));
    assert_int_equal (ag_asked_next (self, 0), 0);
}

static void
each_client_has_its_credit_in_requests_and_in_bytes (void **state)
{
    ag_asked_t *self = *state;
    uint64_t first = add (self, 1, 1);
    for (int i = 1; i < AG_ASKED_CLIENT; i++)
        assert_true (add (self, 1, 1));
    assert_false (add (self, 1, 1));
    assert_true (add (self, 2, 8 << 20));
    assert_true (add (self, 2, 8 << 20));
    assert_false (add (self, 2, 1));
    ag_asked_taken (self, first); //  taken is not answered
    assert_false (add (self, 1, 1));
    ag_asked_drop (self, first);
    assert_true (add (self, 1, 1));
}

static void
all_clients_together_have_a_bound_and_get_room_again (void **state)
{
    ag_asked_t *self = *state;
    uint64_t handles[AG_ASKED_ALL];
    for (int lap = 0; lap < 2; lap++) {
        for (unsigned i = 0; i < AG_ASKED_ALL; i++)
            assert_true (handles[i] = add (self, i, 1));
        assert_false (add (self, 99999, 1));
        for (unsigned i = 0; i < AG_ASKED_ALL; i++)
            ag_asked_drop (self, handles[i]);
    }
    for (unsigned i = 0; i < 8; i++)
        assert_true (add (self, i, 8 << 20));
    assert_false (add (self, 8, 8 << 20));
}

//  All that this process gets through as many connections as it likes, from `first` on.
static size_t
take_all (ag_asked_t *self, pid_t process, unsigned first, size_t bytes)
{
    size_t got = 0;
    unsigned client = first;
    while (add_of (self, process, client, bytes) || add_of (self, process, ++client, bytes))
        got++;
    return got;
}

static void
a_process_gets_no_more_than_it_leaves_for_others_by_any_number_of_connections (void **state)
{
    ag_asked_t *self = *state;
    assert_int_equal (take_all (self, 1, 0, 1), AG_ASKED_ALL / 2);
    assert_in_range (take_all (self, 2, 1000, 1), AG_ASKED_ALL / 4, AG_ASKED_ALL / 4 + 1);
    assert_int_equal (take_all (self, 1, 2000, 1), 0);
    assert_true (add_of (self, 3, 3000, 1));
}

static void
a_process_leaves_as_many_bytes_as_it_takes (void **state)
{
    ag_asked_t *self = *state;
    assert_int_equal (take_all (self, 1, 0, 4 << 20) * (4 << 20), AG_ASKED_ALL_BYTES / 2);
    assert_true (add_of (self, 2, 1000, 8 << 20));
}

//  Against a plain list: any order of dropping keeps the order of asking, and no handle comes twice.
static void
the_order_of_asking_survives_any_order_of_dropping (void **state)
{
    ag_asked_t *self = *state;
    uint64_t model[2000], last = 0;
    size_t count = 0;
    srand (7);
    for (int step = 0; step < 20000; step++) {
        if (count < 2000 && (count == 0 || rand() % 2)) {
            model[count++] = add (self, (unsigned)rand() % 300, 1);
            assert_true (model[count - 1] > last);
            last = model[count - 1];
        } else {
            size_t at = (size_t)rand() % count;
            ag_asked_drop (self, model[at]);
            memmove (model + at, model + at + 1, (--count - at) * sizeof *model);
        }
        if (step % 500)
            continue;
        uint64_t handle = 0;
        for (size_t i = 0; i < count; i++)
            assert_int_equal (handle = ag_asked_next (self, handle), model[i]);
        assert_int_equal (ag_asked_next (self, handle), 0);
    }
}

int
main (void)
{
#define T(name) cmocka_unit_test_setup_teardown (name, setup, teardown)
    const struct CMUnitTest tests[] = {
        T (a_handle_leads_back_to_who_asked_until_it_is_dropped),
        T (each_client_has_its_credit_in_requests_and_in_bytes),
        T (all_clients_together_have_a_bound_and_get_room_again),
        T (a_process_gets_no_more_than_it_leaves_for_others_by_any_number_of_connections),
        T (a_process_leaves_as_many_bytes_as_it_takes),
        T (the_order_of_asking_survives_any_order_of_dropping),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
