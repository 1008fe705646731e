//  SPDX-License-Identifier: Apache-2.0
#include "client/help.h"
#include "client/reference.h"

#include <stdlib.h>
#include <string.h>

enum { LEFT = 24 }; //  width of the left column

//  "fork POINT [--label LABEL]…": how a parameter stands in a usage line.
static void
put_param (FILE *out, const struct ag_param *param)
{
    const char *open = param->needed == AG_ONE ? "" : "[",
               *close = param->needed == AG_ONE ? "" : "]";
    fprintf (out, " %s", open);
    if (*param->word)
        fprintf (out, "--%s%s", param->word, *param->metavar ? " " : "");
    fprintf (out, "%s%s%s", param->metavar, close, ag_arg_repeats (param->kind) ? "..." : "");
}

//  "-l, --label LABEL" as a column, then the words about it.
static void
put_row (const struct ag_look *look, FILE *out, const struct ag_param *param)
{
    char left[80], letter[8] = "    ";
    if (param->letter)
        snprintf (letter, sizeof letter, "-%c, ", param->letter);
    if (*param->word)
        snprintf (left, sizeof left, "%s--%s %s", letter, param->word, param->metavar);
    else
        snprintf (left, sizeof left, "%s", param->metavar);
    fprintf (out, "  %s%-*s%s", ag_paint (look, AG_CYAN), LEFT, left, ag_paint (look, AG_PLAIN));
    fprintf (out, strlen (left) > LEFT ? "\n%*s" : " ", LEFT + 3, "");
    fputs (param->help, out);
    if (*param->preset && strcmp (param->preset, "0"))
        fprintf (out, " (%s unless said)", param->preset);
    fputc ('\n', out);
}

static void
put_title (const struct ag_look *look, FILE *out, const char *title)
{
    fprintf (out, "\n%s%s%s\n", ag_paint (look, AG_BOLD), title, ag_paint (look, AG_PLAIN));
}

static void
put_rows (const struct ag_look *look, FILE *out, const char *title, const struct ag_param *params)
{
    if (params->name)
        put_title (look, out, title);
    for (; params->name; params++)
        put_row (look, out, params);
}

//  What a line of `apply` may be: an operation, then its fields.
static const struct row {
    const char *operation, *field; //  one of them
    bool needed;
    const char *doc;
} rows[] = {
#define OP(NAME, name, doc)                   {name, NULL, false, doc},
#define FIELD(NAME, field, kind, needed, doc) {NULL, #field, needed, doc},
#define END(NAME)
#include "schemas/operations.def"
};

enum { ROWS = sizeof rows / sizeof *rows };

static void
put_operations (const struct ag_look *look, FILE *out)
{
    put_title (look, out, "Operations, each as {\"op\": NAME, FIELD: VALUE, ...}");
    for (const struct row *row = rows; row < rows + ROWS; row++)
        if (row->operation)
            fprintf (out, "  %s%-*s%s %s\n", ag_paint (look, AG_CYAN), LEFT, row->operation,
                     ag_paint (look, AG_PLAIN), row->doc);
        else
            fprintf (out, "      %-*s %s%s\n", LEFT - 4, row->field, row->doc,
                     row->needed ? " (needed)" : "");
}

void
ag_help_command (const struct ag_look *look, const struct ag_command *command, FILE *out)
{
    fprintf (out, "%s%s\n", command->summary,
             command->stage == AG_STAGE_LATER ? ". Not built yet." : "");
    put_title (look, out, "Examples");
    for (const struct ag_example *example = command->examples; example->line; example++)
        fprintf (out, "  %s%s%s\n      %s\n", ag_paint (look, AG_GREEN), example->line,
                 ag_paint (look, AG_PLAIN), example->what);
    put_title (look, out, "Usage");
    fprintf (out, "  agsup %s", command->words);
    for (const struct ag_param *arg = command->args; arg->name; arg++)
        put_param (out, arg);
    for (const struct ag_param *opt = command->opts; opt->name; opt++)
        put_param (out, opt);
    fputc ('\n', out);
    put_rows (look, out, "Arguments", command->args);
    if (command->cmd == AG_CMD_apply)
        put_operations (look, out);
    put_rows (look, out, "Options", command->opts);
    if (command->effect == AG_CHANGES)
        put_rows (look, out, ag_command (AG_CMD_change)->summary, ag_command (AG_CMD_change)->opts);
    put_rows (look, out, ag_command (AG_CMD_any)->summary, ag_command (AG_CMD_any)->opts);
}

static void
put_topics (const struct ag_look *look, FILE *out)
{
    const char *topic, *title;
    put_title (look, out, "Reference, by `agsup help TOPIC`");
    for (size_t i = 0; (topic = ag_reference_topic (i, &title)); i++)
        fprintf (out, "  %s%-14s%s %s\n", ag_paint (look, AG_CYAN), topic,
                 ag_paint (look, AG_PLAIN), title);
}

