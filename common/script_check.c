//  SPDX-License-Identifier: Apache-2.0
#include "common/script_check.h"
#include "common/heard.h"
#include "common/lua_parse.h"
#include "common/script_on.h"
#include "common/unseen.h"
#include "common/value.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_LEVELS = 100, MOST_LINE = 200, MOST_FILE = 64 << 10, MOST_FILES = 256 << 10 };

enum who { ANY, AGENT };
enum kind { CALL, VALUE };

enum reason {
#define REASON(NAME, word, who, what) NAME,
#include "schemas/script.def"
};

static const struct {
    const char *word;
    enum who who;
    const char *what;
} reasons[] = {
#define REASON(NAME, word, who, what) {word, who, what},
#include "schemas/script.def"
};

static const char *const globals[] = {
#define GLOBAL(name, own) name,
#include "schemas/script.def"
};

//  A library or table, a name in it.
struct field {
    const char *of, *name;
    enum kind kind;
};

static const struct field fields[] = {
#define MATH(name, kind, own)   {"math", name, kind},
#define TABLE(name, kind, own)  {"table", name, kind},
#define UTF8(name, kind, own)   {"utf8", name, kind},
#define STRING(name, kind, own) {"string", name, kind},
#define AG(name, kind, own)     {"ag", name, kind},
#define GRAPH(name)             {"graph", name, VALUE},
#define CTX(name)               {"ctx", name, VALUE},
#include "schemas/script.def"
};

static const struct field absent[] = {
#define ABSENT(library, name) {library, name, CALL},
#include "schemas/script.def"
};

#define COUNT(list) (sizeof (list) / sizeof *(list))

struct problem {
    uint32_t line, column;
    enum reason reason;
    char subject[120];
};

enum reach { FAR, REACHED, LOOKED_AT };

struct check {
    const struct ag_source *files, *file; //  of the pack; at hand
    size_t count;
    enum ag_author author;
    bool readable,
        in_label; //  of the file at hand: its bytes are fine; between the signs of a label
    struct ag_script_on on; //  of the file at hand
    enum reach *reached;    //  of each file, where only those matter that are reached
    struct problem
        problems[AG_SCRIPT_PROBLEMS]; //  of the file at hand, as many as are still listed
    size_t kept, listed, total;
};

/*  Findings  */

//  As it is; a part of a character would be none.
static bool
is_shown (char c)
{
    return c >= ' ' && c < 127;
}

static void
say (struct check *self, enum reason reason, uint32_t line, uint32_t column, struct ag_str subject)
{
    if (reasons[reason].who == AGENT && self->author == AG_BY_HUMAN)
        return;
    self->total++;
    if (self->listed + self->kept == AG_SCRIPT_PROBLEMS)
        return;
    struct problem *problem = &self->problems[self->kept++];
    *problem = (struct problem){line, column, reason, {0}};
    for (size_t i = 0; i < subject.n && i + 1 < sizeof problem->subject; i++)
        problem->subject[i] = is_shown (subject.p[i]) ? subject.p[i] : '?';
}

static void
say_token (struct check *self, enum reason reason, const struct ag_lua_token *token)
{
    say (self, reason, token->line, token->column, token->text);
}

static int
by_place (const void *a, const void *b)
{
    const struct problem *p = a, *q = b;
    int order = (p->line > q->line) - (p->line < q->line);
    if (!order)
        order = (p->column > q->column) - (p->column < q->column);
    return order ? order : (int)p->reason - (int)q->reason;
}

static void
put_problems (struct check *self, struct ag_buf *out)
{
    struct ag_str path = self->file->path;
    qsort (self->problems, self->kept, sizeof *self->problems, by_place);
    for (size_t i = 0; i < self->kept; i++) {
        const struct problem *problem = &self->problems[i];
        for (size_t k = 0; k < path.n; k++)
            ag_buf_text (out, "%c", is_shown (path.p[k]) || (path.p[k] & 0x80) ? path.p[k] : '?');
        ag_buf_text (out, ":%u:%u: %s: %s%s(%s)\n", problem->line, problem->column,
                     reasons[problem->reason].word, problem->subject, *problem->subject ? " " : "",
                     reasons[problem->reason].what);
    }
    self->listed += self->kept;
    self->kept = 0;
}

