//  tests/packs/hostile with the check off, in the real worker: whatever a file holds, it ends in time, in an error, in
//  a limit or in nothing; the worker opens nothing, starts nothing, leaves no file, and only a limit ends it.
//  SPDX-License-Identifier: Apache-2.0
#include "worker/fake_test.h"

#include <dirent.h>
#include <errno.h>

enum { FILES = 1024, BATCH = 100, WALL_S = 1 };

struct corpus {
    char *names[FILES];
    struct ag_buf bytes[FILES];
    size_t count;
};

static void
read_corpus (struct corpus *corpus)
{
    const char *source = getenv ("AG_SOURCE");
    char *folder = ag_xprintf ("%s/tests/packs/hostile", source ? source : ".");
    DIR *dir = opendir (folder);
    assert_non_null (dir);
    for (struct dirent *entry; (entry = readdir (dir));) {
        if (entry->d_name[0] == '.')
            continue;
        assert_true (corpus->count < FILES);
        char *path = ag_xprintf ("%s/%s", folder, entry->d_name);
        FILE *in = fopen (path, "r");
        assert_non_null (in);
        struct ag_buf *bytes = &corpus->bytes[corpus->count];
        uint8_t *room = ag_buf_grow (bytes, 1 << 18);
        bytes->n = fread (room, 1, 1 << 18, in);
        fclose (in);
        free (path);
        corpus->names[corpus->count++] = ag_xstrdup (entry->d_name);
    }
    closedir (dir);
    free (folder);
}

static size_t
entries_of (const char *format, int pid)
{
    char path[64];
    size_t n = 0;
    snprintf (path, sizeof path, format, pid);
    DIR *dir = opendir (path);
    if (!dir) { //  a worker lets nobody but root look
        assert_int_equal (errno, EACCES);
        print_message ("%s: not counted, %s\n", path, strerror (errno));
        return 0;
    }
    while (readdir (dir))
        n++;
    closedir (dir);
    return n;
}

static bool
has_children (int pid)
{
    char path[64], text[16] = "";
    snprintf (path, sizeof path, "/proc/%d/task/%d/children", pid, pid);
    FILE *in = fopen (path, "r");
    if (!in) //  a kernel without this file: a process costs a worker its wall, see walls_test.c
        return false;
    bool some = fgets (text, sizeof text, in) != NULL;
    fclose (in);
    return some;
}

static void
put_file (struct ag_buf *out, const char *path, struct ag_str bytes)
{
    ag_put_map (out, 2);
    ag_put_lit (out, "path");
    ag_put_lit (out, path);
    ag_put_lit (out, "bytes");
    ag_put_bytes (out, bytes);
}

//  A pack with the files from first on as modules, and a behaviour for each that requires it.
static void
welcome (struct fake *fake, const struct corpus *corpus, size_t first, size_t count)
{
    struct ag_buf *out = &fake->said, source = {0};
    char path[32];
    for (size_t i = 0; i < count; i++)
        ag_buf_text (
            &source,
            "ag.behavior { name = 'b%zu', on = { 'x' }, function () require 'h%zu' end }\n", i, i);
    ag_buf_clear (out);
    ag_put_map (out, 3);
    fake_put_json (out, "do", "\"welcome\"");
    fake_put_json (out, "limits", "{\"wall_ms\":1000,\"memory\":33554432}");
    ag_put_lit (out, "packs");
    ag_put_list (out, 1);
    ag_put_map (out, 3);
    fake_put_json (out, "name", "\"p\"");
    fake_put_json (out, "settings", "{}");
    ag_put_lit (out, "files");
    ag_put_list (out, (uint32_t)count + 2);
    put_file (out, "main.lua", ag_buf_str (&source));
    put_file (out, "own.lua", AG_LIT ("return {}"));
    for (size_t i = 0; i < count; i++) {
        snprintf (path, sizeof path, "h%zu.lua", i);
        put_file (out, path, ag_buf_str (&corpus->bytes[first + i]));
    }
    fake_send (fake, ag_buf_str (out));
    ag_buf_fini (&source);
}

static void
start (struct fake *fake, const struct corpus *corpus, size_t first, size_t count)
{
    fake_start (fake, NULL);
    assert_non_null (strstr (fake_hear (fake), "\"do\":\"hello\""));
    welcome (fake, corpus, first, count);
    assert_non_null (strstr (fake_hear (fake), "\"do\":\"register\""));
    fake_say (fake, "{\"do\":\"ok\"}");
    fake_hear (fake);
}

struct tally {
    size_t harmless, raised, limited;
};

//  True when it met a limit.
static bool
run (struct fake *fake, const char *name, size_t i, size_t open, struct tally *tally)
{
    struct timespec before, after;
    clock_gettime (CLOCK_MONOTONIC, &before);
    fake_say (fake,
              "{\"do\":\"invoke\",\"behavior\":\"b%zu\",\"event\":{\"type\":\"x\",\"payload\":{}},"
              "\"mint\":{\"object\":1,\"relation\":1},\"seed\":1}",
              i);
    const char *heard = fake_hear (fake);
    clock_gettime (CLOCK_MONOTONIC, &after);
    bool done = strstr (heard, "\"do\":\"done\""), limited = strstr (heard, "\"type\":\"net."),
         raised = strstr (heard, "\"type\":\"script.error\"");
    if (done + limited + raised != 1)
        fail_msg ("%s: %.300s", name, heard);
    tally->harmless += done;
    tally->raised += raised;
    tally->limited += limited;
    assert_true (after.tv_sec - before.tv_sec <= WALL_S + 4);
    if (entries_of ("/proc/%d/fd", fake->pid) != open || has_children (fake->pid))
        fail_msg ("%s opened or started something", name);
    return limited;
}

//  From the first file on as many as go into one pack, until one meets a limit; how many these were.
static size_t
run_batch (const struct corpus *corpus, size_t first, struct tally *tally)
{
    struct fake fake;
    size_t count = corpus->count - first < BATCH ? corpus->count - first : BATCH, done = 0;
    bool limited = false;
    start (&fake, corpus, first, count);
    size_t open = entries_of ("/proc/%d/fd", fake.pid);
    for (; done < count && !limited; done++)
        limited = run (&fake, corpus->names[first + done], done, open, tally);
    fake_say (&fake, limited ? "{\"do\":\"ok\"}" : "{\"do\":\"stop\",\"reason\":\"idle\"}");
    assert_int_equal (fake_end (&fake), limited ? 7 : 0);
    return done;
}

static void
each_hostile_file_is_contained_without_the_check (void **state)
{
    static struct corpus corpus;
    struct tally tally = {0};
    char dir[] = "/tmp/agsup-corpus-XXXXXX";
    (void)state;
    read_corpus (&corpus);
    assert_non_null (mkdtemp (dir));
    char *here = getcwd (NULL, 0);
    assert_int_equal (chdir (dir), 0);
    for (size_t first = 0; first < corpus.count;)
        first += run_batch (&corpus, first, &tally);
    print_message ("%zu files: %zu harmless, %zu raised, %zu met a limit\n", corpus.count,
                   tally.harmless, tally.raised, tally.limited);
    assert_int_equal (chdir (here), 0);
    assert_int_equal (rmdir (dir), 0); //  nothing was left in it
    assert_true (tally.raised > 100 && tally.harmless > 30 && tally.limited >= 5);
    for (size_t i = 0; i < corpus.count; i++) {
        free (corpus.names[i]);
        ag_buf_fini (&corpus.bytes[i]);
    }
    free (here);
}

int
main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (each_hostile_file_is_contained_without_the_check),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
