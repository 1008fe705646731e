//  Completion scripts, written from the table.
//  SPDX-License-Identifier: Apache-2.0
#include "client/help.h"

#include <string.h>

static bool
is_shown (const struct ag_command *command)
{
    return command->stage != AG_STAGE_SHARED && command->stage != AG_STAGE_LATER;
}

//  Of `pack check`: pack.
static int
first_word (const struct ag_command *command)
{
    return (int)strcspn (command->words, " ");
}

//  Of `pack check`: check; NULL for a command of one word.
static const char *
second_word (const struct ag_command *command)
{
    const char *space = strchr (command->words, ' ');
    return space ? space + 1 : NULL;
}

static bool
is_same_group (const struct ag_command *a, const struct ag_command *b)
{
    return first_word (a) == first_word (b) && !memcmp (a->words, b->words, (size_t)first_word (a));
}

//  The next command that is shown, from one on; NULL at the end.
static const struct ag_command *
next_shown (int *cmd)
{
    while (*cmd < AG_CMDS && !is_shown (ag_command ((enum ag_cmd) * cmd)))
        ++*cmd;
    return *cmd < AG_CMDS ? ag_command ((enum ag_cmd) ((*cmd)++)) : NULL;
}

//  The first command of its first word.
static bool
is_first (const struct ag_command *command)
{
    const struct ag_command *other;
    int cmd = 0;
    while ((other = next_shown (&cmd)) && !is_same_group (other, command))
        ;
    return other == command;
}

static bool
begins_group (const struct ag_command *command)
{
    return second_word (command) && is_first (command);
}

//  What may follow the first word of a command.
static void
put_second_words (FILE *out, const struct ag_command *first)
{
    const struct ag_command *command;
    for (int cmd = 0; (command = next_shown (&cmd));)
        if (is_same_group (command, first))
            fprintf (out, " %s", second_word (command));
}

static void
put_words_of (FILE *out, const struct ag_command *command)
{
    for (const struct ag_param *opt = command->opts; opt->name; opt++)
        fprintf (out, " --%s", opt->word);
}

//  What takes a run takes any name of one.
static bool
is_run (const struct ag_param *param)
{
    return param->kind == AG_ARG_RUN || param->kind == AG_ARG_RUNS || param->kind == AG_ARG_POINT;
}

static bool
takes_run (const struct ag_command *command)
{
    bool takes = false;
    for (const struct ag_param *arg = command->args; arg->name; arg++)
        takes = takes || is_run (arg);
    return takes;
}

//  How a shell lists the labels and ids of all runs, with options of its own; nothing while the fleet is down. A label
//  with more than letters, digits and a few signs is left out: a shell would read it, `$(rm x)` say, as its own.
static const char list_runs[] =
    "agsup --json --timeout 2 %s tree 2>/dev/null | "
    "grep -oE '\"(run|label)\": ?\"[[:alnum:]_][[:alnum:]_.:/-]*\"' | cut -d'\"' -f4";

static void
put_choices (FILE *out, const char *metavar)
{
    for (; *metavar; metavar++)
        fputc (*metavar == '|' ? ' ' : *metavar, out);
}

//  Options that take one of a few words, and files where a file is asked for.
static void
bash_values (FILE *out, const struct ag_param *params)
{
    for (; params->name; params++) {
        if (!*params->word)
            continue;
        if (params->kind == AG_ARG_CHOICE) {
            fprintf (out, "        --%s) COMPREPLY=($(compgen -W '", params->word);
            put_choices (out, params->metavar);
            fputs ("' -- \"$cur\")); return ;;\n", out);
        } else if (params->kind == AG_ARG_FILE)
            fprintf (out, "        --%s) COMPREPLY=($(compgen -f -- \"$cur\")); return ;;\n",
                     params->word);
        else if (params->kind == AG_ARG_DIR || params->kind == AG_ARG_DIRS)
            fprintf (out, "        --%s) COMPREPLY=($(compgen -d -- \"$cur\")); return ;;\n",
                     params->word);
    }
}

static void
bash_arguments (FILE *out, const struct ag_command *command)
{
    if (begins_group (command)) {
        fprintf (out, "        %.*s) words='", first_word (command), command->words);
        put_second_words (out, command);
        fputs ("' ;;\n", out);
    }
    fprintf (out, "        '%s') words='", command->words);
    put_words_of (out, command);
    if (command->effect == AG_CHANGES)
        put_words_of (out, ag_command (AG_CMD_change));
    for (const struct ag_param *arg = command->args; arg->name; arg++)
        if (arg->kind == AG_ARG_CHOICE) {
            fputc (' ', out);
            put_choices (out, arg->metavar);
        }
    fprintf (out, "'%s ;;\n", takes_run (command) ? "; runs=1" : "");
}

