/*  Any line as an event or a run of an import: refused with a reason, or written again as it was.
 *  SPDX-License-Identifier: Apache-2.0
 */
#include "common/json.h"
#include "supervisor/exchange.h"

#include <assert.h>
#include <string.h>

int LLVMFuzzerTestOneInput (const uint8_t *bytes, size_t n);

//  Every field is as it came; what was absent or null is null, and "" where it is the time.
static void
check_same (struct ag_str came, struct ag_str written)
{
    static const char *const fields[] = {"id",       "type",      "payload",  "actor",
                                         "frame_id", "caused_by", "timestamp"};
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        struct ag_str a = {0}, b, text;
        assert (!ag_map_get (written, fields[i], &b));
        if (!ag_map_get (came, fields[i], &a) && ag_kind_of (a) != AG_NULL)
            assert (ag_str_eq (a, b));
        else
            assert (ag_kind_of (b) == AG_NULL ||
                    (!ag_map_text (written, "timestamp", &text) && !text.n));
    }
}

static void
check_event (struct ag_str line, bool normal)
{
    struct ag_buf payload = {0}, written = {0};
    struct ag_event event;
    struct ag_err err;
    if (ag_exchange_event (line, &payload, &event, &err)) {
        assert (err.text[0]);
    } else {
        assert (event.cause < event.seq);
        ag_event_write (&event, NULL, NULL, &written);
        if (normal)
            check_same (line, ag_buf_str (&written));
    }
    ag_buf_fini (&payload);
    ag_buf_fini (&written);
}

int
LLVMFuzzerTestOneInput (const uint8_t *bytes, size_t n)
{
    struct ag_buf line = {0};
    struct ag_exchange_run run;
    struct ag_err err;
    //  As the client reads it, or as it comes over the wire from anybody.
    struct ag_str text = {(const char *)bytes, n};
    bool normal = !ag_json_read (text, &line, &err);
    if (normal)
        text = ag_buf_str (&line);
    if (ag_exchange_is_run (text)) {
        if (!ag_exchange_run (text, &run, &err))
            assert (run.id.n && !memchr (run.id.p, 0, run.id.n));
    } else
        check_event (text, normal);
    ag_buf_fini (&line);
    return 0;
}
