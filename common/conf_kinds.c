//  SPDX-License-Identifier: Apache-2.0
#include "common/conf_inside.h"
#include "common/forms.h"
#include "common/units.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

typedef void read_fn (const struct ag_conf_item *item, struct ag_buf *out);

//  The text of raw, without NUL: what becomes a path, an argument or a variable must hold none.
static int
text_of (struct ag_str raw, struct ag_str *text)
{
    struct ag_cursor in = ag_cursor (raw);
    struct ag_head head;
    if (ag_next (&in, &head) || head.kind != AG_TEXT ||
        (head.s.n && memchr (head.s.p, 0, head.s.n)))
        return -1;
    *text = head.s;
    return 0;
}

static int
number_of (struct ag_str raw, uint64_t *number)
{
    struct ag_cursor in = ag_cursor (raw);
    struct ag_head head;
    if (ag_next (&in, &head) || head.kind != AG_UINT)
        return -1;
    *number = head.u;
    return 0;
}

static bool
within (const struct ag_conf_item *item, uint64_t number)
{
    return number >= item->row->min && number <= item->row->max;
}

//  "a number from 1 to 100", "a number from 16 on".
static void
not_within (const struct ag_conf_item *item, const char *what, const char *unit)
{
    char text[160];
    uint64_t min = item->row->min, max = item->row->max;
    if (min == max)
        snprintf (text, sizeof text, "%" PRIu64, min);
    else if (max == INT64_MAX)
        snprintf (text, sizeof text, "%s from %" PRIu64 "%s on", what, min, unit);
    else
        snprintf (text, sizeof text, "%s from %" PRIu64 "%s to %" PRIu64 "%s", what, min, unit, max,
                  unit);
    ag_conf_not (item, text);
}

static void
read_uint (const struct ag_conf_item *item, struct ag_buf *out)
{
    uint64_t number = 0;
    if (number_of (item->raw, &number) || !within (item, number))
        not_within (item, "a number", "");
    ag_put_uint (out, number);
}

//  The number 0 is as good as the text "0": no unit says more about it.
static void
read_quantity (const struct ag_conf_item *item, int (*read) (struct ag_str, uint64_t *),
               const char *what, const char *unit, struct ag_buf *out)
{
    struct ag_str text;
    uint64_t number = 0;
    bool zero = !number_of (item->raw, &number) && !number;
    if (!zero && (text_of (item->raw, &text) || read (text, &number)))
        ag_conf_not (item, what);
    else if (!within (item, number))
        not_within (item, "a value", unit);
    ag_put_uint (out, number);
}

static void
read_ms (const struct ag_conf_item *item, struct ag_buf *out)
{
    read_quantity (item, ag_ms_read, "a time span such as \"250ms\", \"30s\" or \"2m\"", " ms",
                   out);
}

static void
read_bytes (const struct ag_conf_item *item, struct ag_buf *out)
{
    read_quantity (item, ag_bytes_read, "a size such as \"64KiB\" or \"256MiB\"", " bytes", out);
}

static void
read_text (const struct ag_conf_item *item, struct ag_buf *out)
{
    struct ag_str text = {0};
    if (text_of (item->raw, &text))
        ag_conf_not (item, "a text");
    else if (!within (item, text.n))
        ag_conf_problem (item, "is %zu bytes long, not %" PRIu64 " to %" PRIu64, text.n,
                         item->row->min, item->row->max);
    ag_put_text (out, text);
}

//  Is text one of "a|b|c"?
static bool
is_choice (struct ag_str text, const char *choices)
{
    for (const char *p = choices; *p; p += strcspn (p, "|"), p += *p == '|')
        if (ag_str_eq (text, (struct ag_str){p, strcspn (p, "|")}))
            return true;
    return false;
}

static void
read_choice (const struct ag_conf_item *item, struct ag_buf *out)
{
    struct ag_str text = {0};
    if (text_of (item->raw, &text) || !is_choice (text, item->row->detail)) {
        char what[160];
        snprintf (what, sizeof what, "one of %s", item->row->detail);
        ag_conf_not (item, what);
    }
    ag_put_text (out, text);
}

static void
read_name (const struct ag_conf_item *item, struct ag_buf *out)
{
    struct ag_str text = {0};
    if (text_of (item->raw, &text) || ag_name_wrong (text)) {
        ag_conf_not (item, "the name of an agent or service");
        text = AG_LIT ("");
    }
    ag_put_text (out, text);
}

//  A path of the configuration is relative to its directory. NULL when it cannot be a path.
static char *
absolute (const struct ag_conf_item *item)
{
    struct ag_str text;
    if (text_of (item->raw, &text) || !text.n || text.n >= PATH_MAX)
        return NULL;
    return ag_str_starts (text, "/") ? ag_str_dup (text)
                                     : ag_xprintf ("%s/%.*s", item->conf->base, AG_STR_ARG (text));
}