static void
bash (FILE *out)
{
    const struct ag_command *command;
    fputs ("_agsup_runs() { ", out);
    fprintf (out, list_runs, "\"$@\"");
    fputs ("; }\n"
           "_agsup() {\n"
           "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} command= "
           "words= runs= where=() i\n"
           "    case $prev in\n",
           out);
    bash_values (out, ag_command (AG_CMD_any)->opts);
    for (int cmd = 0; (command = next_shown (&cmd));)
        bash_values (out, command->opts);
    fputs ("    esac\n"
           "    for ((i = 1; i < COMP_CWORD; i++)); do\n"
           "        case ${COMP_WORDS[i]} in\n"
           "            -c|--config|--home) where+=(\"${COMP_WORDS[@]:i:2}\"); i=$((i + 1)) ;;\n"
           "            --timeout) i=$((i + 1)) ;;\n"
           "            -*) ;;\n",
           out);
    for (int cmd = 0; (command = next_shown (&cmd));)
        if (begins_group (command))
            fprintf (
                out,
                "            %.*s) command=\"${COMP_WORDS[*]:i:COMP_CWORD-i>1?2:1}\"; break ;;\n",
                first_word (command), command->words);
    fputs ("            *) command=${COMP_WORDS[i]}; break ;;\n"
           "        esac\n"
           "    done\n"
           "    case $command in\n"
           "        '') words='",
           out);
    for (int cmd = 0; (command = next_shown (&cmd));)
        if (is_first (command))
            fprintf (out, " %.*s", first_word (command), command->words);
    fputs ("' ;;\n", out);
    for (int cmd = 0; (command = next_shown (&cmd));)
        bash_arguments (out, command);
    fputs ("    esac\n"
           "    [[ -z $runs || $cur == -* ]] || words+=\" $(_agsup_runs \"${where[@]}\")\"\n"
           "    COMPREPLY=($(compgen -W \"$words",
           out);
    put_words_of (out, ag_command (AG_CMD_any));
    fputs ("\" -- \"$cur\"))\n"
           "    [ ${#COMPREPLY[@]} -gt 0 ] || COMPREPLY=($(compgen -f -- \"$cur\"))\n"
           "}\n"
           "complete -F _agsup agsup\n",
           out);
}

//  Single quotes of the text doubled the shell's way, and colons kept out of zsh's separators.
static void
put_quoted (FILE *out, const char *text)
{
    for (; *text; text++)
        if (*text == '\'')
            fputs ("'\\''", out);
        else if (strchr ("[]:", *text))
            fputc (' ', out);
        else
            fputc (*text, out);
}

static void
zsh_options (FILE *out, const struct ag_command *command)
{
    for (const struct ag_param *opt = command->opts; opt->name; opt++) {
        fprintf (out, " '%s--%s[", ag_arg_repeats (opt->kind) ? "*" : "", opt->word);
        put_quoted (out, opt->help);
        fputc (']', out);
        if (opt->kind == AG_ARG_CHOICE) {
            fprintf (out, ":%s:(", opt->name);
            put_choices (out, opt->metavar);
            fputc (')', out);
        } else if (opt->kind != AG_ARG_FLAG)
            fprintf (out, ":%s:%s", opt->name,
                     opt->kind == AG_ARG_FILE  ? "_files"
                     : opt->kind == AG_ARG_DIR ? "_files -/"
                                               : "");
        fputc ('\'', out);
    }
}

//  What comes after the first word of some commands.
static void
zsh_group (FILE *out, const struct ag_command *first)
{
    const struct ag_command *command;
    fprintf (out, "            %.*s) _values command", first_word (first), first->words);
    for (int cmd = 0; (command = next_shown (&cmd));)
        if (is_same_group (command, first)) {
            fprintf (out, " '%s[", second_word (command));
            put_quoted (out, command->summary);
            fputs ("]'", out);
        }
    fputs (" ;;\n", out);
}

