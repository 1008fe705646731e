//  SPDX-License-Identifier: Apache-2.0
#include "common/conf_inside.h"
#include "common/json.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST_SHOWN = 200, MOST_TEXT = 1000 };

static const size_t room = sizeof ((struct ag_conf *)0)->problems / sizeof (struct ag_conf_problem);

static void
note (struct ag_conf *conf, const struct ag_conf_problem *problem)
{
    if (conf->problem_count < room)
        conf->problems[conf->problem_count] = *problem;
    else
        free (problem->text);
    conf->problem_count++;
}

void
ag_conf_problem_of_file (struct ag_conf *conf, const char *file, const char *format, ...)
{
    char text[MOST_TEXT];
    va_list list;
    va_start (list, format);
    vsnprintf (text, sizeof text, format, list);
    va_end (list);
    note (conf, &(struct ag_conf_problem){file, 0, 0, ag_xstrdup (text)});
}

void
ag_conf_problem (const struct ag_conf_item *item, const char *format, ...)
{
    if (item->inherited)
        return;
    struct ag_conf_problem problem = {item->doc->file, 1, 1, NULL};
    //  A missing key has no place of its own: then that of the nearest thing above it.
    const struct ag_toml_path *path = item->path;
    while (ag_toml_where (item->doc->toml, path, &problem.line, &problem.column))
        path = path->up;
    struct ag_buf where = {0};
    ag_toml_path_text (item->path, &where);
    char what[MOST_TEXT];
    va_list list;
    va_start (list, format);
    vsnprintf (what, sizeof what, format, list);
    va_end (list);
    problem.text =
        ag_xprintf ("%.*s%s%s", AG_STR_ARG (ag_buf_str (&where)), where.n ? " " : "", what);
    note (item->conf, &problem);
    ag_buf_fini (&where);
}

void
ag_conf_not (const struct ag_conf_item *item, const char *what)
{
    struct ag_buf shown = {0};
    enum ag_kind kind = ag_kind_of (item->raw);
    if (kind == AG_MAP || kind == AG_LIST)
        ag_buf_text (&shown, kind == AG_MAP ? "a table" : "a list");
    else
        ag_json_write (item->raw, AG_JSON_LINE, &shown);
    if (shown.n > LONGEST_SHOWN)
        ag_conf_problem (item, "is a long text, not %s", what);
    else
        ag_conf_problem (item, "is %.*s, not %s", AG_STR_ARG (ag_buf_str (&shown)), what);
    ag_buf_fini (&shown);
}

static int
by_place (const void *a, const void *b)
{
    const struct ag_conf_problem *p = a, *q = b;
    int order = strcmp (p->file, q->file);
    if (!order)
        order = (p->line > q->line) - (p->line < q->line);
    if (!order)
        order = (p->column > q->column) - (p->column < q->column);
    return order ? order : strcmp (p->text, q->text);
}

static void
put_line (const struct ag_conf_problem *problem, struct ag_buf *out)
{
    size_t start = out->n;
    ag_buf_text (out, "%s", problem->file);
    if (problem->line)
        ag_buf_text (out, ":%u:%u: ", problem->line, problem->column);
    ag_buf_text (out, "%s", problem->text);
    for (size_t i = start; i < out->n; i++) //  nothing in a file reaches a terminal as a command
        if (out->p[i] < ' ' || out->p[i] == 127)
            out->p[i] = '?';
    ag_buf_add (out, "\n", 1);
}

void
ag_conf_put_problems (struct ag_conf *conf, struct ag_buf *out)
{
    size_t kept = conf->problem_count < room ? conf->problem_count : room;
    qsort (conf->problems, kept, sizeof *conf->problems, by_place);
    for (size_t i = 0; i < kept; i++) {
        put_line (&conf->problems[i], out);
        free (conf->problems[i].text);
    }
    if (conf->problem_count > kept)
        ag_buf_text (out, "and %zu more\n", conf->problem_count - kept);
}