/*  Bytes  */

//  A finding that makes the file unreadable: it is not parsed then.
static void
spoil (struct check *self, enum reason reason, uint32_t line, size_t at)
{
    say (self, reason, line, (uint32_t)at + 1, (struct ag_str){0});
    self->readable = false;
}

//  The length of the character there; 0: it is none.
static size_t
length_of_char (struct ag_str text, size_t at)
{
    for (size_t n = 1; n <= 4 && n <= text.n - at; n++)
        if (ag_utf8 ((struct ag_str){text.p + at, n}))
            return n;
    return 0;
}

static uint32_t
code_of (const char *p, size_t n)
{
    struct ag_utf8_char self = {0};
    for (size_t i = 0; i < n; i++)
        ag_utf8_char_add (&self, (uint8_t)p[i]);
    return self.code;
}

//  One finding of a kind a line is enough. True where the line has a carriage return.
static bool
check_line (struct check *self, struct ag_str text, uint32_t line)
{
    bool returns = false;
    for (size_t at = 0, n; at < text.n; at += n) {
        unsigned char c = (unsigned char)text.p[at];
        n = length_of_char (text, at);
        returns |= c == '\r';
        if (!n) {
            spoil (self, UTF8_BYTES, line, at);
            break;
        }
        if ((c < ' ' && c != '\t' && c != '\r') || c == 127) {
            spoil (self, CONTROL, line, at);
            break;
        }
        if (n > 1 && ag_is_unseen (code_of (text.p + at, n))) {
            spoil (self, UNSEEN, line, at);
            break;
        }
    }
    if (text.n > MOST_LINE)
        say (self, LINE, line, MOST_LINE + 1, (struct ag_str){0});
    return returns;
}

static void
check_bytes (struct check *self)
{
    struct ag_str rest = self->file->bytes;
    bool told = false;
    if (ag_str_starts (rest, "\xef\xbb\xbf")) {
        spoil (self, BOM, 1, 0);
        rest = (struct ag_str){rest.p + 3, rest.n - 3};
    }
    if (ag_str_starts (rest, "#"))
        spoil (self, HASH, 1, 0);
    for (uint32_t line = 1; rest.n; line++) {
        const char *end = memchr (rest.p, '\n', rest.n);
        size_t n = end ? (size_t)(end - rest.p) : rest.n;
        if (check_line (self, (struct ag_str){rest.p, n}, line) && !told) {
            const char *at = memchr (rest.p, '\r', n);
            say (self, NEWLINE, line, (uint32_t)(at - rest.p) + 1, (struct ag_str){0});
            told = true;
        }
        rest.p += n + (end != NULL);
        rest.n -= n + (end != NULL);
    }
}

/*  Names  */

static bool
is_global (struct ag_str name)
{
    for (size_t i = 0; i < COUNT (globals); i++)
        if (ag_str_is (name, globals[i]))
            return true;
    return false;
}

static const struct field *
find_field (const struct field *list, size_t count, struct ag_str of, struct ag_str name)
{
    for (size_t i = 0; i < count; i++)
        if (ag_str_is (of, list[i].of) && ag_str_is (name, list[i].name))
            return &list[i];
    return NULL;
}

static bool
is_given (struct ag_str name)
{
    return ag_str_is (name, "graph") || ag_str_is (name, "ctx");
}

static bool
is_library (struct ag_str name)
{
    for (size_t i = 0; i < COUNT (fields); i++)
        if (ag_str_is (name, fields[i].of))
            return !is_given (name);
    return false;
}

static bool
is_environment (struct ag_str name)
{
    return ag_str_is (name, "_ENV") || ag_str_is (name, "_G");
}

static bool
is_absent (struct ag_str of, struct ag_str name)
{
    return find_field (absent, COUNT (absent), of, name) != NULL;
}

/*  Rules; each hears of what it is about  */

static void
hear_on (void *arg, const struct ag_lua_token *token)
{
    struct check *self = arg;
    struct ag_buf why = {0};
    if (!ag_script_on (&self->on, token))
        return;
    const struct ag_lua_token *text = &self->on.text;
    if (!ag_heard ((struct ag_str){text->text.p + 1, text->text.n - 2}, AG_BEHAVIOR, &why))
        say (self, HEARD, text->line, text->column, ag_buf_str (&why));
    ag_buf_fini (&why);
}

