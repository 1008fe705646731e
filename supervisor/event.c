//  SPDX-License-Identifier: Apache-2.0
#include "supervisor/event.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct row {
    struct ag_str name; //  of a family: what its types begin with
    struct ag_rule rule;
};

static const struct row rows[] = {
#define HOUSE     AG_BY_HOUSE
#define CLIENT    AG_BY_CLIENT
#define OPERATION AG_BY_OPERATION
#define EVENT(NAME, type, writer, queued, lifecycle, doc)                                          \
    {{type, sizeof (type) - 1}, {writer, queued, lifecycle}},
#define FAMILY(prefix, writer, queued, lifecycle)
#include "schemas/events.def"
};

static const struct row families[] = {
#define EVENT(NAME, type, writer, queued, lifecycle, doc)
#define FAMILY(prefix, writer, queued, lifecycle)                                                  \
    {{prefix, sizeof (prefix) - 1}, {writer, queued, lifecycle}},
#include "schemas/events.def"
};

struct ag_str
ag_type_name (enum ag_type type)
{
    return rows[type].name;
}

//  Asked of each event that is appended: what differs in its first byte is passed over at once.
static bool
begins (struct ag_str type, struct ag_str name)
{
    return type.n >= name.n && type.p[0] == name.p[0] && !memcmp (type.p, name.p, name.n);
}

enum ag_type
ag_type_of (struct ag_str name)
{
    int type = 0;
    while (type < AG_EV_COUNT && !(rows[type].name.n == name.n && begins (name, rows[type].name)))
        type++;
    return type;
}

struct ag_rule
ag_type_rule (struct ag_str type)
{
    enum ag_type known = ag_type_of (type);
    if (known < AG_EV_COUNT)
        return rows[known].rule;
    for (size_t i = 0; i < sizeof families / sizeof *families; i++)
        if (begins (type, families[i].name))
            return families[i].rule;
    return (struct ag_rule){AG_BY_ANYONE, true, false};
}

static void
put_text_or_null (struct ag_buf *out, struct ag_str text)
{
    if (text.p)
        ag_put_text (out, text);
    else
        ag_put_null (out);
}

enum { FIELDS = 8 };

void
ag_event_encode (const struct ag_event *event, struct ag_buf *out)
{
    ag_put_list (out, FIELDS);
    ag_put_uint (out, event->stream);
    ag_put_uint (out, event->time_us);
    ag_put_uint (out, event->flags);
    ag_put_uint (out, event->cause);
    ag_put_text (out, event->type);
    put_text_or_null (out, event->actor);
    put_text_or_null (out, event->frame);
    ag_put_value (out, event->payload);
}

static int
take_number (struct ag_cursor *in, uint64_t *number)
{
    struct ag_head head;
    if (ag_next (in, &head) || head.kind != AG_UINT)
        return -1;
    *number = head.u;
    return 0;
}

static int
take_text (struct ag_cursor *in, struct ag_str *text)
{
    struct ag_head head;
    if (ag_next (in, &head) || (head.kind != AG_TEXT && head.kind != AG_NULL))
        return -1;
    *text = head.kind == AG_TEXT ? head.s : (struct ag_str){0};
    return 0;
}

static int
decode (struct ag_cursor *in, struct ag_event *event)
{
    struct ag_head head;
    uint64_t flags;
    if (ag_next (in, &head) || head.kind != AG_LIST || head.count != FIELDS)
        return -1;
    if (take_number (in, &event->stream) || take_number (in, &event->time_us) ||
        take_number (in, &flags) || take_number (in, &event->cause))
        return -1;
    event->flags = (uint32_t)flags;
    if (take_text (in, &event->type) || take_text (in, &event->actor) ||
        take_text (in, &event->frame) || !event->type.p)
        return -1;
    event->payload = (struct ag_str){(const char *)in->p, (size_t)(in->end - in->p)};
    return ag_kind_of (event->payload) == AG_MAP ? 0 : -1;
}

int
ag_event_decode (uint64_t run, uint64_t seq, struct ag_str stored, struct ag_event *event,
                 struct ag_err *err)
{
    struct ag_cursor in = ag_cursor (stored);
    event->run = run;
    event->seq = seq;
    if (stored.n < AG_SEED)
        goto bad;
    in.end -= AG_SEED;
    event->stored = (struct ag_str){stored.p, stored.n - AG_SEED};
    if (decode (&in, event))
        goto bad;
    memcpy (event->seed, in.end, AG_SEED);
    return 0;
bad:
    return ag_fail (err, AG_E_CORRUPT, "event %" PRIu64 " of run number %" PRIu64 " is unreadable",
                    seq, run);
}

void
ag_evt_text (uint64_t seq, char text[AG_EVT_TEXT])
{
    snprintf (text, AG_EVT_TEXT, "evt_%03" PRIu64, seq);
}

int
ag_evt_guess (struct ag_str text, uint64_t *seq)
{
    uint64_t number = 0;
    if (text.n < 5 || text.n >= AG_EVT_TEXT || !ag_str_starts (text, "evt_"))
        return -1;
    for (size_t i = 4; i < text.n; i++) {
        unsigned digit = (unsigned char)text.p[i] - (unsigned)'0';
        if (digit > 9 || number > (UINT64_MAX - digit) / 10)
            return -1;
        number = number * 10 + digit;
    }
    *seq = number;
    return number ? 0 : -1;
}

int
ag_evt_read (struct ag_str text, uint64_t *seq)
{
    char written[AG_EVT_TEXT];
    uint64_t number;
    if (ag_evt_guess (text, &number))
        return -1;
    ag_evt_text (number, written);
    if (!ag_str_is (text, written))
        return -1;
    *seq = number;
    return 0;
}

