/*  core_test - a store with a journal for tests, in memory.
 *
 *  The clock stands still at 2026-01-01T00:00:00Z unless a test moves it.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_CORE_TEST_H
#define AG_CORE_TEST_H
#include "common/json.h"
#include "supervisor/diff.h"
#include "supervisor/fork.h"
#include "supervisor/operation.h"
#include "supervisor/promote.h"
#include "supervisor/state.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CORE_TIME UINT64_C (1767225600000000)

struct core {
    ag_store_t *store;
    ag_journal_t *journal;
    uint64_t time_us;
    struct ag_err err;
    struct ag_buf text; //  what the last `json_of` or `value_of` gave
};

static inline uint64_t
core_clock (void *arg)
{
    return ((struct core *)arg)->time_us;
}

static inline void
core_begin (struct core *self)
{
    self->journal = ag_journal_new (self->store, &self->err);
    assert_non_null (self->journal);
    ag_journal_set_clock (self->journal, core_clock, self);
}

static inline int
core_open (void **state)
{
    struct core *self = ag_xcalloc (1, sizeof *self);
    self->store = ag_store_memory_new();
    self->time_us = CORE_TIME;
    core_begin (self);
    *state = self;
    return 0;
}

static inline int
core_close (void **state)
{
    struct core *self = *state;
    ag_journal_destroy (&self->journal);
    ag_store_destroy (&self->store);
    ag_buf_fini (&self->text);
    free (self);
    return 0;
}

#define core_test(name) cmocka_unit_test_setup_teardown (name, core_open, core_close)

//  The call succeeded; else the test ends with its error.
#define must(self, call)                                                                           \
    do {                                                                                           \
        (self)->err.text[0] = 0;                                                                   \
        if (call)                                                                                  \
            fail_msg ("%s", (self)->err.text);                                                     \
    } while (0)

//  The call failed with this code, and its text says so.
#define refuses(self, call, expected, says)                                                        \
    do {                                                                                           \
        assert_int_equal ((call), -1);                                                             \
        assert_string_equal (ag_code_name ((self)->err.code), ag_code_name (expected));            \
        if (!strstr ((self)->err.text, says))                                                      \
            fail_msg ("`%s` does not say `%s`", (self)->err.text, says);                           \
    } while (0)

static inline void
core_commit (struct core *self)
{
    must (self, ag_journal_commit (self->journal, &self->err));
}

//  Everything in memory is forgotten and read from the store again.
static inline void
core_again (struct core *self)
{
    core_commit (self);
    ag_journal_destroy (&self->journal);
    core_begin (self);
}
#endif
