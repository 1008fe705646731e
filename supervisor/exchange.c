//  SPDX-License-Identifier: Apache-2.0
#include "supervisor/exchange.h"
#include "supervisor/key.h"
#include "supervisor/run.h"

#include <inttypes.h>
#include <string.h>

/*  Fields  */

struct field {
    const char *name;
    enum ag_kind kind;
    bool needed;
};

enum { FIELDS_MOST = 7, FIELD_SHOWN = 60 }; //  bytes of a name that is no field

static int
find (const struct field *fields, int count, struct ag_str name)
{
    for (int i = 0; i < count; i++)
        if (ag_str_is (name, fields[i].name))
            return i;
    return -1;
}

//  A text's own bytes; of anything else the whole value. Null is as good as absent.
static int
take_field (const struct field *field, struct ag_cursor *in, struct ag_str *value,
            struct ag_err *err)
{
    struct ag_head head;
    struct ag_cursor at = *in;
    if (ag_take (in, value) || ag_next (&at, &head))
        return ag_fail (err, AG_E_BAD_VALUE, "`%s` is malformed or too deep", field->name);
    if (head.kind == AG_NULL && !field->needed) {
        *value = (struct ag_str){0};
        return 0;
    }
    if (head.kind != field->kind)
        return ag_fail (err, AG_E_BAD_VALUE, "`%s` is not %s", field->name,
                        field->kind == AG_TEXT ? "text" : "an object");
    if (head.kind != AG_TEXT)
        return 0;
    *value = head.s;
    return ag_utf8 (head.s) ? 0 : ag_fail (err, AG_E_BAD_VALUE, "`%s` is not UTF-8", field->name);
}

static int
take_fields (struct ag_str map, const struct field *fields, int count,
             struct ag_str values[FIELDS_MOST], struct ag_err *err)
{
    struct ag_cursor in = ag_cursor (map);
    struct ag_head head, key;
    unsigned seen = 0;
    if (ag_next (&in, &head) || head.kind != AG_MAP)
        return ag_fail (err, AG_E_BAD_VALUE, "it is no object");
    for (uint32_t i = 0; i < head.count; i++) {
        if (ag_next (&in, &key) || key.kind != AG_TEXT || !ag_utf8 (key.s))
            return ag_fail (err, AG_E_BAD_VALUE, "a field has no name");
        int n = find (fields, count, key.s);
        if (n < 0 || seen & 1u << n)
            return ag_fail (err, AG_E_BAD_VALUE, "field `%.*s` is %s",
                            (int)(key.s.n < FIELD_SHOWN ? key.s.n : 0), key.s.p,
                            n < 0 ? "unknown" : "there twice");
        seen |= 1u << n;
        if (take_field (&fields[n], &in, &values[n], err))
            return -1;
    }
    for (int i = 0; i < count; i++)
        if (fields[i].needed && !(seen & 1u << i))
            return ag_fail (err, AG_E_BAD_VALUE, "`%s` is missing", fields[i].name);
    return 0;
}

static int
check_name (struct ag_str name, const char *what, struct ag_err *err)
{
    if (name.n == 0 || name.n > AG_NAME_BYTES)
        return ag_fail (err, AG_E_BAD_VALUE, "%s has %zu bytes, not 1 to %d", what, name.n,
                        AG_NAME_BYTES);
    if (memchr (name.p, 0, name.n))
        return ag_fail (err, AG_E_BAD_VALUE, "%s holds a NUL", what);
    return 0;
}

/*  The graph  */

static int
check_part (struct ag_str map, const char *key, enum ag_kind kind, struct ag_str *value,
            struct ag_err *err)
{
    if (!ag_map_get (map, key, value) && ag_kind_of (*value) == kind)
        return 0;
    return ag_fail (err, AG_E_BAD_VALUE, "the payload has no %s `%s`",
                    kind == AG_MAP ? "object" : "text", key);
}

static int
check_text (struct ag_str map, const char *key, struct ag_err *err)
{
    struct ag_str value, text = {0};
    if (check_part (map, key, AG_TEXT, &value, err))
        return -1;
    ag_map_text (map, key, &text);
    return check_name (text, key, err);
}

static int
check_entity (struct ag_str payload, const char *part, bool relation, struct ag_err *err)
{
    struct ag_str thing, value;
    uint64_t version = 1;
    if (check_part (payload, part, AG_MAP, &thing, err) || check_text (thing, "id", err) ||
        check_text (thing, "type", err) || check_part (thing, "data", AG_MAP, &value, err) ||
        check_part (thing, "provenance", AG_MAP, &value, err))
        return -1;
    if (relation)
        return check_text (thing, "source", err) || check_text (thing, "target", err) ? -1 : 0;
    if (ag_map_uint (thing, "version", &version) || version != 1)
        return ag_fail (err, AG_E_BAD_VALUE, "its version is not 1, with which an object begins");
    return 0;
}

static int
check_object (struct ag_str payload, struct ag_err *err)
{
    return check_entity (payload, "object", false, err);
}

static int
check_relation (struct ag_str payload, struct ag_err *err)
{
    return check_entity (payload, "relation", true, err);
}

static int
check_removal (struct ag_str payload, struct ag_err *err)
{
    return check_text (payload, "id", err);
}

static int
check_patch (struct ag_str payload, struct ag_err *err)
{
    struct ag_str patch, value, op;
    if (check_part (payload, "patch", AG_MAP, &patch, err) || check_text (payload, "target", err) ||
        check_part (patch, "value", AG_MAP, &value, err) ||
        check_part (patch, "op", AG_TEXT, &value, err))
        return -1;
    ag_map_text (patch, "op", &op);
    if (ag_str_is (op, "update") || ag_str_is (op, "replace"))
        return 0;
    return ag_fail (err, AG_E_BAD_VALUE, "the patch's op is neither update nor replace");
}

