//  What broke in a run, by what it broke in.
//  SPDX-License-Identifier: Apache-2.0
#include "client/pick.h"
#include "client/print.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { TAIL_LINES = 20 };

//  Failures of one behaviour (or of one type of event): how many, and the last.
struct group {
    struct ag_str name, last;
    uint64_t count;
};

static struct ag_str
name_of (struct ag_str event)
{
    static const char *const keys[] = {"behavior", "host", "name"};
    struct ag_str payload = ag_pick (event, "payload");
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (ag_pick_text (payload, keys[i]).n)
            return ag_pick_text (payload, keys[i]);
    return ag_pick_text (event, "type");
}

static struct group *
group_of (struct group *groups, size_t *count, struct ag_str name)
{
    for (size_t i = 0; i < *count; i++)
        if (ag_str_eq (groups[i].name, name))
            return &groups[i];
    groups[*count] = (struct group){.name = name};
    return &groups[(*count)++];
}

//  A line of a stack, with its tabs as spaces.
static void
print_stack_line (const struct ag_look *look, struct ag_str line)
{
    struct ag_buf plain = {0};
    printf ("  %s| ", ag_paint (look, AG_DIM));
    for (size_t i = 0; i < line.n; i++)
        if (line.p[i] == '\t')
            ag_buf_add (&plain, "    ", 4);
        else
            ag_buf_add (&plain, &line.p[i], 1);
    ag_look_line (look, ag_buf_str (&plain), 4);
    fputs (ag_paint (look, AG_PLAIN), stdout);
    ag_buf_fini (&plain);
}

//  The last lines of what a process or a script said when it broke.
static void
print_tail (const struct ag_look *look, struct ag_str text)
{
    const char *from;
    while (text.n && text.p[text.n - 1] == '\n')
        text.n--;
    int lines = 0;
    for (from = text.p + text.n; from > text.p; from--)
        if (from[-1] == '\n' && ++lines == TAIL_LINES)
            break;
    for (const char *end = text.p + text.n; from && from < end;) {
        const char *stop = memchr (from, '\n', (size_t)(end - from));
        stop = stop ? stop : end;
        print_stack_line (look, (struct ag_str){from, (size_t)(stop - from)});
        from = stop + 1;
    }
}

static void
print_group (const struct ag_look *look, const struct group *group)
{
    struct ag_str payload = ag_pick (group->last, "payload");
    printf ("%s", ag_paint (look, AG_BOLD));
    ag_look_text (stdout, group->name);
    printf ("%s: %" PRIu64 " failure%s%s\n", ag_paint (look, AG_PLAIN), group->count,
            ag_look_s (group->count), group->count == 1 ? "" : ", the last:");
    ag_print_event (look, group->last, false);
    print_tail (look, ag_pick_text (payload, "traceback"));
    print_tail (look, ag_pick_text (payload, "stderr_tail"));
}

void
ag_print_failures (const struct ag_look *look, struct ag_str answer)
{
    struct ag_str event;
    size_t count = 0;
    struct group *groups =
        ag_xcalloc ((size_t)ag_items_count (answer, "failures") + 1, sizeof *groups);
    for (struct ag_items items = ag_items (answer, "failures"); ag_items_next (&items, &event);) {
        struct group *group = group_of (groups, &count, name_of (event));
        group->last = event;
        group->count++;
    }
    for (size_t i = 0; i < count; i++)
        print_group (look, &groups[i]);
    free (groups);
}
