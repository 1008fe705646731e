/*  parse - the command line, read by schemas/commands.def.
 *
 *  What was read borrows from argv; only the lists of repeated options are owned, ag_call_fini frees them.
 *  Options may stand before and after the command and its arguments, as `--name value`, `--name=value`,
 *  `-n value`, `-nvalue`, flags also bundled; after `--` everything is an argument.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_PARSE_H
#define AG_PARSE_H
#include "common/buf.h"
#include "common/err.h"

struct ag_words {
    const char **p;
    size_t n;
};

//  struct ag_args_goal { const char *run; const char *text; bool wait; };
//  A text that was not given is NULL, unless the table has a default.
typedef bool ag_arg_FLAG;
typedef uint64_t ag_arg_UINT, ag_arg_SECONDS, ag_arg_BYTES;
typedef const char *ag_arg_TEXT, *ag_arg_RUN, *ag_arg_POINT, *ag_arg_FILE, *ag_arg_DIR,
    *ag_arg_JSON, *ag_arg_CHOICE;
typedef struct ag_words ag_arg_TEXTS, ag_arg_RUNS, ag_arg_DIRS;

enum ag_arg_kind {
    AG_ARG_FLAG,
    AG_ARG_UINT,
    AG_ARG_SECONDS,
    AG_ARG_BYTES,
    AG_ARG_TEXT,
    AG_ARG_RUN,
    AG_ARG_POINT,
    AG_ARG_FILE,
    AG_ARG_DIR,
    AG_ARG_JSON,
    AG_ARG_CHOICE,
    AG_ARG_TEXTS,
    AG_ARG_RUNS,
    AG_ARG_DIRS
};

#define GROUP(name, title)
#define CMD(name, words, stage, effect, summary)               struct ag_args_##name {
#define ARG(name, arg, kind, needed, metavar, help)            ag_arg_##kind arg;
#define OPT(name, opt, word, letter, kind, metavar, def, help) ag_arg_##kind opt;
#define EX(name, line, what)
#define END(name)                                                                                  \
    }                                                                                              \
    ;
#include "schemas/commands.def"

enum ag_cmd {
#define GROUP(name, title)
#define CMD(name, words, stage, effect, summary) AG_CMD_##name,
#define ARG(...)
#define OPT(...)
#define EX(...)
#define END(name)
#include "schemas/commands.def"
    AG_CMDS
};

enum ag_need { AG_MAYBE, AG_ONE };
enum ag_stage { AG_STAGE_HERE, AG_STAGE_READY, AG_STAGE_LATER, AG_STAGE_SHARED };
enum ag_effect { AG_READS, AG_CHANGES };

//  One argument or option; `at` is its offset in struct ag_call.
struct ag_param {
    const char *name, *word; //  in structs and --json; on the command line
    char letter;
    enum ag_arg_kind kind;
    enum ag_need needed;
    const char *metavar, *preset, *help;
    size_t at;
};

struct ag_example {
    const char *line, *what;
};

//  Each list ends with an entry of NULLs.
struct ag_command {
    enum ag_cmd cmd;
    const char *words, *summary;
    enum ag_stage stage;
    enum ag_effect effect;
    const struct ag_param *args, *opts;
    const struct ag_example *examples;
};

//  A command line: the row, the options of all (any, change) and the arguments of this one (its name).
struct ag_call {
    const struct ag_command *command; //  NULL: none was named
    const char *family;               //  or only the first word of some, to be helped with
#define GROUP(name, title)
#define CMD(name, words, stage, effect, summary) struct ag_args_##name name;
#define ARG(...)
#define OPT(...)
#define EX(...)
#define END(name)
#include "schemas/commands.def"
};

const struct ag_command *ag_command (enum ag_cmd cmd);
//  The title that it stands under.
const char *ag_command_group (enum ag_cmd cmd);
//  The command that these words are ("fork"; "pack", "new"); else NULL and AG_E_USAGE with the nearest one.
const struct ag_command *ag_command_find (char *const *words, size_t n, struct ag_err *err);
//  It begins with this word and has another ("pack new"); the word alone is no command, it begins some ("pack").
bool ag_command_is_of (const struct ag_command *command, const char *word);
bool ag_command_is_family (const char *word);
//  Repeated kinds take any number.
bool ag_arg_repeats (enum ag_arg_kind kind);

//  AG_E_USAGE with what is wrong. With -h anywhere what is missing does not matter. On failure too the
//  call holds what was read so far (so that --json decides how the error looks) and needs its fini.
int ag_parse (int argc, char *const *argv, struct ag_call *call, struct ag_err *err);
void ag_call_fini (struct ag_call *call);
#endif