static void
hear_token (void *arg, const struct ag_lua_token *token)
{
    struct check *self = arg;
    hear_on (self, token);
    if (token->kind == AG_LUA_NAME && is_environment (token->text))
        say_token (self, ENVIRONMENT, token);
    else if (token->unseen)
        say (self, ESCAPE, token->line, token->column, (struct ag_str){0});
    else if (token->kind == AG_LUA_GOTO)
        say_token (self, LABEL, token);
    else if (token->kind == AG_LUA_LABEL) {
        if (!self->in_label)
            say_token (self, LABEL, token);
        self->in_label = !self->in_label;
    }
}

static void
hear_method (void *arg, const struct ag_lua_token *name)
{
    if (!find_field (fields, COUNT (fields), AG_LIT ("string"), name->text))
        say_token (arg, METHOD, name);
}

static void
hear_attribute (void *arg, const struct ag_lua_token *name)
{
    if (ag_str_is (name->text, "close"))
        say_token (arg, CLOSE, name);
}

//  The number of the file a/b.lua for "a.b"; count: the pack has none.
static size_t
find_module (const struct check *self, struct ag_str name)
{
    char *path = ag_xprintf ("%.*s.lua", AG_STR_ARG (name));
    size_t found = 0;
    for (size_t i = 0; i < name.n; i++)
        path[i] = path[i] == '.' ? '/' : path[i];
    while (found < self->count && !ag_str_is (self->files[found].path, path))
        found++;
    free (path);
    return found;
}

//  In quotes, without escapes.
static bool
is_plain (const struct ag_lua_token *text)
{
    return text->kind == AG_LUA_STRING && *text->text.p != '[' &&
           !memchr (text->text.p, '\\', text->text.n);
}

//  The file that a plain text names.
static size_t
find_required (const struct check *self, const struct ag_lua_token *text)
{
    return find_module (self, (struct ag_str){text->text.p + 1, text->text.n - 2});
}

static void
check_require (struct check *self, const struct ag_lua_use *use)
{
    bool plain = is_plain (&use->text);
    if (!use->bound || !plain)
        say_token (self, REQUIRE, &use->name);
    if (plain && find_required (self, &use->text) == self->count)
        say_token (self, MISSING, &use->text);
}

static void
check_library (struct check *self, const struct ag_lua_use *use)
{
    const struct field *field =
        find_field (fields, COUNT (fields), use->name.text, use->field.text);
    bool passed_on = field && field->kind == CALL && !use->called;
    if (use->suffix != AG_LUA_FIELD || use->assigned || passed_on)
        say_token (self, MODULE, &use->name);
    else if (is_absent (use->name.text, use->field.text))
        say_token (self, ABSENT_NAME, &use->field);
    else if (!field)
        say_token (self, FIELD, &use->field);
}

static void
check_given (struct check *self, const struct ag_lua_use *use)
{
    if (use->suffix == AG_LUA_FIELD &&
        !find_field (fields, COUNT (fields), use->name.text, use->field.text))
        say_token (self, FIELD, &use->field);
}

static void
check_free (struct check *self, const struct ag_lua_use *use)
{
    struct ag_str name = use->name.text;
    bool assigned = use->assigned && use->suffix == AG_LUA_ALONE;
    if (is_absent (AG_LIT (""), name))
        say_token (self, ABSENT_NAME, &use->name);
    else if (assigned)
        say_token (self, ASSIGN, &use->name);
    else if (ag_str_is (name, "require"))
        check_require (self, use);
    else if (is_library (name))
        check_library (self, use);
    else if (!is_global (name))
        say_token (self, GLOBAL_NAME, &use->name);
}

static void
hear_use (void *arg, const struct ag_lua_use *use)
{
    struct check *self = arg;
    struct ag_str name = use->name.text;
    if (use->role == AG_LUA_PARAMETER && is_given (name))
        check_given (self, use);
    else if (use->role == AG_LUA_FREE && !(self->author == AG_BY_AGENT && is_environment (name)))
        check_free (self, use);
}

/*  Files  */

