/*  home_damage - a bit or the end of any file of a home is lost: that is refused by name, found by verify, or harmless;
 *  and what repair makes of it is a whole store with a prefix of every run.
 *
 *  AG_SEED repeats the places (printed); AG_ALL draws many more.
 *  SPDX-License-Identifier: Apache-2.0
 */
#include "common/home.h"
#include "supervisor/core_graph_test.h"
#include "supervisor/repair.h"
#include "supervisor/verify.h"
#include "tests/faults/scratch.h"

#include <fcntl.h>
#include <glob.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { RUNS = 3, FEW = 4, MANY = 150, EVENTS_AT_MOST = 1000, SEED = 8 };

enum damage { FLIP, CUT };
static const char *const damages[] = {"flip", "cut"};

//  What each run was: the last bytes of each event say which events came before it.
struct truth {
    size_t count[RUNS + 1];
    char seed[RUNS + 1][EVENTS_AT_MOST][SEED];
};

struct bench {
    struct core core;
    char dir[SCRATCH];
    char whole[SCRATCH + 8], copy[SCRATCH + 8], fresh[SCRATCH + 8]; //  homes
    struct truth truth;
    int draws, refused, found, harmless, shorter, whole_again;
};

static void
open_store (struct bench *self, const char *home)
{
    char *data = ag_xprintf ("%s/data", home);
    self->core.time_us = CORE_TIME;
    self->core.store = ag_store_rocks_new (data, &self->core.err);
    free (data);
}

static void
close_store (struct bench *self)
{
    ag_journal_destroy (&self->core.journal);
    ag_store_destroy (&self->core.store);
}

static void
promote (struct bench *self, uint64_t fork)
{
    struct core *core = &self->core;
    ag_plan_t *plan = ag_promote_plan (core->journal, core_run (core, fork), 0, &core->err);
    assert_non_null (plan);
    must (core, ag_promote_apply (core->journal, plan, &core->err));
    ag_plan_destroy (&plan);
    core_commit (core);
}

static void
patch (struct bench *self, uint64_t run, int from, int to)
{
    char ops[100];
    for (int i = from; i < to; i++) {
        snprintf (ops, sizeof ops, "[{'op':'patch_object','id':'task#1','data':{'n%d':%d}}]", i % 4,
                  i);
        core_apply (&self->core, run, ops);
        core_commit (&self->core);
    }
}

//  The seeds of a run as the open store has them.
static size_t
read_run (struct bench *self, uint64_t number, char seed[EVENTS_AT_MOST][SEED])
{
    struct ag_key all;
    struct ag_str key, value;
    size_t n = 0;
    ag_key_of_run (&all, 'v', number);
    struct ag_key to = ag_key_end (&all);
    ag_scan_t *scan =
        ag_store_scan (self->core.store, AG_EVENT, ag_key_str (&all), ag_key_str (&to));
    while (ag_scan_next (scan, &key, &value, &self->core.err) > 0 && n < EVENTS_AT_MOST)
        memcpy (seed[n++], value.p + value.n - SEED, SEED);
    ag_scan_destroy (&scan);
    return n;
}

//  Tables and a log: half of it was written before the store was opened again.
static void
fill (struct bench *self)
{
    struct core *core = &self->core;
    must (core, ag_home_make (self->whole, &core->err));
    open_store (self, self->whole);
    core_begin (core);
    uint64_t run = core_root (core, "notes");
    core_apply (core, run, "[{'op':'add_object','type':'task','data':{'title':'base'}}]");
    patch (self, run, 0, 300);
    uint64_t fork = core_fork_at (core, run, 270);
    core_apply (core, fork,
                "[{'op':'add_object','type':'n','as':'n'},"
                " {'op':'add_relation','source':'@n','target':'task#1','type':'r'}]");
    core_commit (core);
    close_store (self);
    open_store (self, self->whole);
    core_begin (core);
    promote (self, fork);
    patch (self, run, 300, 340);
    core_fork (core, fork);
    core_apply (core, RUNS, "[{'op':'add_object','type':'n'}]");
    core_commit (core);
    for (run = 1; run <= RUNS; run++)
        self->truth.count[run] = read_run (self, run, self->truth.seed[run]);
    close_store (self);
}

static int
open_bench (void **state)
{
    struct bench *self = ag_xcalloc (1, sizeof *self);
    scratch_make (self->dir);
    snprintf (self->whole, sizeof self->whole, "%s/whole", self->dir);
    snprintf (self->copy, sizeof self->copy, "%s/copy", self->dir);
    snprintf (self->fresh, sizeof self->fresh, "%s/fresh", self->dir);
    self->draws = getenv ("AG_ALL") ? MANY : FEW;
    fill (self);
    *state = self;
    return 0;
}

