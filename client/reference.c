//  SPDX-License-Identifier: Apache-2.0
#include "client/reference.h"
#include "common/wire.h"

#include <inttypes.h>
#include <string.h>

/*  configuration  */

//  A value as people write it; * stands for the detail of the key.
static const char *
conf_value (const char *kind)
{
    static const struct {
        const char *kind, *words;
    } values[] = {
        {"UINT", "a number"},
        {"MS", "a time span, as \"250ms\" or \"2m\""},
        {"BYTES", "a size, as \"256MiB\""},
        {"TEXT", "a text"},
        {"CHOICE", "one of *"},
        {"CHOICES", "a list of *"},
        {"NAME", "a name"},
        {"NAMES", "a list of names"},
        {"COMMAND", "a list: program and arguments"},
        {"DIR", "a directory"},
        {"DIRS", "a list of directories"},
        {"PATH", "a path"},
        {"ADDRESS", "\"IP:PORT\""},
        {"SPAN", "\"FIRST-LAST\""},
        {"ENV", "a table of variables"},
        {"SETTINGS", "a table by pack"},
        {"TABLE", "a table, below"},
        {"TABLES", "a list of tables, below"},
        {"NAMED", "tables by name, below"},
        {"KEYED", "tables by name, below"},
        {"WORDS", "a list of texts"},
        {"USD", "dollars, as \"1.50\""},
    };
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        if (!strcmp (kind, values[i].kind))
            return values[i].words;
    return "a value";
}

enum conf_section {
#define SECTION(NAME, written, what) CONF_##NAME,
#define KEY(...)
#include "schemas/settings.def"
    CONF_SECTIONS
};

static const char *const sections[][2] = {
#define SECTION(NAME, written, what) {written, what},
#define KEY(...)
#include "schemas/settings.def"
};

