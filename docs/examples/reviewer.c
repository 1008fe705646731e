//  A reviewer: says of each finding that it is told whether its text is short enough. An agent in C.
//      cc -o reviewer reviewer.c $(pkg-config --cflags --libs libagsup)
//  SPDX-License-Identifier: Apache-2.0
#include <agsup.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

//  The judgement: plain code here, a call of a model in yours.
static int
count_words (const char *text)
{
    int words = 0;
    for (text += strspn (text, " "); *text; text += strspn (text, " ")) {
        text += strcspn (text, " ");
        words++;
    }
    return words;
}

//  An effect: done once, then served from the record. {opinion, words} either way.
static int
judge (agsup_t *link, const char *text, long most, struct agsup_value *opinion)
{
    int became = agsup_effect (link, opinion,
                               "{'tool': 'judge', 'args': {'text': %s, 'most': %ld}, "
                               "'idempotent': true}",
                               text, most);
    if (became == AGSUP_GO) {
        int words = count_words (text);
        became = agsup_outcome (link, opinion, "{'output': {'opinion': %s, 'words': %d}}",
                                words > most ? "shorten" : "keep", words);
    }
    return became == AGSUP_RESULT ? 0 : -1;
}

static int
review (agsup_t *link, struct agsup_value job)
{
    struct agsup_value limit, opinion = {0}, finding = agsup_find (job, "event.payload");
    const char *id = agsup_text (link, finding, "id", "");
    const char *text = agsup_text (link, finding, "text", "");
    if (agsup_get (link, &limit, "{'id': 'limit#words'}") ||
        judge (link, text, (long)agsup_integer (limit, "objects.0.data.most", 5), &opinion))
        return agsup_fail (link, "{'type': 'NoVerdict', 'message': %s}",
                           agsup_text (link, opinion, "message", agsup_message (link)));

    char verdict[128];
    snprintf (verdict, sizeof verdict, "verdict#%s", id);
    agsup_op (link,
              "{'op': 'add_object', 'type': 'verdict', 'id': %s, 'data': {'finding': %s, "
              "'opinion': %p}}",
              verdict, id, (void *)&opinion);
    if (agsup_kind (finding, "about") == AGSUP_TEXT)
        agsup_op (link, "{'op': 'add_relation', 'source': %s, 'target': %s, 'type': 'about'}",
                  verdict, agsup_text (link, finding, "about", ""));
    agsup_op (link, "{'op': 'emit', 'type': 'verdict.given', 'payload': {'finding': %s}}", id);
    return agsup_done (link);
}

int
main (void)
{
    struct agsup_value job;
    agsup_t *link = agsup_new();
    agsup_behavior (link, "{'name': 'review', 'on': ['finding.reported']}");
    int more = agsup_connect (link, NULL, "{'name': 'reviewer'}") ? -1 : 1;
    while (more == 1 && (more = agsup_next (link, &job)) == 1)
        if (review (link, job))
            more = -1;
    if (more)
        fprintf (stderr, "%s: %s\n", agsup_code (link), agsup_message (link));
    agsup_destroy (&link);
    return more ? EXIT_FAILURE : EXIT_SUCCESS;
}