static int
close_bench (void **state)
{
    struct bench *self = *state;
    close_store (self);
    ag_buf_fini (&self->core.text);
    scratch_remove (self->dir);
    free (self);
    return 0;
}

static void
copy_whole (struct bench *self)
{
    char *command = ag_xprintf ("rm -rf %s %s && cp -r %s %s", self->copy, self->fresh, self->whole,
                                self->copy);
    assert_int_equal (system (command), 0);
    free (command);
}

//  Damages one file of the copy; where.
static off_t
damage (const char *path, enum damage how)
{
    struct stat info;
    uint8_t byte;
    int fd = open (path, O_RDWR | O_CLOEXEC);
    assert_true (fd >= 0 && !fstat (fd, &info) && info.st_size > 0);
    off_t at = rand() % info.st_size;
    if (how == CUT) {
        assert_int_equal (ftruncate (fd, at), 0);
    } else {
        assert_int_equal (pread (fd, &byte, 1, at), 1);
        byte ^= (uint8_t)(1 << rand() % 8);
        assert_int_equal (pwrite (fd, &byte, 1, at), 1);
    }
    close (fd);
    return at;
}

//  The reason that verify gives for any run, or NULL.
static bool
verify_finds (struct bench *self)
{
    struct core *core = &self->core;
    bool found = false;
    for (uint64_t run = 1; run <= RUNS && !found; run++) {
        int rc;
        struct ag_verify walk = {.run = run, .state = true};
        while ((rc = ag_verify_step (core->store, &walk, 1000, &core->err)) > 0)
            continue;
        found = walk.reason[0] || (rc < 0 && core->err.code != AG_E_NOT_FOUND);
        ag_verify_fini (&walk);
    }
    return found;
}

//  Whether the open store has of each run what it was, or the beginning of it; all: nothing is missing.
static bool
is_prefix (struct bench *self, bool *all)
{
    static char seed[EVENTS_AT_MOST][SEED];
    *all = true;
    for (uint64_t run = 1; run <= RUNS; run++) {
        size_t n = read_run (self, run, seed);
        if (n > self->truth.count[run] || memcmp (seed, self->truth.seed[run], n * SEED))
            return false;
        *all = *all && n == self->truth.count[run];
    }
    return true;
}

//  A log that is cut short looks as after a crash in the middle of a write; nothing else may lose in silence.
static void
look_at_damage (struct bench *self, const char *what, bool may_end)
{
    struct core *core = &self->core;
    bool all;
    core->err = (struct ag_err){0};
    open_store (self, self->copy);
    if (core->store)
        core->journal = ag_journal_new (core->store, &core->err);
    if (!core->journal) {
        if (!strstr (core->err.text, self->copy) && core->err.code != AG_E_CORRUPT)
            fail_msg ("%s: `%s` does not name the store", what, core->err.text);
        self->refused++;
    } else if (verify_finds (self)) {
        self->found++;
    } else if (!is_prefix (self, &all) || (!all && !may_end)) {
        fail_msg ("%s: something is missing, and nothing says so", what);
    } else {
        self->harmless += all;
        self->shorter += !all;
    }
    close_store (self);
}

static uint32_t
runs_of (const struct ag_buf *report)
{
    struct ag_str runs;
    struct ag_head head = {0};
    assert_int_equal (ag_map_get (ag_buf_str (report), "runs", &runs), 0);
    struct ag_cursor in = ag_cursor (runs);
    assert_int_equal (ag_next (&in, &head), 0);
    return head.count;
}

//  From the damaged copy, as it was before anybody opened it.
static void
repair (struct bench *self, const char *what, bool may_end)
{
    struct core *core = &self->core;
    struct ag_buf report = {0};
    struct ag_str ok;
    bool all;
    if (ag_repair (self->copy, self->fresh, &report, &core->err))
        fail_msg ("%s: repair: %s", what, core->err.text);
    open_store (self, self->fresh);
    if (!core->store)
        fail_msg ("%s: what repair made does not open: %s", what, core->err.text);
    core_begin (core);
    if (verify_finds (self) || !is_prefix (self, &all))
        fail_msg ("%s: what repair made is not whole", what);
    assert_int_equal (ag_map_get (ag_buf_str (&report), "ok", &ok), 0);
    if (runs_of (&report) > RUNS)
        fail_msg ("%s: repair tells of %u runs, there were %d", what, runs_of (&report), RUNS);
    bool said_whole = ok.n == 1 && (uint8_t)*ok.p == 0xc3;
    if (!all && said_whole && !may_end)
        fail_msg ("%s: repair lost something and does not say so", what);
    self->whole_again += all;
    close_store (self);
    ag_buf_fini (&report);
}