static void
read_path (const struct ag_conf_item *item, struct ag_buf *out)
{
    char *path = absolute (item);
    if (!path)
        ag_conf_not (item, "a path");
    ag_put_lit (out, path ? path : "");
    free (path);
}

//  The last part of a path, whatever slashes stand behind it.
static bool
is_link (char *path)
{
    struct stat st;
    for (size_t n = strlen (path); n > 1 && path[n - 1] == '/'; n--)
        path[n - 1] = 0;
    return !lstat (path, &st) && S_ISLNK (st.st_mode);
}

//  Where the detail is "itself", not through a link.
static void
read_dir (const struct ag_conf_item *item, struct ag_buf *out)
{
    struct stat st;
    char *path = absolute (item), *real = path ? realpath (path, NULL) : NULL;
    if (!path)
        ag_conf_not (item, "a directory");
    else if (!real || stat (real, &st) || !S_ISDIR (st.st_mode))
        ag_conf_problem (item, "is %s, which is not a directory", path);
    else if (!strcmp (item->row->detail, "itself") && is_link (path))
        ag_conf_problem (item, "is %s, a symbolic link; name the folder itself", path);
    ag_put_lit (out, real ? real : "");
    free (path);
    free (real);
}

//  A program without a slash is looked for in PATH when it is started.
static void
read_program (const struct ag_conf_item *item, struct ag_buf *out)
{
    struct ag_str text = {0};
    struct stat st;
    if (text_of (item->raw, &text) || !text.n) {
        ag_conf_not (item, "a program");
    } else if (memchr (text.p, '/', text.n)) {
        char *path = absolute (item);
        if (!path || stat (path, &st) || !S_ISREG (st.st_mode) || !(st.st_mode & 0111))
            ag_conf_problem (item, "is %s, which is not an executable file",
                             path ? path : "too long");
        ag_put_lit (out, path ? path : "");
        free (path);
        return;
    }
    ag_put_text (out, text);
}

static void
read_argument (const struct ag_conf_item *item, struct ag_buf *out)
{
    struct ag_str text = {0};
    if (text_of (item->raw, &text))
        ag_conf_not (item, "a text without NUL");
    ag_put_text (out, text);
}

//  A list whose first element is read by one reader and all others by another.
static void
read_list (const struct ag_conf_item *item, read_fn *first, read_fn *others, const char *what,
           struct ag_buf *out)
{
    if (ag_kind_of (item->raw) != AG_LIST) {
        ag_conf_not (item, what);
        ag_put_null (out);
        return;
    }
    uint32_t count;
    struct ag_cursor in = ag_conf_open (item->raw, &count);
    if (!within (item, count))
        ag_conf_problem (item, "has %" PRIu32 " elements, not %" PRIu64 " to %" PRIu64, count,
                         item->row->min, item->row->max);
    ag_put_list (out, count);
    for (uint32_t i = 0; i < count; i++) {
        struct ag_toml_path path = {item->path, {0}, i};
        struct ag_conf_item element = *item;
        element.path = &path;
        element.raw = ag_conf_element (&in);
        (i ? others : first) (&element, out);
    }
}

static void
read_choices (const struct ag_conf_item *item, struct ag_buf *out)
{
    read_list (item, read_choice, read_choice, "a list of words", out);
}

static void
read_names (const struct ag_conf_item *item, struct ag_buf *out)
{
    read_list (item, read_name, read_name, "a list of names", out);
}

static void
read_dirs (const struct ag_conf_item *item, struct ag_buf *out)
{
    read_list (item, read_dir, read_dir, "a list of directories", out);
}

static void
read_command (const struct ag_conf_item *item, struct ag_buf *out)
{
    read_list (item, read_program, read_argument, "a list: a program and its arguments", out);
}

//  Only numbers: looking a name up may take any time, and readiness is asked often.
static bool
is_address (char *text)
{
    uint8_t binary[sizeof (struct in6_addr)];
    char *colon = strrchr (text, ':'), *end;
    if (!colon || colon[1] < '1' || colon[1] > '9')
        return false;
    unsigned long port = strtoul (colon + 1, &end, 10);
    if (*end || port > 65535)
        return false;
    *colon = 0;
    if (*text != '[')
        return inet_pton (AF_INET, text, binary) == 1;
    if (colon[-1] != ']')
        return false;
    colon[-1] = 0;
    return inet_pton (AF_INET6, text + 1, binary) == 1;
}

