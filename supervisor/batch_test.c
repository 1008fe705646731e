//  SPDX-License-Identifier: Apache-2.0
#include "supervisor/batch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct bench {
    ag_store_t *store;
    ag_batch_t *batch;
    struct ag_err err;
};

static int
open_bench (void **state)
{
    struct bench *self = ag_xcalloc (1, sizeof *self);
    self->store = ag_store_memory_new();
    self->batch = ag_batch_new (self->store);
    *state = self;
    return 0;
}

static int
close_bench (void **state)
{
    struct bench *self = *state;
    ag_batch_destroy (&self->batch);
    ag_store_destroy (&self->store);
    free (self);
    return 0;
}

static void
put (struct bench *self, const char *key, const char *value)
{
    ag_batch_put (self->batch, AG_TIP, ag_str (key), ag_str (value));
}

static void
erase (struct bench *self, const char *key)
{
    ag_batch_delete (self->batch, AG_TIP, ag_str (key));
}

//  What the batch says of a key: its value, or "-" when absent.
static void
assert_reads (struct bench *self, const char *key, const char *wanted)
{
    struct ag_buf out = {0};
    int rc = ag_batch_get (self->batch, AG_TIP, ag_str (key), &out, &self->err);
    assert_true (rc >= 0);
    ag_buf_add (&out, rc ? "" : "-", rc ? 1 : 2);
    assert_string_equal ((char *)out.p, wanted);
    ag_buf_fini (&out);
}

//  A scan as one line: "a=1 b=2 ".
static void
assert_scans (struct bench *self, const char *from, const char *to, const char *wanted)
{
    struct ag_buf out = {0};
    struct ag_str key, value;
    ag_view_t *view = ag_batch_scan (self->batch, AG_TIP, ag_str (from), ag_str (to));
    int rc;
    while ((rc = ag_view_next (view, &key, &value, &self->err)) == 1)
        ag_buf_text (&out, "%.*s=%.*s ", AG_STR_ARG (key), AG_STR_ARG (value));
    assert_int_equal (rc, 0);
    ag_view_destroy (&view);
    ag_buf_add (&out, "", 1);
    assert_string_equal ((char *)out.p, wanted);
    ag_buf_fini (&out);
}

static void
a_put_is_read_back_before_and_after_the_write_but_stored_only_by_it (void **state)
{
    struct bench *self = *state;
    struct ag_buf out = {0};
    put (self, "a", "1");
    assert_reads (self, "a", "1");
    assert_int_equal (ag_store_get (self->store, AG_TIP, AG_LIT ("a"), &out, &self->err), 0);
    assert_int_equal (ag_batch_write (self->batch, &self->err), 0);
    assert_int_equal (ag_store_get (self->store, AG_TIP, AG_LIT ("a"), &out, &self->err), 1);
    assert_reads (self, "a", "1");
    assert_int_equal (ag_batch_count (self->batch), 0);
    assert_int_equal (ag_batch_bytes (self->batch), 0);
    ag_buf_fini (&out);
}

static void
the_tables_are_apart (void **state)
{
    struct bench *self = *state;
    ag_batch_put (self->batch, AG_META, AG_LIT ("a"), AG_LIT ("meta"));
    put (self, "a", "tip");
    assert_reads (self, "a", "tip");
    erase (self, "a");
    struct ag_buf out = {0};
    assert_int_equal (ag_batch_get (self->batch, AG_META, AG_LIT ("a"), &out, &self->err), 1);
    assert_true (ag_str_is (ag_buf_str (&out), "meta"));
    ag_buf_fini (&out);
}

static void
a_scan_merges_batch_and_store_and_hides_what_was_deleted (void **state)
{
    struct bench *self = *state;
    put (self, "b", "old");
    put (self, "d", "old");
    put (self, "f", "old");
    assert_int_equal (ag_batch_write (self->batch, &self->err), 0);
    assert_scans (self, "", "", "b=old d=old f=old ");

    put (self, "a", "new");
    put (self, "d", "new");
    put (self, "e", "new");
    erase (self, "f");
    erase (self, "nobody");
    put (self, "g", "new");
    assert_scans (self, "", "", "a=new b=old d=new e=new g=new ");
    assert_scans (self, "b", "e", "b=old d=new ");
    assert_scans (self, "c", "d", "");
    assert_scans (self, "e", "", "e=new g=new ");
    assert_int_equal (ag_batch_write (self->batch, &self->err), 0);
    assert_scans (self, "", "", "a=new b=old d=new e=new g=new ");
}

static void
a_rollback_brings_back_earlier_values_of_the_same_key (void **state)
{
    struct bench *self = *state;
    put (self, "stored", "0");
    assert_int_equal (ag_batch_write (self->batch, &self->err), 0);

    put (self, "a", "1");
    size_t first = ag_batch_mark (self->batch), bytes = ag_batch_bytes (self->batch);
    put (self, "a", "2");
    put (self, "b", "2");
    erase (self, "stored");
    size_t second = ag_batch_mark (self->batch);
    erase (self, "a");
    put (self, "a", "3");
    put (self, "stored", "3");
    erase (self, "b");
    assert_scans (self, "", "", "a=3 stored=3 ");

    ag_batch_rollback (self->batch, second);
    assert_scans (self, "", "", "a=2 b=2 ");
    ag_batch_rollback (self->batch, first);
    assert_scans (self, "", "", "a=1 stored=0 ");
    assert_int_equal (ag_batch_count (self->batch), 1);
    assert_int_equal (ag_batch_bytes (self->batch), bytes);
    ag_batch_rollback (self->batch, 0);
    assert_scans (self, "", "", "stored=0 ");
    assert_int_equal (ag_batch_bytes (self->batch), 0);
}