static void
damage_each (struct bench *self, const char *pattern, enum damage how, bool may_end)
{
    for (int i = 0; i < self->draws; i++) {
        glob_t found;
        copy_whole (self);
        char *wanted = ag_xprintf ("%s/data/%s", self->copy, pattern);
        assert_int_equal (glob (wanted, 0, NULL, &found), 0);
        const char *path = found.gl_pathv[(size_t)rand() % found.gl_pathc];
        off_t at = damage (path, how);
        char *what = ag_xprintf ("%s %s at %ld", damages[how], path, (long)at);
        repair (self, what, may_end);
        look_at_damage (self, what, may_end);
        free (what);
        free (wanted);
        globfree (&found);
    }
}

static void
damage_in_any_file_of_a_store_is_refused_found_or_harmless_and_repaired (void **state)
{
    static const struct {
        const char *pattern;
        bool log; //  it ends where it ends
    } files[] = {{"*.sst", false},   {"*.log", false},    {"MANIFEST-*", false},
                 {"CURRENT", false}, {"IDENTITY", false}, {"OPTIONS-*", false}};
    struct bench *self = *state;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        for (enum damage how = FLIP; how <= CUT; how++) {
            self->refused = self->found = self->harmless = self->shorter = self->whole_again = 0;
            damage_each (self, files[i].pattern, how, files[i].log);
            print_message ("%s %s: %d refused, %d found, %d harmless, %d shorter; repair kept all "
                           "in %d of %d\n",
                           damages[how], files[i].pattern, self->refused, self->found,
                           self->harmless, self->shorter, self->whole_again, self->draws);
        }
}

static void
a_home_whose_identity_is_damaged_is_refused_by_the_name_of_the_file (void **state)
{
    struct bench *self = *state;
    struct ag_home home;
    for (enum damage how = FLIP; how <= CUT; how++) {
        copy_whole (self);
        char *path = ag_xprintf ("%s/id", self->copy);
        int fd = open (path, O_RDWR | O_CLOEXEC);
        assert_int_equal (how == CUT ? ftruncate (fd, 7) : pwrite (fd, "x", 1, 3) - 1, 0);
        close (fd);
        assert_int_equal (ag_home_open (&home, self->copy, &self->core.err), -1);
        assert_int_equal (self->core.err.code, AG_E_CORRUPT);
        assert_non_null (strstr (self->core.err.text, path));
        repair (self, "identity", false);
        free (path);
    }
}

static void
a_whole_home_is_repaired_into_the_same_runs_and_says_that_nothing_was_lost (void **state)
{
    struct bench *self = *state;
    copy_whole (self);
    repair (self, "whole", false);
    assert_int_equal (self->whole_again, 1);
}

static void
a_home_that_a_fleet_holds_or_a_place_that_is_taken_is_refused (void **state)
{
    struct bench *self = *state;
    struct core *core = &self->core;
    struct ag_buf report = {0};
    struct ag_home home;
    copy_whole (self);
    must (core, ag_home_open (&home, self->copy, &core->err));
    int fd = ag_home_lock (&home, &core->err);
    assert_true (fd >= 0);
    refuses (core, ag_repair (self->copy, self->fresh, &report, &core->err), AG_E_RUNNING,
             self->copy);
    close (fd);
    refuses (core, ag_repair (self->copy, self->whole, &report, &core->err), AG_E_USAGE,
             self->whole);
    refuses (core, ag_repair (self->dir, self->fresh, &report, &core->err), AG_E_USAGE, self->dir);
    ag_home_fini (&home);
}

int
main (void)
{
    const char *given = getenv ("AG_SEED");
    unsigned seed = given ? (unsigned)strtoul (given, NULL, 10) : (unsigned)time (NULL);
    print_message ("AG_SEED=%u\n", seed);
    srand (seed);
#define EACH(test) cmocka_unit_test_setup_teardown (test, open_bench, close_bench)
    const struct CMUnitTest tests[] = {
        EACH (a_whole_home_is_repaired_into_the_same_runs_and_says_that_nothing_was_lost),
        EACH (a_home_that_a_fleet_holds_or_a_place_that_is_taken_is_refused),
        EACH (a_home_whose_identity_is_damaged_is_refused_by_the_name_of_the_file),
        EACH (damage_in_any_file_of_a_store_is_refused_found_or_harmless_and_repaired),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