static int
check_graph (const struct ag_event *event, struct ag_err *err)
{
    static const struct {
        enum ag_type type;
        int (*check) (struct ag_str payload, struct ag_err *err);
    } rows[] = {{AG_EV_OBJECT_CREATED, check_object},
                {AG_EV_OBJECT_REMOVED, check_removal},
                {AG_EV_RELATION_CREATED, check_relation},
                {AG_EV_RELATION_REMOVED, check_removal},
                {AG_EV_PATCH_APPLIED, check_patch}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (ag_str_eq (event->type, ag_type_name (rows[i].type)))
            return rows[i].check (event->payload, err);
    return 0;
}

/*  Events and runs  */

enum { ID, TYPE, PAYLOAD, ACTOR, FRAME, CAUSE, TIME, EVENT_FIELDS };

static const struct field event_fields[EVENT_FIELDS] = {
    [ID] = {"id", AG_TEXT, true},           [TYPE] = {"type", AG_TEXT, true},
    [PAYLOAD] = {"payload", AG_MAP, true},  [ACTOR] = {"actor", AG_TEXT, false},
    [FRAME] = {"frame_id", AG_TEXT, false}, [CAUSE] = {"caused_by", AG_TEXT, false},
    [TIME] = {"timestamp", AG_TEXT, false}};

//  Ids, cause, time: what is written again from numbers.
static int
read_numbers (const struct ag_str values[EVENT_FIELDS], struct ag_event *event, struct ag_err *err)
{
    if (ag_evt_read (values[ID], &event->seq))
        return ag_fail (err, AG_E_BAD_VALUE, "its id `%.*s` is no event id (evt_001, evt_002, ...)",
                        AG_STR_ARG (values[ID]));
    if (values[CAUSE].p &&
        (ag_evt_read (values[CAUSE], &event->cause) || event->cause >= event->seq))
        return ag_fail (err, AG_E_BAD_VALUE, "its cause `%.*s` is no earlier event of the run",
                        AG_STR_ARG (values[CAUSE]));
    if (ag_event_time_read (values[TIME], event))
        return ag_fail (err, AG_E_BAD_VALUE,
                        "its time `%.*s` is neither empty nor 2026-01-31T12:00:00Z, with six more "
                        "digits or none",
                        AG_STR_ARG (values[TIME]));
    return 0;
}

int
ag_exchange_event (struct ag_str map, struct ag_buf *payload, struct ag_event *event,
                   struct ag_err *err)
{
    struct ag_str values[FIELDS_MOST] = {{0}};
    *event = (struct ag_event){.flags = AG_IMPORTED | AG_QUIESCENT};
    ag_buf_clear (payload);
    if (take_fields (map, event_fields, EVENT_FIELDS, values, err) ||
        read_numbers (values, event, err) || check_name (values[TYPE], "its type", err))
        return -1;
    if ((values[ACTOR].p && values[ACTOR].n > AG_NAME_BYTES) ||
        (values[FRAME].p && values[FRAME].n > AG_NAME_BYTES))
        return ag_fail (err, AG_E_BAD_VALUE, "its actor or frame is over %d bytes", AG_NAME_BYTES);
    if (ag_value_normalise (values[PAYLOAD], payload, err))
        return ag_wrap (err, "payload");
    event->type = values[TYPE];
    event->actor = values[ACTOR];
    event->frame = values[FRAME];
    event->payload = ag_buf_str (payload);
    return check_graph (event, err);
}

enum { RUN, LABEL, PARENT, CUT, IDS, RUN_FIELDS };

static const struct field run_fields[RUN_FIELDS] = {[RUN] = {"run_id", AG_TEXT, true},
                                                    [LABEL] = {"label", AG_TEXT, false},
                                                    [PARENT] = {"parent_run_id", AG_TEXT, false},
                                                    [CUT] = {"forked_at_event_id", AG_TEXT, false},
                                                    [IDS] = {"ids", AG_TEXT, false}};

bool
ag_exchange_is_run (struct ag_str map)
{
    struct ag_str value;
    return !ag_map_get (map, "run_id", &value);
}

int
ag_exchange_run (struct ag_str map, struct ag_exchange_run *run, struct ag_err *err)
{
    struct ag_str values[FIELDS_MOST] = {{0}};
    *run = (struct ag_exchange_run){0};
    if (take_fields (map, run_fields, RUN_FIELDS, values, err))
        return -1;
    if (values[RUN].n == 0 || values[RUN].n > AG_ORIGIN_BYTES ||
        memchr (values[RUN].p, 0, values[RUN].n))
        return ag_fail (err, AG_E_BAD_VALUE, "run_id is not 1 to %d bytes without NUL",
                        AG_ORIGIN_BYTES);
    if (values[CUT].p && (!values[PARENT].p || ag_evt_read (values[CUT], &run->cut)))
        return ag_fail (err, AG_E_BAD_VALUE, "forked_at_event_id `%.*s` is no event of a parent",
                        AG_STR_ARG (values[CUT]));
    if (values[LABEL].n && memchr (values[LABEL].p, 0, values[LABEL].n))
        return ag_fail (err, AG_E_BAD_VALUE, "label holds a NUL");
    run->continues = values[IDS].p && ag_str_is (values[IDS], "continue");
    if (values[IDS].p && !run->continues && !ag_str_is (values[IDS], "tagged"))
        return ag_fail (err, AG_E_BAD_VALUE, "ids is neither tagged nor continue");
    run->id = values[RUN];
    run->label = values[LABEL];
    run->parent = values[PARENT];
    return 0;
}
