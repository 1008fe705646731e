//  SPDX-License-Identifier: Apache-2.0
#include "supervisor/mismatch.h"
#include "common/log.h"
#include "common/surface.h"
#include "supervisor/record.h"

#include <string.h>

enum { MOST_LINES = 100 }; //  of one event

//  The packs of one host of a spec; an empty list when it has none.
static struct ag_str
packs_of (struct ag_str spec, uint32_t host)
{
    struct ag_str hosts, one, packs;
    if (ag_map_get (spec, "hosts", &hosts) || ag_list_nth (hosts, host, &one) ||
        ag_map_get (one, "packs", &packs))
        return AG_LIT ("\x90");
    return packs;
}

//  The line at the beginning of what is left.
static struct ag_str
take_line (struct ag_str *rest)
{
    const char *end = rest->n ? memchr (rest->p, '\n', rest->n) : NULL;
    struct ag_str line = {rest->p, end ? (size_t)(end - rest->p) : rest->n};
    size_t n = line.n + (end != NULL);
    rest->p += n;
    rest->n -= n;
    return line;
}

size_t
ag_mismatch_lines (struct ag_str spec, uint32_t host, struct ag_str behaviors, struct ag_str tools,
                   struct ag_buf *lines)
{
    struct ag_str packs = packs_of (spec, host), pack, name = {0};
    struct ag_buf one = {0};
    size_t count = 0;
    for (uint32_t i = 0; !ag_list_nth (packs, i, &pack); i++) {
        ag_buf_clear (&one);
        ag_map_text (pack, "name", &name);
        count += ag_surface_mismatches (pack, behaviors, tools, &one);
        for (struct ag_str rest = ag_buf_str (&one); rest.n;) {
            struct ag_str line = take_line (&rest);
            ag_buf_line (lines, "pack %.*s: %.*s", AG_STR_ARG (name), AG_STR_ARG (line));
        }
    }
    ag_buf_fini (&one);
    return count;
}

//  A pack, and what is wrong with it.
struct found {
    struct ag_str name, version, hash, lines;
    size_t count;
};

//  The first of them, and how many more.
static void
put_lines (const struct found *found, struct ag_buf *out)
{
    size_t told = found->count < MOST_LINES ? found->count : MOST_LINES;
    struct ag_str rest = found->lines;
    ag_put_list (out, (uint32_t)(told + (told < found->count)));
    for (size_t i = 0; i < told; i++)
        ag_put_text (out, take_line (&rest));
    if (told < found->count)
        ag_put_textf (out, "and %zu more", found->count - told);
}

static int
append (ag_journal_t *journal, struct ag_run *run, const struct found *found, struct ag_err *err)
{
    struct ag_buf payload = {0};
    ag_put_map (&payload, 4);
    ag_put_pair_text (&payload, "name", found->name);
    ag_put_pair_text (&payload, "version", found->version);
    ag_put_pair_text (&payload, "bundle_hash", found->hash);
    ag_put_lit (&payload, "mismatches");
    put_lines (found, &payload);
    return ag_journal_tell (journal, run, AG_EV_PACK_MISMATCHED, 0, &payload, NULL, err);
}

static void
put_remark (const struct found *found, struct ag_buf *remark)
{
    struct ag_str rest = found->lines, line = take_line (&rest);
    ag_buf_text (remark, "%sthe manifest of pack %.*s %.*s is not what it does: %.*s",
                 remark->n ? "; " : "", AG_STR_ARG (found->name), AG_STR_ARG (found->version),
                 AG_STR_ARG (line));
    if (found->count > 1)
        ag_buf_text (remark, ", and %zu more", found->count - 1);
}

//  Once for each bundle of the name; a fork inherits what was said before its cut.
static int
tell_once (ag_journal_t *journal, struct ag_run *run, const struct found *found, struct ag_err *err)
{
    struct ag_buf note = {0}, known = {0}, value = {0}, text = {0};
    uint64_t seq;
    ag_buf_text (&note, "mismatch/%.*s", AG_STR_ARG (found->name));
    ag_put_text (&value, found->hash);
    int rc = ag_note_get (journal, run, ag_buf_str (&note), run->head.tip, &known, &seq, err);
    if (rc >= 0 && !ag_str_eq (ag_buf_str (&known), ag_buf_str (&value))) {
        rc = append (journal, run, found, err);
        if (!rc) {
            ag_note_put (journal, run, ag_buf_str (&note), run->head.tip, ag_buf_str (&value));
            put_remark (found, &text);
            ag_log (AG_WARN, "run=%s %.*s", run->id, AG_STR_ARG (ag_buf_str (&text)));
        }
    }
    ag_buf_fini (&note);
    ag_buf_fini (&known);
    ag_buf_fini (&value);
    ag_buf_fini (&text);
    return rc < 0 ? -1 : 0;
}

int
ag_mismatch_tell (ag_journal_t *journal, struct ag_run *run, struct ag_str spec, uint32_t host,
                  struct ag_str behaviors, struct ag_str tools, struct ag_buf *remark,
                  struct ag_err *err)
{
    struct ag_str packs = packs_of (spec, host), pack;
    struct ag_buf lines = {0};
    int rc = 0;
    for (uint32_t i = 0; !rc && !ag_list_nth (packs, i, &pack); i++) {
        struct found found = {.count = 0};
        ag_buf_clear (&lines);
        found.count = ag_surface_mismatches (pack, behaviors, tools, &lines);
        found.lines = ag_buf_str (&lines);
        if (!found.count || ag_map_text (pack, "name", &found.name) ||
            ag_map_text (pack, "version", &found.version) ||
            ag_map_text (pack, "bundle_hash", &found.hash))
            continue;
        put_remark (&found, remark);
        rc = tell_once (journal, run, &found, err);
    }
    ag_buf_fini (&lines);
    return rc;
}