void
ag_put_evt (struct ag_buf *out, uint64_t seq)
{
    char text[AG_EVT_TEXT];
    if (seq == 0) {
        ag_put_null (out);
        return;
    }
    ag_evt_text (seq, text);
    ag_put_lit (out, text);
}

//  Days since 1970-01-01 to a date; the year begins in March inside, so that leap days come last.
static void
civil (uint64_t days, unsigned *year, unsigned *month, unsigned *day)
{
    uint64_t z = days + 719468, era = z / 146097;
    unsigned doe = (unsigned)(z - era * 146097);
    unsigned yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
    unsigned doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
    unsigned march = (5 * doy + 2) / 153;
    *day = doy - (153 * march + 2) / 5 + 1;
    *month = march < 10 ? march + 3 : march - 9;
    *year = yoe + (unsigned)era * 400 + (*month <= 2);
}

static char *
digits (char *text, unsigned number, int width)
{
    for (int i = width - 1; i >= 0; i--, number /= 10)
        text[i] = (char)('0' + number % 10);
    return text + width;
}

//  Each part with the character that follows it.
void
ag_time_text (uint64_t time_us, char text[AG_TIME_TEXT])
{
    unsigned year, month, day;
    uint64_t seconds = time_us / 1000000;
    unsigned rest = (unsigned)(seconds % 86400);
    civil (seconds / 86400, &year, &month, &day);

    const struct {
        unsigned number;
        int width;
        char then;
    } parts[] = {{year, 4, '-'},
                 {month, 2, '-'},
                 {day, 2, 'T'},
                 {rest / 3600, 2, ':'},
                 {rest / 60 % 60, 2, ':'},
                 {rest % 60, 2, '.'},
                 {(unsigned)(time_us % 1000000), 6, 'Z'}};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        text = digits (text, parts[i].number, parts[i].width);
        *text++ = parts[i].then;
    }
    *text = 0;
}

static void
time_text (const struct ag_event *event, char text[AG_TIME_TEXT])
{
    ag_time_text (event->time_us, text);
    if (event->flags & AG_WHOLE_SECONDS)
        memcpy (strchr (text, '.'), "Z", 2);
    if (event->flags & AG_UNTIMED)
        text[0] = 0;
}

//  Days from 1970-01-01; as civil, the other way round.
static uint64_t
days_of (unsigned year, unsigned month, unsigned day)
{
    unsigned y = year - (month <= 2), era = y / 400, yoe = y - era * 400;
    unsigned doy = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1;
    unsigned doe = yoe * 365 + yoe / 4 - yoe / 100 + doy;
    return (uint64_t)era * 146097 + doe - 719468;
}

//  As far as there are digits; what stands between them is judged by writing the time again.
static void
read_parts (const char *p, unsigned part[7])
{
    static const uint8_t widths[7] = {4, 2, 2, 2, 2, 2, 6};
    for (int i = 0; i < 7; i++) {
        unsigned value = 0, n = 0;
        for (; n < widths[i] && *p >= '0' && *p <= '9'; n++, p++)
            value = value * 10 + (unsigned)(*p - '0');
        if (!n)
            return;
        part[i] = value;
        if (*p)
            p++;
    }
}

//  What was read is written again: a month 13, a second 61 or another form is found out so.
int
ag_event_time_read (struct ag_str text, struct ag_event *event)
{
    char room[AG_TIME_TEXT] = "", again[AG_TIME_TEXT];
    unsigned part[7] = {1970, 1, 1};
    if (text.n >= AG_TIME_TEXT)
        return -1;
    if (text.n)
        memcpy (room, text.p, text.n);
    read_parts (room, part);
    if (part[0] < 1970 || part[1] < 1 || part[1] > 12 || part[2] < 1)
        return -1;
    uint64_t seconds = days_of (part[0], part[1], part[2]) * 86400 + part[3] * UINT64_C (3600) +
                       part[4] * UINT64_C (60) + part[5];
    event->time_us = seconds * 1000000 + part[6];
    if (text.n < AG_TIME_TEXT - 1)
        event->flags |= text.n ? AG_WHOLE_SECONDS : AG_UNTIMED;
    time_text (event, again);
    return ag_str_is (text, again) ? 0 : -1;
}

void
ag_event_write (const struct ag_event *event, const char *run_id, const char *label,
                struct ag_buf *out)
{
    char time[AG_TIME_TEXT];
    time_text (event, time);
    ag_put_map (out, run_id ? 11 : 7);
    ag_put_lit (out, "id");
    ag_put_evt (out, event->seq);
    ag_put_lit (out, "type");
    ag_put_text (out, event->type);
    ag_put_lit (out, "payload");
    ag_put_value (out, event->payload);
    ag_put_lit (out, "actor");
    put_text_or_null (out, event->actor);
    ag_put_lit (out, "frame_id");
    put_text_or_null (out, event->frame);
    ag_put_lit (out, "caused_by");
    ag_put_evt (out, event->cause);
    ag_put_lit (out, "timestamp");
    ag_put_lit (out, time);
    if (!run_id)
        return;
    ag_put_lit (out, "run");
    ag_put_lit (out, run_id);
    ag_put_lit (out, "label");
    put_text_or_null (out, label ? ag_str (label) : (struct ag_str){0});
    ag_put_lit (out, "seq");
    ag_put_uint (out, event->seq);
    ag_put_lit (out, "stream");
    if (event->stream)
        ag_put_uint (out, event->stream);
    else
        ag_put_null (out);
}