//  A command in a list of them.
static void
put_summary (const struct ag_look *look, FILE *out, const struct ag_command *command)
{
    bool later = command->stage == AG_STAGE_LATER;
    fprintf (out, "  %s%-14s%s%s %s%s%s\n", ag_paint (look, later ? AG_DIM : AG_CYAN),
             command->words, ag_paint (look, AG_PLAIN), ag_paint (look, later ? AG_DIM : AG_PLAIN),
             command->summary, later ? " (not built yet)" : "", ag_paint (look, AG_PLAIN));
}

void
ag_help_family (const struct ag_look *look, const char *family, FILE *out)
{
    char *title = ag_xprintf ("Commands of `agsup %s`, each with help of its own (-h)", family);
    put_title (look, out, title);
    for (int cmd = 0; cmd < AG_CMDS; cmd++)
        if (ag_command_is_of (ag_command ((enum ag_cmd)cmd), family))
            put_summary (look, out, ag_command ((enum ag_cmd)cmd));
    free (title);
}

void
ag_help_overview (const struct ag_look *look, FILE *out)
{
    const char *title = "";
    fputs ("agsup supervises a fleet of agents: runs that can be forked, compared and promoted.\n",
           out);
    put_title (look, out, "Examples");
    fputs ("  agsup init hello && cd hello && agsup up --detach\n"
           "  agsup status\n"
           "  agsup help fork\n",
           out);
    for (int cmd = 0; cmd < AG_CMDS; cmd++) {
        const struct ag_command *command = ag_command ((enum ag_cmd)cmd);
        if (command->stage == AG_STAGE_SHARED)
            continue;
        if (strcmp (title, ag_command_group (command->cmd)))
            put_title (look, out, title = ag_command_group (command->cmd));
        put_summary (look, out, command);
    }
    put_topics (look, out);
    put_rows (look, out, ag_command (AG_CMD_any)->summary, ag_command (AG_CMD_any)->opts);
}

static const char *
kind_name (enum ag_arg_kind kind)
{
    static const char *const names[] = {"flag", "uint", "seconds", "bytes",  "text", "run", "point",
                                        "file", "dir",  "json",    "choice", "text", "run", "dir"};
    return names[kind];
}

static void
put_field (struct ag_buf *out, const char *key, const char *text)
{
    ag_put_lit (out, key);
    ag_put_lit (out, text);
}

static void
put_param_value (struct ag_buf *out, const struct ag_param *param)
{
    ag_put_map (out, 7);
    put_field (out, "name", *param->word ? param->word : param->name);
    ag_put_lit (out, "letter");
    ag_put_text (out, (struct ag_str){&param->letter, param->letter ? 1 : 0});
    put_field (out, "kind", kind_name (param->kind));
    ag_put_lit (out, "needed");
    ag_put_bool (out, param->needed == AG_ONE);
    ag_put_lit (out, "repeats");
    ag_put_bool (out, ag_arg_repeats (param->kind));
    put_field (out, "metavar", param->metavar);
    put_field (out, "help", param->help);
}

static void
put_params (struct ag_buf *out, const char *key, const struct ag_param *params)
{
    ag_put_lit (out, key);
    size_t at = ag_open_list (out);
    uint32_t n = 0;
    for (; params->name; params++, n++)
        put_param_value (out, params);
    ag_close (out, at, n);
}

static void
put_examples (struct ag_buf *out, const struct ag_example *examples)
{
    ag_put_lit (out, "examples");
    size_t at = ag_open_list (out);
    uint32_t n = 0;
    for (; examples->line; examples++, n++) {
        ag_put_map (out, 2);
        put_field (out, "line", examples->line);
        put_field (out, "what", examples->what);
    }
    ag_close (out, at, n);
}

static void
put_command (struct ag_buf *out, const struct ag_command *command)
{
    ag_put_map (out, 8);
    put_field (out, "command", command->words);
    put_field (out, "group", ag_command_group (command->cmd));
    put_field (out, "summary", command->summary);
    ag_put_lit (out, "built");
    ag_put_bool (out, command->stage != AG_STAGE_LATER);
    ag_put_lit (out, "changes");
    ag_put_bool (out, command->effect == AG_CHANGES);
    put_examples (out, command->examples);
    put_params (out, "arguments", command->args);
    put_params (out, "options", command->opts);
}

static void
put_operation (struct ag_buf *out, const struct row *row)
{
    uint32_t n = 0;
    ag_put_map (out, 3);
    put_field (out, "op", row->operation);
    put_field (out, "help", row->doc);
    ag_put_lit (out, "fields");
    size_t at = ag_open_list (out);
    for (row++; row < rows + ROWS && row->field; row++, n++) {
        ag_put_map (out, 3);
        put_field (out, "name", row->field);
        ag_put_lit (out, "needed");
        ag_put_bool (out, row->needed);
        put_field (out, "help", row->doc);
    }
    ag_close (out, at, n);
}

