/*  conf_inside - what the files of conf share: one load, its documents, the thing being read.
 *
 *  conf.c reads files and puts the value together, conf_walk.c walks a section by its table, conf_kinds.c
 *  reads one key by its kind, conf_check.c looks at everything together. Nothing returns an error: a
 *  violation is written down where it is met, null stands in its place, and the walk goes on.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_CONF_INSIDE_H
#define AG_CONF_INSIDE_H
#include "common/conf.h"
#include "common/toml.h"

enum ag_conf_section {
#define SECTION(name, written, what) AG_SECTION_##name,
#define KEY(...)
#include "schemas/settings.def"
    AG_SECTIONS
};

struct ag_conf_doc {
    char *file;
    ag_toml_t *toml;
    struct ag_buf bytes;
    struct ag_str table; //  borrows bytes
};

//  An agent or service and the document that holds it.
struct ag_conf_entry {
    const struct ag_conf_doc *doc;
    const char *table; //  "agent" or "service"
    char *name;
    struct ag_str value; //  finished; empty until all files are read
};

//  What is wrong at one place; the file's name is borrowed from the document or the caller.
struct ag_conf_problem {
    const char *file;
    unsigned line, column; //  0: the file as a whole
    char *text;
};

struct ag_conf {
    char *base;
    struct ag_conf_doc *docs;
    size_t doc_count;
    struct ag_str defaults; //  [defaults] as it is written, empty without
    struct ag_conf_entry *entries;
    size_t entry_count;
    struct ag_conf_problem problems[100];
    size_t problem_count; //  of all, also of those that found no room
};

//  The kinds of keys (settings.def); LATER is the last and has no reader.
// clang-format off
enum ag_conf_kind {
    AG_CONF_UINT, AG_CONF_MS, AG_CONF_BYTES, AG_CONF_TEXT, AG_CONF_CHOICE, AG_CONF_CHOICES,
    AG_CONF_NAME, AG_CONF_NAMES, AG_CONF_COMMAND, AG_CONF_DIR, AG_CONF_DIRS, AG_CONF_PATH,
    AG_CONF_ADDRESS, AG_CONF_SPAN, AG_CONF_ENV, AG_CONF_SETTINGS, AG_CONF_TABLE, AG_CONF_TABLES,
    AG_CONF_NAMED, AG_CONF_KEYED, AG_CONF_WORDS, AG_CONF_USD, AG_CONF_PINS, AG_CONF_LATER
};
// clang-format on

struct ag_conf_row {
    enum ag_conf_section section;
    const char *key;
    enum ag_conf_kind kind;
    bool needed;
    uint64_t min, max;
    const char *fallback, *detail, *help;
};

//  One thing being read: where it stands and what stands there.
struct ag_conf_item {
    struct ag_conf *conf;
    const struct ag_conf_doc *doc;
    const struct ag_toml_path *path;
    const struct ag_conf_row *row; //  of the key; NULL for the document
    struct ag_str raw;
    struct ag_str defaults; //  what [defaults] says of this table, or empty
    bool inherited; //  raw stands in [defaults], which is read for itself: no problem is noted
};

//  Note what is wrong with a file as a whole; the text goes on after its name (": ...").
void ag_conf_problem_of_file (struct ag_conf *conf, const char *file, const char *format, ...)
    __attribute__ ((format (printf, 3, 4)));
//  Note "PATH text" with the place of the item; for the document itself only the text.
void ag_conf_problem (const struct ag_conf_item *item, const char *format, ...)
    __attribute__ ((format (printf, 2, 3)));
//  Note "PATH is RAW, not what".
void ag_conf_not (const struct ag_conf_item *item, const char *what);
//  All that was noted, by place, a line each; and forget it.
void ag_conf_put_problems (struct ag_conf *conf, struct ag_buf *out);

//  The elements of a list or the pairs of a map that our own reader made.
struct ag_cursor ag_conf_open (struct ag_str raw, uint32_t *count);
struct ag_str ag_conf_element (struct ag_cursor *in);
struct ag_str ag_conf_pair (struct ag_cursor *in, struct ag_str *key);

//  Put item->raw, read by the kind of its row.
void ag_conf_put (const struct ag_conf_item *item, struct ag_buf *out);
//  Put what a key of this kind is when nothing was written and there is no default.
void ag_conf_put_nothing (enum ag_conf_kind kind, struct ag_buf *out);
//  Put the section whose table is item->raw: each of its keys in the order of the rows.
void ag_conf_put_section (const struct ag_conf_item *item, enum ag_conf_section section,
                          struct ag_buf *out);
enum ag_conf_section ag_conf_section_of (const char *name);

//  Note the agent or service of item, whose name must not be taken.
void ag_conf_enter (const struct ag_conf_item *item);
//  What must hold inside finished entries and between them: they have code, who is heard and waited for
//  exists, and nobody waits for itself.
void ag_conf_check (struct ag_conf *conf);
#endif