static void
parse (struct check *self)
{
    static const enum reason of_fault[] = {
        [AG_LUA_SYNTAX] = SYNTAX, [AG_LUA_NESTING] = NESTING, [AG_LUA_LIMIT] = LIMIT};
    struct ag_lua_events events = {hear_token, hear_use, hear_method, hear_attribute, self};
    struct ag_lua_fault fault;
    uint32_t levels = self->author == AG_BY_AGENT ? MOST_LEVELS : AG_LUA_LEVELS;
    self->in_label = false;
    self->on = (struct ag_script_on){0};
    enum ag_lua_wrong wrong = ag_lua_parse (self->file->bytes, levels, &events, &fault);
    if (wrong == AG_LUA_NESTING && self->author == AG_BY_HUMAN)
        wrong = AG_LUA_LIMIT; //  of Lua itself
    if (wrong)
        say (self, of_fault[wrong], fault.line, fault.column, ag_str (fault.text));
}

static bool
is_lua (struct ag_str path)
{
    return path.n > 4 && !memcmp (path.p + path.n - 4, ".lua", 4);
}

static void
check_file (struct check *self, size_t *bytes, struct ag_buf *problems)
{
    size_t n = self->file->bytes.n;
    self->readable = true;
    *bytes += n;
    if (n > MOST_FILE || (*bytes > MOST_FILES && *bytes - n <= MOST_FILES))
        say (self, SIZE, 1, 1, (struct ag_str){0});
    if (self->author == AG_BY_HUMAN || (n <= MOST_FILE && *bytes <= MOST_FILES)) {
        check_bytes (self);
        if (self->readable)
            parse (self);
    }
    put_problems (self, problems);
}

static struct check *
begin (const struct ag_source *files, size_t count, enum ag_author author)
{
    struct check *self = ag_xcalloc (1, sizeof *self);
    self->files = files;
    self->count = count;
    self->author = author;
    return self;
}

static size_t
end (struct check *self, struct ag_buf *problems)
{
    size_t total = self->total;
    if (total > self->listed)
        ag_buf_text (problems, "and %zu more in Lua files\n", total - self->listed);
    free (self->reached);
    free (self);
    return total;
}

size_t
ag_script_check (const struct ag_source *files, size_t count, enum ag_author author,
                 struct ag_buf *problems)
{
    struct check *self = begin (files, count, author);
    size_t bytes = 0;
    for (size_t i = 0; i < count; i++) {
        self->file = &files[i];
        if (is_lua (self->file->path))
            check_file (self, &bytes, problems);
    }
    return end (self, problems);
}

/*  What could never load  */

static void
reach (struct check *self, size_t file)
{
    if (file < self->count && self->reached[file] == FAR)
        self->reached[file] = REACHED;
}

static void
hear_require (void *arg, const struct ag_lua_use *use)
{
    struct check *self = arg;
    if (use->role == AG_LUA_FREE && ag_str_is (use->name.text, "require") && is_plain (&use->text))
        reach (self, find_required (self, &use->text));
}

//  A limit is no fault here: ours are stricter than those of Lua.
static void
check_loads (struct check *self, size_t file, struct ag_buf *problems)
{
    struct ag_lua_events events = {.token = hear_on, .use = hear_require, .arg = self};
    struct ag_lua_fault fault;
    self->file = &self->files[file];
    self->reached[file] = LOOKED_AT;
    self->on = (struct ag_script_on){0};
    if (ag_lua_parse (self->file->bytes, AG_LUA_LEVELS, &events, &fault) == AG_LUA_SYNTAX)
        say (self, SYNTAX, fault.line, fault.column, ag_str (fault.text));
    put_problems (self, problems);
}

//  Each file is looked at once, so it ends.
size_t
ag_script_check_loads (const struct ag_source *files, size_t count, struct ag_buf *problems)
{
    struct check *self = begin (files, count, AG_BY_HUMAN);
    self->reached = ag_xcalloc (count + 1, sizeof *self->reached);
    reach (self, find_module (self, AG_LIT ("main")));
    for (bool more = true; more;) {
        more = false;
        for (size_t i = 0; i < count; i++)
            if (self->reached[i] == REACHED) {
                check_loads (self, i, problems);
                more = true;
            }
    }
    return end (self, problems);
}