static void
put_operation_values (struct ag_buf *out)
{
    uint32_t n = 0;
    ag_put_lit (out, "operations");
    size_t at = ag_open_list (out);
    for (const struct row *row = rows; row < rows + ROWS; row++)
        if (row->operation) {
            put_operation (out, row);
            n++;
        }
    ag_close (out, at, n);
}

static void
put_errors (struct ag_buf *out)
{
    ag_put_lit (out, "errors");
    ag_put_list (out, AG_CODES - 1);
    for (int code = 1; code < AG_CODES; code++) {
        ag_put_map (out, 4);
        put_field (out, "code", ag_code_name ((enum ag_code)code));
        ag_put_lit (out, "exit_status");
        ag_put_uint (out, (uint64_t)ag_code_status ((enum ag_code)code));
        ag_put_lit (out, "retryable");
        ag_put_bool (out, ag_code_retryable ((enum ag_code)code));
        put_field (out, "hint", ag_code_hint ((enum ag_code)code));
    }
}

//  All of them, or those that begin with a word.
static void
put_commands (struct ag_buf *out, const char *family)
{
    uint32_t n = 0;
    ag_put_lit (out, "commands");
    size_t at = ag_open_list (out);
    for (int cmd = 0; cmd < AG_CMDS; cmd++) {
        const struct ag_command *command = ag_command ((enum ag_cmd)cmd);
        if (family ? !ag_command_is_of (command, family) : command->stage == AG_STAGE_SHARED)
            continue;
        put_command (out, command);
        n++;
    }
    ag_close (out, at, n);
}

void
ag_help_value (const struct ag_command *command, struct ag_buf *out)
{
    if (command) {
        put_command (out, command);
        return;
    }
    ag_put_map (out, 5);
    put_commands (out, NULL);
    put_params (out, "options", ag_command (AG_CMD_any)->opts);
    put_params (out, "options_of_changes", ag_command (AG_CMD_change)->opts);
    put_operation_values (out);
    put_errors (out);
}

//  A page of the reference, as {"topic", "text"} for programs; false when the word is no topic.
static bool
show_page (const struct ag_look *look, const char *topic)
{
    struct ag_buf out = {0};
    char *text = NULL;
    size_t bytes;
    FILE *page = open_memstream (&text, &bytes);
    bool known = page && ag_reference (topic, page);
    if (page)
        fclose (page);
    if (known && look->json) {
        ag_put_map (&out, 2);
        put_field (&out, "topic", topic);
        put_field (&out, "text", text);
        ag_look_json (look, ag_buf_str (&out));
    } else if (known)
        fputs (text, stdout);
    ag_buf_fini (&out);
    free (text);
    return known;
}

//  `agsup pack -h`, `agsup help pack`.
static void
show_family (const struct ag_look *look, const char *family)
{
    struct ag_buf out = {0};
    if (look->json) {
        ag_put_map (&out, 1);
        put_commands (&out, family);
        ag_look_json (look, ag_buf_str (&out));
    } else
        ag_help_family (look, family, stdout);
    ag_buf_fini (&out);
}

//  `agsup fork -h`, `agsup help fork`, `agsup help events`, `agsup help`.
int
ag_cmd_help (const struct ag_call *call, struct ag_err *err)
{
    struct ag_look look = ag_look (call);
    const struct ag_command *command = call->command;
    if (command && command->cmd == AG_CMD_help)
        command = NULL;
    const struct ag_words *words = &call->help.words;
    const char *family = call->family;
    if (words->n == 1 && ag_command_is_family (words->p[0]))
        family = words->p[0];
    if (family) {
        show_family (&look, family);
        return 0;
    }
    if (call->command && words->n == 1 && show_page (&look, words->p[0]))
        return 0;
    if (call->command && words->n > 0) {
        command = ag_command_find ((char *const *)words->p, words->n, err);
        if (!command)
            return -1;
    }
    if (look.json) {
        struct ag_buf out = {0};
        ag_help_value (command, &out);
        ag_look_json (&look, ag_buf_str (&out));
        ag_buf_fini (&out);
    } else if (command)
        ag_help_command (&look, command, stdout);
    else
        ag_help_overview (&look, stdout);
    return 0;
}

int
ag_cmd_completion (const struct ag_call *call, struct ag_err *err)
{
    (void)err;
    ag_completion (call->completion.shell, stdout);
    return 0;
}

int
ag_cmd_version (const struct ag_call *call, struct ag_err *err)
{
    (void)err;
    printf (call->any.json ? "{\"version\":\"%s\"}\n" : "agsup %s\n", AG_RELEASE);
    return 0;
}
