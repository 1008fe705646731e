//  SPDX-License-Identifier: Apache-2.0
#include "client/parse.h"

#include "common/near.h"
#include "common/units.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

//  Words that are not options wait here until the command is known whole.
struct reader {
    int argc, at;
    char *const *argv;
    struct ag_call *call;
    char **words;
    size_t count;
    struct ag_err *err;
};

static void *
place (struct ag_call *call, const struct ag_param *param)
{
    return (char *)call + param->at;
}

//  How the parameter is called in a sentence: --count, or POINT, or shell where the metavar is a choice.
static const char *
called (const struct ag_param *param, char room[64])
{
    const char *bare = param->kind == AG_ARG_CHOICE ? param->name : param->metavar;
    snprintf (room, 64, "%s%s", *param->word ? "--" : "", *param->word ? param->word : bare);
    return room;
}

static int
set_uint (const struct ag_param *param, const char *text, uint64_t *to, struct ag_err *err)
{
    char room[64], *end;
    errno = 0;
    unsigned long long number = strtoull (text, &end, 10);
    if (*text < '0' || *text > '9' || *end || errno)
        return ag_fail (err, AG_E_USAGE, "%s is \"%s\", not a whole number", called (param, room),
                        text);
    *to = number;
    return 0;
}

//  As the configuration writes it, or a bare number of seconds.
static int
set_seconds (const struct ag_param *param, const char *text, uint64_t *to, struct ag_err *err)
{
    char room[64], *end;
    uint64_t ms;
    double seconds = strtod (text, &end);
    if (!ag_ms_read (ag_str (text), &ms))
        seconds = (double)ms / 1000;
    else if (end == text || *end)
        seconds = 0;
    if (!isfinite (seconds) || seconds < 0.001 || seconds > 1e9)
        return ag_fail (err, AG_E_USAGE, "%s is \"%s\", not a time: 1.5 (seconds), 250ms, 2s, 2m",
                        called (param, room), text);
    *to = (uint64_t)(seconds * 1000 + 0.5);
    return 0;
}

//  As the configuration writes it, or a bare number of bytes.
static int
set_bytes (const struct ag_param *param, const char *text, uint64_t *to, struct ag_err *err)
{
    char room[64];
    struct ag_err bare;
    if (!ag_bytes_read (ag_str (text), to) || !set_uint (param, text, to, &bare))
        return 0;
    return ag_fail (err, AG_E_USAGE, "%s is \"%s\", not a size: 4096 (bytes), 64MiB, 1GB",
                    called (param, room), text);
}

//  The metavar of a choice is its words between bars.
static int
set_choice (const struct ag_param *param, const char *text, const char **to, struct ag_err *err)
{
    char room[64];
    const char *word = param->metavar;
    for (size_t n; *word; word += n + (word[n] == '|')) {
        n = strcspn (word, "|");
        if (strlen (text) == n && !memcmp (word, text, n)) {
            *to = text;
            return 0;
        }
    }
    return ag_fail (err, AG_E_USAGE, "%s is \"%s\", not one of %s", called (param, room), text,
                    param->metavar);
}

static int
set (struct ag_call *call, const struct ag_param *param, const char *text, struct ag_err *err)
{
    void *to = place (call, param);
    if (param->kind == AG_ARG_UINT)
        return set_uint (param, text, to, err);
    if (param->kind == AG_ARG_SECONDS)
        return set_seconds (param, text, to, err);
    if (param->kind == AG_ARG_BYTES)
        return set_bytes (param, text, to, err);
    if (param->kind == AG_ARG_CHOICE)
        return set_choice (param, text, to, err);
    if (!ag_arg_repeats (param->kind)) {
        *(const char **)to = text;
        return 0;
    }
    struct ag_words *list = to;
    list->p = ag_xrealloc (list->p, (list->n + 1) * sizeof *list->p);
    list->p[list->n++] = text;
    return 0;
}

static void
set_presets (struct ag_call *call, const struct ag_command *command)
{
    struct ag_err err;
    for (const struct ag_param *opt = command->opts; opt->name; opt++)
        if (*opt->preset)
            set (call, opt, opt->preset, &err);
}

enum { OPTIONS = 32 };

static size_t
add_options (enum ag_cmd cmd, const struct ag_param *list[OPTIONS], size_t n)
{
    for (const struct ag_param *opt = ag_command (cmd)->opts; opt->name; opt++) {
        assert (n < OPTIONS);
        list[n++] = opt;
    }
    return n;
}

//  What may be said here: the options of all, and once the command is known its own.
static size_t
options (const struct ag_call *call, const struct ag_param *list[OPTIONS])
{
    size_t n = add_options (AG_CMD_any, list, 0);
    if (call->command)
        n = add_options (call->command->cmd, list, n);
    if (call->command && call->command->effect == AG_CHANGES)
        n = add_options (AG_CMD_change, list, n);
    return n;
}

static const char *
speaker (const struct ag_call *call)
{
    return call->command ? call->command->words : "agsup";
}