static void
read_address (const struct ag_conf_item *item, struct ag_buf *out)
{
    struct ag_str text = {0};
    char *copy = text_of (item->raw, &text) ? NULL : ag_str_dup (text);
    if (!copy || !is_address (copy))
        ag_conf_not (item, "an address such as \"127.0.0.1:8080\" or \"[::1]:8080\"");
    ag_put_text (out, text);
    free (copy);
}

static void
read_span (const struct ag_conf_item *item, struct ag_buf *out)
{
    struct ag_str text;
    uint64_t first = 0, last = 0;
    if (text_of (item->raw, &text) || ag_span_read (text, &first, &last) || !within (item, first) ||
        !within (item, last))
        not_within (item, "\"FIRST-LAST\", two numbers", "");
    ag_put_map (out, 2);
    ag_put_lit (out, "first");
    ag_put_uint (out, first);
    ag_put_lit (out, "last");
    ag_put_uint (out, last);
}

static bool
is_variable (struct ag_str name)
{
    if (!name.n || name.n > 128 || (*name.p >= '0' && *name.p <= '9'))
        return false;
    for (size_t i = 0; i < name.n; i++)
        if (!strchr ("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_",
                     name.p[i]) ||
            !name.p[i])
            return false;
    return true;
}

//  A file that holds a secret: others of this machine must not be able to read it.
static void
read_secret_file (const struct ag_conf_item *item, struct ag_buf *out)
{
    struct stat st;
    char *path = absolute (item);
    if (!path)
        ag_conf_not (item, "a path");
    else if (stat (path, &st) || !S_ISREG (st.st_mode))
        ag_conf_problem (item, "is %s, which is not a file", path);
    else if (st.st_mode & S_IROTH)
        ag_conf_problem (item, "is %s, which everybody may read; `chmod o-r` it", path);
    ag_put_lit (out, path ? path : "");
    free (path);
}

static void
read_variable_name (const struct ag_conf_item *item, struct ag_buf *out)
{
    struct ag_str text = {0};
    if (text_of (item->raw, &text) || !is_variable (text))
        ag_conf_not (item, "the name of a variable");
    ag_put_text (out, text);
}

static void
read_source (const struct ag_conf_item *item, struct ag_str key, struct ag_str raw,
             struct ag_buf *out)
{
    struct ag_toml_path path = {item->path, key, 0};
    struct ag_conf_item source = *item;
    source.path = &path;
    source.raw = raw;
    ag_put_map (out, 1);
    ag_put_text (out, key);
    (ag_str_is (key, "file") ? read_secret_file : read_variable_name) (&source, out);
}

//  "text", { file = PATH } or { env = NAME }.
static void
read_variable (const struct ag_conf_item *item, struct ag_buf *out)
{
    uint32_t count = 0;
    struct ag_str key = {0}, raw = {0};
    if (ag_kind_of (item->raw) == AG_MAP) {
        struct ag_cursor in = ag_conf_open (item->raw, &count);
        if (count == 1)
            raw = ag_conf_pair (&in, &key);
    }
    if (ag_str_is (key, "file") || ag_str_is (key, "env")) {
        read_source (item, key, raw, out);
        return;
    }
    struct ag_str text = {0};
    if (text_of (item->raw, &text))
        ag_conf_not (item, "a text, { file = PATH } or { env = NAME }");
    ag_put_map (out, 1);
    ag_put_lit (out, "text");
    ag_put_text (out, text);
}

//  Read each pair of a table: the key is put by this function, the value by the reader.
static void
read_pairs (const struct ag_conf_item *item, read_fn *read, const char *what, struct ag_buf *out)
{
    if (ag_kind_of (item->raw) != AG_MAP) {
        ag_conf_not (item, what);
        ag_put_null (out);
        return;
    }
    uint32_t count;
    struct ag_cursor in = ag_conf_open (item->raw, &count);
    if (!within (item, count))
        ag_conf_problem (item, "has %" PRIu32 " entries, not %" PRIu64 " to %" PRIu64, count,
                         item->row->min, item->row->max);
    ag_put_map (out, count);
    while (count--) {
        struct ag_toml_path path = {.up = item->path};
        struct ag_conf_item pair = *item;
        pair.raw = ag_conf_pair (&in, &path.key);
        pair.path = &path;
        ag_put_text (out, path.key);
        read (&pair, out);
    }
}

static void
read_named_variable (const struct ag_conf_item *item, struct ag_buf *out)
{
    struct ag_str name = item->path->key;
    if (!is_variable (name))
        ag_conf_problem (item, "is not the name of a variable");
    else if (ag_str_starts (name, "AGSUP_"))
        ag_conf_problem (item, "is a variable that agsup sets itself");
    read_variable (item, out);
}

static void
read_env (const struct ag_conf_item *item, struct ag_buf *out)
{
    read_pairs (item, read_named_variable, "a table of variables", out);
}

