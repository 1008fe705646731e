//  The table as data: commands.def walked into descriptors.
//  SPDX-License-Identifier: Apache-2.0
#include "client/parse.h"

#include "common/near.h"

#include <assert.h>
#include <string.h>

// clang-format off
#define GROUP(name, title)
#define CMD(name, words, stage, effect, summary) static const struct ag_param args_##name[] = {
#define ARG(name, arg, kind, needed, metavar, help) \
    {#arg, "", 0, AG_ARG_##kind, AG_##needed, metavar, "", help, offsetof (struct ag_call, name.arg)},
#define OPT(...)
#define EX(...)
#define END(cmd) {.name = NULL}};
#include "schemas/commands.def"

#define GROUP(name, title)
#define CMD(name, words, stage, effect, summary) static const struct ag_param opts_##name[] = {
#define ARG(...)
#define OPT(name, opt, word, letter, kind, metavar, preset, help) \
    {#opt, word, letter, AG_ARG_##kind, AG_MAYBE, metavar, preset, help, offsetof (struct ag_call, name.opt)},
#define EX(...)
#define END(cmd) {.name = NULL}};
#include "schemas/commands.def"

#define GROUP(name, title)
#define CMD(name, words, stage, effect, summary) static const struct ag_example examples_##name[] = {
#define ARG(...)
#define OPT(...)
#define EX(cmd, text, what) {text, what},
#define END(cmd) {.line = NULL}};
#include "schemas/commands.def"
// clang-format on

static const struct ag_command commands[AG_CMDS] = {
#define GROUP(name, title)
#define CMD(name, words, stage, effect, summary)                                                   \
    {AG_CMD_##name, words,       summary,     AG_STAGE_##stage,                                    \
     AG_##effect,   args_##name, opts_##name, examples_##name},
#define ARG(...)
#define OPT(...)
#define EX(...)
#define END(name)
#include "schemas/commands.def"
};

//  Titles and commands in the order of the table.
static const struct {
    const char *title;
    enum ag_cmd cmd;
} order[] = {
#define GROUP(name, title)                       {title, AG_CMDS},
#define CMD(name, words, stage, effect, summary) {NULL, AG_CMD_##name},
#define ARG(...)
#define OPT(...)
#define EX(...)
#define END(name)
#include "schemas/commands.def"
};

const struct ag_command *
ag_command (enum ag_cmd cmd)
{
    assert (cmd < AG_CMDS);
    return &commands[cmd];
}

const char *
ag_command_group (enum ag_cmd cmd)
{
    const char *title = "";
    for (size_t i = 0; i < sizeof order / sizeof *order && order[i].cmd != cmd; i++)
        title = order[i].title ? order[i].title : title;
    return title;
}

bool
ag_command_is_of (const struct ag_command *command, const char *word)
{
    size_t n = strlen (word);
    return n && !strncmp (command->words, word, n) && command->words[n] == ' ';
}

bool
ag_command_is_family (const char *word)
{
    for (int i = 0; i < AG_CMDS; i++)
        if (ag_command_is_of (&commands[i], word))
            return true;
    return false;
}

//  What may follow the first word of a family.
static void
fail_family (const char *word, struct ag_err *err)
{
    struct ag_buf names = {0};
    size_t n = strlen (word);
    for (int i = 0; i < AG_CMDS; i++)
        if (ag_command_is_of (&commands[i], word))
            ag_buf_text (&names, "%s%s", names.n ? ", " : "", commands[i].words + n + 1);
    ag_fail (err, AG_E_USAGE, "%s what? One of: %.*s", word, AG_STR_ARG (ag_buf_str (&names)));
    ag_buf_fini (&names);
}

static void
fail_unknown (struct ag_str words, struct ag_err *err)
{
    const char *names[AG_CMDS];
    for (int i = 0; i < AG_CMDS; i++)
        names[i] = commands[i].stage == AG_STAGE_SHARED ? NULL : commands[i].words;
    const char *near = ag_near (words, names, AG_CMDS);
    ag_fail (err, AG_E_USAGE, "no command is called \"%.*s\"%s%s%s", AG_STR_ARG (words),
             near ? "; did you mean `agsup " : "", near ? near : "", near ? "`?" : "");
}

const struct ag_command *
ag_command_find (char *const *words, size_t n, struct ag_err *err)
{
    const struct ag_command *found = NULL;
    struct ag_buf joined = {0};
    for (size_t i = 0; i < n; i++)
        ag_buf_text (&joined, "%s%s", i ? " " : "", words[i]);
    for (int i = 0; i < AG_CMDS; i++)
        if (joined.n && ag_str_is (ag_buf_str (&joined), commands[i].words))
            found = &commands[i];
    if (!found && n == 1 && ag_command_is_family (words[0]))
        fail_family (words[0], err);
    else if (!found)
        fail_unknown (ag_buf_str (&joined), err);
    ag_buf_fini (&joined);
    return found;
}

bool
ag_arg_repeats (enum ag_arg_kind kind)
{
    return kind >= AG_ARG_TEXTS;
}
