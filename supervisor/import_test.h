/*  import_test - logs as another runtime would write them, taken in and looked at, for tests.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_IMPORT_TEST_H
#define AG_IMPORT_TEST_H
#include "supervisor/import.h"
#include "supervisor/promote_test.h"
#include "supervisor/verify_test.h"

//  Lines as another runtime would write them, with ' for ".
#define EVENT(id, type, payload, cause)                                                            \
    "{'id':'" id "','type':'" type "','payload':" payload                                          \
    ",'actor':'user','frame_id':null,'caused_by':" cause ",'timestamp':'2026-01-31T12:00:00Z'}\n"
#define OBJECT(id, name, data)                                                                     \
    EVENT (id, "object.created",                                                                   \
           "{'object':{'id':'" name "','type':'task','data':" data                                 \
           ",'version':1,'provenance':{'run_id':'01J'}},'id':'" name "'}",                         \
           "null")
#define RELATION(id, name, source, target)                                                         \
    EVENT (id, "relation.created",                                                                 \
           "{'relation':{'id':'" name "','source':'" source "','target':'" target                  \
           "','type':'on','data':{},'provenance':{}},'id':'" name "'}",                            \
           "null")
#define PATCH(id, name, op, value)                                                                 \
    EVENT (id, "patch.applied",                                                                    \
           "{'patch':{'id':'patch_001','target':'" name "','op':'" op "','value':" value           \
           "},'target':'" name "','diff':{}}",                                                     \
           "null")
#define REMOVED(id, name) EVENT (id, "object.removed", "{'id':'" name "'}", "null")
#define RUN(name, label, parent, cut)                                                              \
    "{'run_id':'" name "','label':" label ",'parent_run_id':" parent ",'forked_at_event_id':" cut  \
    ",'ids':'continue'}\n"
#define STORY                                                                                      \
    EVENT ("evt_001", "goal.created", "{'goal':'hello'}", "null")                                  \
    OBJECT ("evt_002", "task#1", "{'n':1}")                                                        \
    OBJECT ("evt_003", "task#2", "{}")                                                             \
    RELATION ("evt_004", "rel_001", "task#1", "task#2")                                            \
    PATCH ("evt_005", "task#1", "update", "{'m':2}")

static inline void
items_of (struct core *self, const char *text, struct ag_buf *items)
{
    uint32_t count = 0;
    size_t list = ag_open_list (items);
    for (const char *end; *text; text = end + 1, count++) {
        char line[4096];
        end = strchr (text, '\n');
        snprintf (line, sizeof line, "%.*s", (int)(end - text), text);
        struct ag_buf value = value_of (self, line);
        ag_put_list (items, 2);
        ag_put_uint (items, count + 1);
        ag_put_value (items, ag_buf_str (&value));
        ag_buf_fini (&value);
    }
    ag_close (items, list, count);
}

static inline int
page (struct core *self, uint64_t number, const char *text)
{
    struct ag_buf items = {0};
    struct ag_import_count count;
    items_of (self, text, &items);
    struct ag_import_page one = {AG_LIT ("x"), number, AG_LIT ("line"), ag_buf_str (&items)};
    struct ag_mark mark = ag_journal_mark (self->journal);
    int rc = ag_import_page (self->journal, &one, &count, &self->err);
    if (rc)
        ag_journal_rollback (self->journal, &mark);
    ag_buf_fini (&items);
    return rc;
}

static inline const char *
end (struct core *self, const char *label)
{
    struct ag_buf out = {0};
    must (self, ag_import_end (self->journal, AG_LIT ("x"), ag_str (label), NULL, NULL, &out,
                               &self->err));
    const char *text = json_of (self, ag_buf_str (&out));
    ag_buf_fini (&out);
    return text;
}

//  A whole file; the number of its first run.
static inline uint64_t
import (struct core *self, const char *text)
{
    struct ag_run *run;
    must (self, page (self, 1, text));
    end (self, "in");
    core_again (self);
    must (self, ag_run_find (self->journal, AG_LIT ("in"), &run, &self->err));
    return run->number;
}

static inline bool
write_line (void *arg, const struct ag_event *event)
{
    struct ag_buf *text = arg, value = {0};
    ag_event_write (event, NULL, NULL, &value);
    ag_json_write (ag_buf_str (&value), AG_JSON_LINE, text);
    ag_buf_text (text, "\n");
    ag_buf_fini (&value);
    return true;
}

static inline void
assert_exports (struct core *self, uint64_t run, const char *expected)
{
    struct ag_buf text = {0};
    must (self, ag_journal_scan (self->journal, core_run (self, run), 0, UINT64_MAX, write_line,
                                 &text, &self->err));
    ag_buf_text (&text, "%c", 0);
    for (char *p = (char *)text.p; *p; p++)
        *p = *p == '"' ? '\'' : *p;
    assert_string_equal ((char *)text.p, expected);
    ag_buf_fini (&text);
}

static inline void
assert_whole (struct core *self, uint64_t run, const char *odd)
{
    struct ag_verify found;
    struct ag_buf out = {0};
    struct ag_str list;
    core_walk (self, run, &found);
    assert_string_equal (found.reason, "");
    ag_verify_write (&found, (struct ag_str){0}, &out);
    assert_int_equal (ag_map_get (ag_buf_str (&out), "odd", &list), 0);
    assert_string_equal (json_of (self, list), odd);
    ag_buf_fini (&out);
    ag_verify_fini (&found);
}
#endif