static void
read_pack_settings (const struct ag_conf_item *item, struct ag_buf *out)
{
    if (ag_kind_of (item->raw) != AG_MAP)
        ag_conf_not (item, "a table of the settings of one pack");
    ag_put_value (out, item->raw);
}

static void
read_settings (const struct ag_conf_item *item, struct ag_buf *out)
{
    read_pairs (item, read_pack_settings, "a table of packs", out);
}

static void
read_pin (const struct ag_conf_item *item, struct ag_buf *out)
{
    struct ag_str text = {0};
    if (!ag_is_name (item->path->key))
        ag_conf_problem (item, "is no name of a pack");
    if (text_of (item->raw, &text) || !ag_is_hash (text))
        ag_conf_not (item, "sha256: and 64 digits of 0-9 and a-f");
    ag_put_text (out, text);
}

static void
read_pins (const struct ag_conf_item *item, struct ag_buf *out)
{
    read_pairs (item, read_pin, "a table of packs", out);
}

static void
read_table (const struct ag_conf_item *item, struct ag_buf *out)
{
    ag_conf_put_section (item, ag_conf_section_of (item->row->detail), out);
}

static void
read_tables (const struct ag_conf_item *item, struct ag_buf *out)
{
    read_list (item, read_table, read_table, "a list of tables", out);
}

static void
read_entry (const struct ag_conf_item *item, struct ag_buf *out)
{
    struct ag_conf_item entry = *item;
    const char *wrong = ag_name_wrong (item->path->key);
    entry.defaults = item->conf->defaults;
    if (wrong)
        ag_conf_problem (item, "%s", wrong);
    ag_conf_enter (item);
    read_table (&entry, out);
}

static void
read_named (const struct ag_conf_item *item, struct ag_buf *out)
{
    read_pairs (item, read_entry, "tables by name", out);
}

//  Names of the agent's own, whatever they look like.
static void
read_keyed (const struct ag_conf_item *item, struct ag_buf *out)
{
    read_pairs (item, read_table, "tables by name", out);
}

static void
read_words (const struct ag_conf_item *item, struct ag_buf *out)
{
    read_list (item, read_argument, read_argument, "a list of texts", out);
}

static void
read_usd (const struct ag_conf_item *item, struct ag_buf *out)
{
    struct ag_str text = {0};
    uint64_t micros;
    if (text_of (item->raw, &text) || ag_usd_read (text, &micros))
        ag_conf_not (item, "an amount of dollars as text, such as \"1.50\"");
    ag_put_text (out, text);
}

//  How each kind is read, and the byte that is its value when there is none: null, [] or {}. LATER has no
//  reader, its keys are refused before.
static const struct {
    read_fn *read;
    char nothing;
} kinds[] = {
    [AG_CONF_UINT] = {read_uint, '\xc0'},       [AG_CONF_MS] = {read_ms, '\xc0'},
    [AG_CONF_BYTES] = {read_bytes, '\xc0'},     [AG_CONF_TEXT] = {read_text, '\xc0'},
    [AG_CONF_CHOICE] = {read_choice, '\xc0'},   [AG_CONF_CHOICES] = {read_choices, '\x90'},
    [AG_CONF_NAME] = {read_name, '\xc0'},       [AG_CONF_NAMES] = {read_names, '\x90'},
    [AG_CONF_COMMAND] = {read_command, '\xc0'}, [AG_CONF_DIR] = {read_dir, '\xc0'},
    [AG_CONF_DIRS] = {read_dirs, '\x90'},       [AG_CONF_PATH] = {read_path, '\xc0'},
    [AG_CONF_ADDRESS] = {read_address, '\xc0'}, [AG_CONF_SPAN] = {read_span, '\xc0'},
    [AG_CONF_ENV] = {read_env, '\x80'},         [AG_CONF_SETTINGS] = {read_settings, '\x80'},
    [AG_CONF_TABLE] = {read_table, '\xc0'},     [AG_CONF_TABLES] = {read_tables, '\x90'},
    [AG_CONF_NAMED] = {read_named, '\x80'},     [AG_CONF_KEYED] = {read_keyed, '\x80'},
    [AG_CONF_WORDS] = {read_words, '\xc0'},     [AG_CONF_USD] = {read_usd, '\xc0'},
    [AG_CONF_PINS] = {read_pins, '\x80'},
};

void
ag_conf_put (const struct ag_conf_item *item, struct ag_buf *out)
{
    kinds[item->row->kind].read (item, out);
}

void
ag_conf_put_nothing (enum ag_conf_kind kind, struct ag_buf *out)
{
    ag_put_value (out, (struct ag_str){&kinds[kind].nothing, 1});
}