static const struct key {
    enum conf_section section;
    const char *key, *kind;
    bool needed;
    uint64_t min, max;
    const char *preset, *detail, *help;
} keys[] = {
#define SECTION(...)
#define KEY(SECTION, key, KIND, needed, min, max, preset, detail, help)                            \
    {CONF_##SECTION, key, #KIND, needed, min, max, preset, detail, help},
#include "schemas/settings.def"
};

static void
put_key (FILE *out, const struct key *key)
{
    if (!strcmp (key->kind, "LATER")) {
        fprintf (out, "- `%s`: not built yet, refused by name. For %s.\n", key->key, key->help);
        return;
    }
    const char *value = conf_value (key->kind), *star = strchr (value, '*');
    fprintf (out, "- `%s`%s: %.*s", key->key, key->needed ? " (needed)" : "",
             (int)(star ? star - value : (ptrdiff_t)strlen (value)), value);
    for (const char *p = star ? key->detail : ""; *p; p++)
        fputs (*p == '|' ? ", " : (char[]){*p, 0}, out);
    if (!strcmp (key->kind, "UINT") && key->max < INT64_MAX)
        fprintf (out, ", %" PRIu64 " to %" PRIu64, key->min, key->max);
    if (key->preset)
        fprintf (out, "; `%s` unless said", key->preset);
    fprintf (out, ". %s.\n", key->help);
}

static void
put_configuration (FILE *out)
{
    fputs ("`agsup.toml`, or a directory of such files: all of it is valid or nothing happens.\n"
           "`agsup check` tells every problem with its line and column and starts nothing.\n"
           "For each net 0 means that there is no limit.\n",
           out);
    for (int section = 0; section < CONF_SECTIONS; section++) {
        const char *written = sections[section][0], *what = sections[section][1];
        fprintf (out, *written ? "\n## `%s`: %s\n\n" : "\n## The file\n\n", written, what);
        for (const struct key *key = keys; key < keys + sizeof keys / sizeof *keys; key++)
            if (key->section == (enum conf_section)section)
                put_key (out, key);
    }
}

/*  events  */

static const char *
writer_words (const char *writer)
{
    return !strcmp (writer, "OPERATION") ? "arises from an operation"
           : !strcmp (writer, "HOUSE")   ? "of the supervisor"
                                         : "of the supervisor, or asked for by a command";
}

static void
put_events (FILE *out)
{
    fputs ("Every event is `{id, type, payload, actor, frame_id, caused_by, timestamp}`. A type "
           "that is not here and in none of the\n"
           "families below is your own: `agsup tell`, `emit`.\n\n",
           out);
#define EVENT(NAME, type, writer, queued, lifecycle, help)                                         \
    fprintf (out, "- `%s` (%s%s%s). %s\n", type, writer_words (#writer),                           \
             (queued) ? ", behaviours may ask for it" : "",                                        \
             (lifecycle) ? ", left out of diffs" : "", help);
#define FAMILY(...)
#include "schemas/events.def"
    fputs ("\n## Families that are reserved\n\n", out);
#define EVENT(...)
#define FAMILY(prefix, ...) fprintf (out, "- `%s*`\n", prefix);
#include "schemas/events.def"
}

/*  operations  */

static void
put_operations (FILE *out)
{
    fputs ("Each is `{\"op\": NAME, FIELD: VALUE, ...}`: lines of `agsup apply`, elements of "
           "`done` of a worker. An id is an\n"
           "id, or `\"@name\"` of a thing that was made with `as` earlier in the same list. "
           "Unknown fields are refused.\n",
           out);
#define OP(NAME, name, doc) fprintf (out, "\n## `%s`\n\n%s\n", name, doc);
#define FIELD(NAME, field, kind, needed, doc)                                                      \
    fprintf (out, "- `%s`%s: %s.\n", #field, (needed) ? " (needed)" : "", doc);
#define END(NAME)
#include "schemas/operations.def"
}

/*  errors  */

static void
put_errors (FILE *out)
{
    fputs ("With `--json` an error is `{\"error\": {code, message, hint, retryable}}`. Success is "
           "exit status 0.\n\n",
           out);
    for (int code = 1; code < AG_CODES; code++)
        fprintf (out, "- `%s`, exit status %d%s. %s\n", ag_code_name ((enum ag_code)code),
                 ag_code_status ((enum ag_code)code),
                 ag_code_retryable ((enum ag_code)code) ? ", worth repeating" : "",
                 ag_code_hint ((enum ag_code)code));
}

/*  messages  */

static void
put_field (FILE *out, const char *field, const char *kind, bool needed, uint64_t max,
           const char *help)
{
    static const char *const kinds[][2] = {
        {"STR", "text"},      {"UINT", "number"}, {"BOOL", "bool"},
        {"VAL", "any value"}, {"LIST", "list"},   {"MAP", "map"},
    };
    size_t k = 0;
    while (k < 5 && strcmp (kind, kinds[k][0]))
        k++;
    fprintf (out, "- `%s`%s: %s", field, needed ? " (needed)" : "", kinds[k][1]);
    if (strcmp (kind, "BOOL") && max != UINT64_MAX)
        fprintf (out, ", at most %" PRIu64 "%s", max, strcmp (kind, "UINT") ? " bytes" : "");
    fprintf (out, ". %s.\n", help);
}

static void
put_messages (FILE *out)
{
    fputs ("A request is one msgpack map `{do, ...}`, its answer `{do: \"ok\" | \"error\", ...}`. "
           "Every request of a client also\n"
           "carries `token`, and may carry `id` and `protocol`. Fields that are not named here are "
           "ignored.\n"
           "A client's request with a wrong word or value is answered with an error and costs "
           "nothing else; bytes that are no map, a wrong\n"
           "`token` and a request of another side are answered once, and the connection ends. A "
           "worker is ended by any of these.\n",
           out);
#define MSG(name, does, from, help)                                                                \
    fprintf (out, "\n## `%s` of a %s\n\n%s\n", does,                                               \
             !strcmp (#from, "CLIENT")   ? "client"                                                \
             : !strcmp (#from, "WORKER") ? "worker"                                                \
                                         : "broker",                                               \
             help);
#define FIELD(name, field, kind, needed, min, max, help)                                           \
    put_field (out, #field, #kind, needed, max, help);
#define END(name)
#include "schemas/messages.def"
}

static const struct page {
    const char *topic, *title;
    void (*put) (FILE *out);
} pages[] = {
    {"configuration", "Configuration", put_configuration},
    {"events", "Event types", put_events},
    {"operations", "Operations", put_operations},
    {"errors", "Errors and exit status", put_errors},
    {"messages", "Messages", put_messages},
};

enum { PAGES = sizeof pages / sizeof *pages };

const char *
ag_reference_topic (size_t number, const char **title)
{
    if (number >= PAGES)
        return NULL;
    *title = pages[number].title;
    return pages[number].topic;
}

bool
ag_reference (const char *topic, FILE *out)
{
    for (const struct page *page = pages; page < pages + PAGES; page++)
        if (!strcmp (topic, page->topic)) {
            fprintf (out, "# %s\n\n", page->title);
            page->put (out);
            return true;
        }
    return false;
}