static const struct ag_param *
find_long (const struct ag_call *call, struct ag_str word, struct ag_err *err)
{
    const struct ag_param *list[OPTIONS];
    const char *names[OPTIONS];
    size_t n = options (call, list);
    for (size_t i = 0; i < n; i++) {
        names[i] = list[i]->word;
        if (ag_str_is (word, list[i]->word))
            return list[i];
    }
    const char *near = ag_near (word, names, n);
    ag_fail (err, AG_E_USAGE, "%s has no option --%.*s%s%s%s", speaker (call), AG_STR_ARG (word),
             near ? "; did you mean --" : "", near ? near : "", near ? "?" : "");
    return NULL;
}

static const struct ag_param *
find_short (const struct ag_call *call, char letter, struct ag_err *err)
{
    const struct ag_param *list[OPTIONS];
    size_t n = options (call, list);
    for (size_t i = 0; i < n; i++)
        if (list[i]->letter == letter)
            return list[i];
    ag_fail (err, AG_E_USAGE, "%s has no option -%c", speaker (call), letter);
    return NULL;
}

//  The value of an option: what is left of its own word, or the next word.
static int
set_option (struct reader *self, const struct ag_param *opt, const char *own)
{
    char room[64];
    if (opt->kind == AG_ARG_FLAG) {
        *(bool *)place (self->call, opt) = true;
        return own ? ag_fail (self->err, AG_E_USAGE, "--%s takes no value, \"%s\" was given",
                              opt->word, own)
                   : 0;
    }
    if (!own && self->at < self->argc)
        own = self->argv[self->at++];
    if (!own)
        return ag_fail (self->err, AG_E_USAGE, "%s needs a value: %s", called (opt, room),
                        opt->metavar);
    return set (self->call, opt, own, self->err);
}

static int
read_long (struct reader *self, const char *text)
{
    size_t n = strcspn (text, "=");
    const struct ag_param *opt = find_long (self->call, (struct ag_str){text, n}, self->err);
    return opt ? set_option (self, opt, text[n] ? text + n + 1 : NULL) : -1;
}

//  -q, -qh, -c FILE, -cFILE
static int
read_short (struct reader *self, const char *text)
{
    for (; *text; text++) {
        const struct ag_param *opt = find_short (self->call, *text, self->err);
        if (!opt)
            return -1;
        if (opt->kind != AG_ARG_FLAG)
            return set_option (self, opt, text[1] ? text + 1 : NULL);
        *(bool *)place (self->call, opt) = true;
    }
    return 0;
}

//  The first word, or two of a family, name the command; from there on its options are known.
static int
read_word (struct reader *self, char *word)
{
    self->words[self->count++] = word;
    if (self->call->command || (self->count == 1 && ag_command_is_family (word)))
        return 0;
    self->call->command = ag_command_find (self->words, self->count, self->err);
    if (!self->call->command)
        return -1;
    self->count = 0;
    set_presets (self->call, self->call->command);
    return 0;
}

//  Words of the command line to arguments of the row, in order; a repeated one takes all that are left.
static int
set_arguments (struct reader *self)
{
    const struct ag_param *arg = self->call->command->args;
    for (size_t i = 0; i < self->count; i++) {
        if (!arg->name)
            return ag_fail (self->err, AG_E_USAGE, "%s: \"%s\" is one argument too many",
                            speaker (self->call), self->words[i]);
        if (set (self->call, arg, self->words[i], self->err))
            return -1;
        arg += !ag_arg_repeats (arg->kind);
    }
    bool begun =
        arg->name && ag_arg_repeats (arg->kind) && ((struct ag_words *)place (self->call, arg))->n;
    bool asks = !self->call->any.help && self->call->command->stage != AG_STAGE_LATER;
    if (arg->name && arg->needed == AG_ONE && !begun && asks)
        return ag_fail (self->err, AG_E_USAGE, "%s needs %s%s: %s", speaker (self->call),
                        arg->kind == AG_ARG_CHOICE ? "one of " : "", arg->metavar, arg->help);
    return 0;
}

static int
read_all (struct reader *self)
{
    bool plain = false;
    while (self->at < self->argc) {
        char *text = self->argv[self->at++];
        int rc = 0;
        if (!plain && !strcmp (text, "--"))
            plain = true;
        else if (!plain && !strncmp (text, "--", 2))
            rc = read_long (self, text + 2);
        else if (!plain && text[0] == '-' && text[1])
            rc = read_short (self, text + 1);
        else
            rc = read_word (self, text);
        if (rc)
            return -1;
    }
    if (self->call->command)
        return set_arguments (self);
    if (self->count && self->call->any.help)
        self->call->family = self->words[0];
    else if (self->count)
        ag_command_find (self->words, self->count, self->err);
    return self->count && !self->call->family ? -1 : 0;
}

int
ag_parse (int argc, char *const *argv, struct ag_call *call, struct ag_err *err)
{
    *call = (struct ag_call){0};
    struct reader self = {argc, 1, argv, call, ag_xcalloc ((size_t)argc, sizeof (char *)), 0, err};
    int rc = read_all (&self);
    free (self.words);
    return rc;
}

static void
free_lists (struct ag_call *call, const struct ag_param *param)
{
    for (; param->name; param++)
        if (ag_arg_repeats (param->kind))
            free (((struct ag_words *)place (call, param))->p);
}

void
ag_call_fini (struct ag_call *call)
{
    if (call->command) {
        free_lists (call, call->command->args);
        free_lists (call, call->command->opts);
    }
    *call = (struct ag_call){0};
}