static void
an_empty_value_is_a_value (void **state)
{
    struct bench *self = *state;
    struct ag_buf nothing = {0};
    ag_batch_put (self->batch, AG_TIP, AG_LIT ("a"), ag_buf_str (&nothing));
    assert_reads (self, "a", "");
    assert_int_equal (ag_batch_write (self->batch, &self->err), 0);
    assert_reads (self, "a", "");
    erase (self, "a");
    assert_reads (self, "a", "-");
}

static void
keys_are_bytes_and_may_hold_zeros (void **state)
{
    struct bench *self = *state;
    struct ag_str key[] = {{"a\0b", 3}, {"a", 1}, {"a\0", 2}, {"a\xff", 2}};
    for (size_t i = 0; i < 4; i++)
        ag_batch_put (self->batch, AG_TIP, key[i], AG_LIT ("x"));
    ag_view_t *view = ag_batch_scan (self->batch, AG_TIP, AG_LIT (""), AG_LIT (""));
    struct ag_str found, value;
    const size_t order[] = {1, 2, 0, 3};
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal (ag_view_next (view, &found, &value, &self->err), 1);
        assert_true (ag_str_eq (found, key[order[i]]));
    }
    ag_view_destroy (&view);
}

static void
a_refused_write_empties_the_batch_and_leaves_the_store_as_it_was (void **state)
{
    struct bench *self = *state;
    put (self, "a", "1");
    ag_store_set_reserve (self->store, UINT64_MAX);
    assert_int_equal (ag_batch_write (self->batch, &self->err), -1);
    assert_int_equal (self->err.code, AG_E_DISK_FULL);
    assert_reads (self, "a", "-");
    assert_int_equal (ag_batch_count (self->batch), 0);

    ag_store_set_reserve (self->store, 0);
    put (self, "a", "2");
    assert_int_equal (ag_batch_write (self->batch, &self->err), 0);
    assert_reads (self, "a", "2");
}

//  The same random life beside a plain table of what must be true: puts, deletes, marks, rollbacks,
//  writes; after each step one key and now and then everything is compared.
enum { KEYS = 60, MARKS = 4 };

struct model {
    int now[KEYS];          //  0: absent
    int saved[MARKS][KEYS]; //  as it was at each mark
    size_t marks[MARKS];
    int depth;
};

static void
step (struct bench *self, struct model *model, int value)
{
    int key = rand() % KEYS, what = rand() % 16;
    char name[16], text[300];
    snprintf (name, sizeof name, "k%02d", key);
    snprintf (text, sizeof text, "%d%*s", value, value % 280, "");
    if (what < 9) {
        put (self, name, text);
        model->now[key] = value;
    } else if (what < 12) {
        erase (self, name);
        model->now[key] = 0;
    } else if (what < 14 && model->depth < MARKS) {
        model->marks[model->depth] = ag_batch_mark (self->batch);
        memcpy (model->saved[model->depth++], model->now, sizeof model->now);
    } else if (what < 15 && model->depth) {
        ag_batch_rollback (self->batch, model->marks[--model->depth]);
        memcpy (model->now, model->saved[model->depth], sizeof model->now);
    } else if (value % 8 == 0) {
        assert_int_equal (ag_batch_write (self->batch, &self->err), 0);
        model->depth = 0;
    }
}

static void
assert_model (struct bench *self, const struct model *model)
{
    struct ag_str key, value;
    ag_view_t *view = ag_batch_scan (self->batch, AG_TIP, AG_LIT (""), AG_LIT (""));
    for (int i = 0; i < KEYS; i++) {
        char name[16], number[16];
        if (!model->now[i])
            continue;
        snprintf (name, sizeof name, "k%02d", i);
        snprintf (number, sizeof number, "%d", model->now[i]);
        assert_int_equal (ag_view_next (view, &key, &value, &self->err), 1);
        assert_true (ag_str_is (key, name));
        assert_true (ag_str_starts (value, number));
        assert_int_equal (value.n, strlen (number) + (size_t)(model->now[i] % 280 ?: 0));
    }
    assert_int_equal (ag_view_next (view, &key, &value, &self->err), 0);
    ag_view_destroy (&view);
}

static void
a_long_random_life_agrees_with_a_plain_table (void **state)
{
    struct bench *self = *state;
    struct model model = {0};
    srand (7);
    for (int value = 1; value < 20000; value++) {
        step (self, &model, value);
        if (value % 7 == 0)
            assert_model (self, &model);
    }
}

int
main (void)
{
#define EACH(test) cmocka_unit_test_setup_teardown (test, open_bench, close_bench)
    const struct CMUnitTest tests[] = {
        EACH (a_put_is_read_back_before_and_after_the_write_but_stored_only_by_it),
        EACH (the_tables_are_apart),
        EACH (a_scan_merges_batch_and_store_and_hides_what_was_deleted),
        EACH (a_rollback_brings_back_earlier_values_of_the_same_key),
        EACH (an_empty_value_is_a_value),
        EACH (keys_are_bytes_and_may_hold_zeros),
        EACH (a_refused_write_empties_the_batch_and_leaves_the_store_as_it_was),
        EACH (a_long_random_life_agrees_with_a_plain_table),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
