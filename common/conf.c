//  SPDX-License-Identifier: Apache-2.0
#include "common/conf_inside.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

//  The value travels as one event, which has room for little more than a million bytes.
enum { MOST_FILES = 256, MOST_BYTES = 1000000 };

static int
read_all (int fd, struct ag_buf *out)
{
    size_t room = AG_TOML_MAX + 1, n = 0;
    uint8_t *p = ag_buf_grow (out, room);
    for (ssize_t got = 1; got && n<room; n += got> 0 ? (size_t)got : 0)
        if ((got = read (fd, p + n, room - n)) < 0 && errno != EINTR)
            return -1;
    out->n -= room - n;
    return 0;
}

//  NULL, or why the file cannot be read.
static const char *
slurp (const char *file, struct ag_buf *out)
{
    struct stat st;
    int fd = open (file, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return strerror (errno);
    const char *wrong = NULL;
    if (fstat (fd, &st) || !S_ISREG (st.st_mode))
        wrong = "not a file";
    else if (read_all (fd, out))
        wrong = strerror (errno);
    close (fd);
    return wrong;
}

//  Read and parse one file as the next document; what is wrong with it is noted.
static void
load_file (struct ag_conf *conf, const char *file)
{
    struct ag_err err;
    struct ag_buf text = {0};
    struct ag_conf_doc *doc = &conf->docs[conf->doc_count++];
    doc->file = ag_xstrdup (file);
    const char *wrong = slurp (file, &text);
    if (wrong)
        ag_conf_problem_of_file (conf, doc->file, ": %s", wrong);
    else if (!(doc->toml = ag_toml_new (ag_buf_str (&text), &doc->bytes, &err)))
        ag_conf_problem_of_file (conf, doc->file, ":%s", err.text);
    doc->table = ag_buf_str (&doc->bytes);
    ag_buf_fini (&text);
}

static int
is_toml (const struct dirent *entry)
{
    const char *dot = strrchr (entry->d_name, '.');
    return entry->d_name[0] != '.' && dot && !strcmp (dot, ".toml");
}

static int
by_name (const struct dirent **a, const struct dirent **b)
{
    return strcmp ((*a)->d_name, (*b)->d_name);
}

static void
load_directory (struct ag_conf *conf, const char *path)
{
    struct dirent **names = NULL;
    int count = scandir (path, &names, is_toml, by_name);
    if (count <= 0)
        ag_conf_problem_of_file (conf, path, ": no *.toml file in it");
    if (count > MOST_FILES)
        ag_conf_problem_of_file (conf, path, ": %d files, which is more than %d", count,
                                 MOST_FILES);
    for (int i = 0; i < count; i++) {
        char *file = ag_xprintf ("%s/%s", path, names[i]->d_name);
        if (i < MOST_FILES)
            load_file (conf, file);
        free (file);
        free (names[i]);
    }
    free (names);
}

static void
load (struct ag_conf *conf, const char *path)
{
    struct stat st;
    char *copy = ag_xstrdup (path);
    bool is_directory = !stat (path, &st) && S_ISDIR (st.st_mode);
    conf->base = realpath (is_directory ? path : dirname (copy), NULL);
    if (!conf->base)
        ag_conf_problem_of_file (conf, path, ": %s", strerror (errno));
    else if (is_directory)
        load_directory (conf, path);
    else
        load_file (conf, path);
    free (copy);
}

//  What holds for all files stands in one of them.
static struct ag_str
only_one (struct ag_conf *conf, const char *key)
{
    struct ag_str first = {0}, next;
    const char *file = NULL;
    for (size_t i = 0; i < conf->doc_count; i++) {
        if (ag_map_get (conf->docs[i].table, key, &next))
            continue;
        if (!file) {
            first = next;
            file = conf->docs[i].file;
        } else {
            struct ag_toml_path path = {NULL, ag_str (key), 0};
            struct ag_conf_item item = {.conf = conf, .doc = &conf->docs[i], .path = &path};
            ag_conf_problem (&item, "stands in %s already", file);
        }
    }
    return first;
}

//  Each document as a normal value of its own, one after the other.
static void
walk (struct ag_conf *conf, struct ag_buf *tops)
{
    conf->defaults = only_one (conf, "defaults");
    only_one (conf, "uids");
    for (size_t i = 0; i < conf->doc_count; i++) {
        struct ag_conf_doc *doc = &conf->docs[i];
        struct ag_conf_item item = {.conf = conf, .doc = doc, .raw = doc->table};
        if (doc->toml)
            ag_conf_put_section (&item, AG_SECTION_TOP, tops);
    }
}

//  The pairs of one table of all documents as one map.
static void
put_merged (struct ag_str tops, const char *key, struct ag_buf *out)
{
    struct ag_cursor in = ag_cursor (tops);
    struct ag_str top, table;
    ag_put_lit (out, key);
    size_t at = ag_open_map (out);
    uint32_t total = 0, count;
    while (!ag_take (&in, &top)) {
        if (ag_map_get (top, key, &table) || ag_kind_of (table) != AG_MAP)
            continue;
        struct ag_cursor pairs = ag_conf_open (table, &count);
        ag_put_value (out, (struct ag_str){(const char *)pairs.p, (size_t)(pairs.end - pairs.p)});
        total += count;
    }
    ag_close (out, at, total);
}

//  All documents have it, as written or by default; at most one has it as written.
static void
put_uids (struct ag_conf *conf, struct ag_str tops, struct ag_buf *out)
{
    struct ag_cursor in = ag_cursor (tops);
    struct ag_str top, written, uids = {0};
    for (size_t i = 0; i < conf->doc_count && !ag_take (&in, &top); i++)
        if (!i || !ag_map_get (conf->docs[i].table, "uids", &written))
            ag_map_get (top, "uids", &uids);
    ag_put_lit (out, "uids");
    ag_put_value (out, uids);
}

static void
put_files (struct ag_conf *conf, struct ag_buf *out)
{
    ag_put_lit (out, "files");
    ag_put_list (out, (uint32_t)conf->doc_count);
    for (size_t i = 0; i < conf->doc_count; i++) {
        const char *slash = strrchr (conf->docs[i].file, '/');
        ag_put_textf (out, "%s/%s", conf->base, slash ? slash + 1 : conf->docs[i].file);
    }
}

static void
put_value (struct ag_conf *conf, struct ag_str tops, struct ag_buf *out)
{
    ag_put_map (out, 6);
    ag_put_lit (out, "version");
    ag_put_uint (out, 1);
    ag_put_lit (out, "base");
    ag_put_lit (out, conf->base);
    put_files (conf, out);
    put_uids (conf, tops, out);
    put_merged (tops, "agent", out);
    put_merged (tops, "service", out);
}

//  What an entry became, for the checks that look at everything together.
static void
find_values (struct ag_conf *conf, struct ag_str value)
{
    for (size_t i = 0; i < conf->entry_count; i++) {
        struct ag_str table;
        if (!ag_map_get (value, conf->entries[i].table, &table))
            ag_map_get (table, conf->entries[i].name, &conf->entries[i].value);
    }
}

static void
build (struct ag_conf *conf, struct ag_buf *out)
{
    struct ag_buf tops = {0};
    walk (conf, &tops);
    put_value (conf, ag_buf_str (&tops), out);
    find_values (conf, ag_buf_str (out));
    ag_conf_check (conf);
    ag_buf_fini (&tops);
}

//  All violations into problems; the first speaks for them.
static int
refuse (struct ag_conf *conf, struct ag_buf *problems, struct ag_err *err)
{
    size_t start = problems->n;
    ag_conf_put_problems (conf, problems);
    const char *line = (const char *)problems->p + start;
    int n = (int)strcspn (line, "\n");
    if (conf->problem_count > 1)
        return ag_fail (err, AG_E_CONFIG, "%.*s (and %zu more)", n, line, conf->problem_count - 1);
    return ag_fail (err, AG_E_CONFIG, "%.*s", n, line);
}

static void
fini (struct ag_conf *conf)
{
    for (size_t i = 0; i < conf->doc_count; i++) {
        free (conf->docs[i].file);
        if (conf->docs[i].toml)
            ag_toml_destroy (&conf->docs[i].toml);
        ag_buf_fini (&conf->docs[i].bytes);
    }
    for (size_t i = 0; i < conf->entry_count; i++)
        free (conf->entries[i].name);
    free (conf->entries);
    free (conf->docs);
    free (conf->base);
}

int
ag_conf_load (const char *path, struct ag_buf *value, struct ag_buf *problems, struct ag_err *err)
{
    struct ag_buf whole = {0};
    struct ag_conf conf = {0};
    int rc = 0;
    conf.docs = ag_xcalloc (MOST_FILES, sizeof *conf.docs);
    load (&conf, path);
    if (!conf.problem_count) //  what could not be read would be missed everywhere
        build (&conf, &whole);
    if (whole.n > MOST_BYTES)
        ag_conf_problem_of_file (&conf, path, ": too large, its value has %zu bytes", whole.n);
    if (conf.problem_count)
        rc = refuse (&conf, problems, err);
    else
        rc = ag_value_normalise (ag_buf_str (&whole), value, err);
    ag_buf_fini (&whole);
    fini (&conf);
    return rc;
}