static void
zsh_arguments (FILE *out, const struct ag_command *command)
{
    for (const struct ag_param *arg = command->args; arg->name; arg++) {
        if (ag_arg_repeats (arg->kind))
            fputs (" '*", out);
        else
            fprintf (out, " '%d", (int)(arg - command->args) + 1);
        fprintf (out, ":%s:", arg->name);
        if (arg->kind == AG_ARG_CHOICE) {
            fputc ('(', out);
            put_choices (out, arg->metavar);
            fputs (")'", out);
        } else
            fputs (is_run (arg) ? "_agsup_runs'" : "_files'", out);
    }
}

static void
zsh (FILE *out)
{
    const struct ag_command *command;
    fputs ("#compdef agsup\n"
           "_agsup_runs() {\n"
           "    local -a runs\n"
           "    runs=(${(f)\"$(",
           out);
    fprintf (out, list_runs, "");
    fputs (")\"})\n"
           "    compadd -a runs\n"
           "}\n"
           "_agsup() {\n"
           "    local -a commands any\n"
           "    commands=(\n",
           out);
    for (int cmd = 0; (command = next_shown (&cmd));)
        if (is_first (command)) {
            fprintf (out, "        '%.*s:", first_word (command), command->words);
            put_quoted (out, command->summary);
            fputs ("'\n", out);
        }
    fputs ("    )\n    any=(", out);
    zsh_options (out, ag_command (AG_CMD_any));
    fputs (")\n"
           "    _arguments -C $any '1:command:->command' '*::argument:->argument'\n"
           "    case $state in\n"
           "        command) _describe command commands ;;\n"
           "        argument) case $words[1] in\n",
           out);
    for (int cmd = 0; (command = next_shown (&cmd));)
        if (begins_group (command))
            zsh_group (out, command);
        else if (!second_word (command)) {
            fprintf (out, "            %s) _arguments $any", command->words);
            zsh_options (out, command);
            zsh_arguments (out, command);
            fputs (" ;;\n", out);
        }
    fputs ("        esac ;;\n"
           "    esac\n"
           "}\n"
           "compdef _agsup agsup\n",
           out);
}

static void
fish_options (FILE *out, const struct ag_command *command, const char *when)
{
    for (const struct ag_param *opt = command->opts; opt->name; opt++) {
        fprintf (out, "complete -c agsup %s%s%s -l %s",
                 *when ? "-n '__fish_seen_subcommand_from " : "", when, *when ? "'" : "",
                 opt->word);
        if (opt->letter)
            fprintf (out, " -s %c", opt->letter);
        if (opt->kind == AG_ARG_CHOICE) {
            fputs (" -xa '", out);
            put_choices (out, opt->metavar);
            fputc ('\'', out);
        } else if (opt->kind == AG_ARG_FILE || opt->kind == AG_ARG_DIR || opt->kind == AG_ARG_DIRS)
            fputs (" -rF", out);
        else if (opt->kind != AG_ARG_FLAG)
            fputs (" -x", out);
        fputs (" -d '", out);
        put_quoted (out, opt->help);
        fputs ("'\n", out);
    }
}

//  A word of a command where it may come.
static void
fish_word (FILE *out, const char *when, int n, const char *word, const char *help)
{
    fprintf (out, "complete -c agsup -n %s -a %.*s -d '", when, n, word);
    put_quoted (out, help);
    fputs ("'\n", out);
}

static void
fish (FILE *out)
{
    const struct ag_command *command;
    fputs ("function __agsup_runs\n    ", out);
    fprintf (out, list_runs, "");
    fputs ("\nend\n", out);
    fish_options (out, ag_command (AG_CMD_any), "");
    for (int cmd = 0; (command = next_shown (&cmd));) {
        const char *second = second_word (command);
        char after[64];
        if (is_first (command))
            fish_word (out, "__fish_use_subcommand", first_word (command), command->words,
                       command->summary);
        snprintf (after, sizeof after, "'__fish_seen_subcommand_from %.*s'", first_word (command),
                  command->words);
        if (second)
            fish_word (out, after, (int)strlen (second), second, command->summary);
        else
            fish_options (out, command, command->words);
        if (takes_run (command))
            fprintf (out,
                     "complete -c agsup -n '__fish_seen_subcommand_from %s' -a '(__agsup_runs)'\n",
                     second ? second : command->words);
    }
}

void
ag_completion (const char *shell, FILE *out)
{
    static const struct {
        const char *shell;
        void (*write) (FILE *out);
    } shells[] = {{"bash", bash}, {"zsh", zsh}, {"fish", fish}};
    for (size_t i = 0; i < sizeof shells / sizeof *shells; i++)
        if (!strcmp (shell, shells[i].shell))
            shells[i].write (out);
}
