//  SPDX-License-Identifier: Apache-2.0
#include "client/look.h"

#include "client/pick.h"
#include "common/answer.h"
#include "common/json.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>
#include <wchar.h>

static int
columns_of (int fd)
{
    struct winsize size = {0};
    return ioctl (fd, TIOCGWINSZ, &size) ? 0 : size.ws_col;
}

struct ag_look
ag_look (const struct ag_call *call)
{
    const char *term = getenv ("TERM"), *plain = getenv ("NO_COLOR");
    bool may = !call->any.no_color && !(plain && *plain) && term && *term && strcmp (term, "dumb");
    struct ag_look look = {.json = call->any.json, .quiet = call->any.quiet, .now = time (NULL)};
    look.terminal = isatty (STDOUT_FILENO);
    look.columns = look.terminal ? columns_of (STDOUT_FILENO) : 0;
    look.color = may && look.terminal;
    look.words_color = may && isatty (STDERR_FILENO);
    look.progress = look.words_color && !look.quiet;
    return look;
}

const char *
ag_paint (const struct ag_look *look, enum ag_paint paint)
{
    static const char *const codes[] = {
        [AG_PLAIN] = "\033[0m", [AG_BOLD] = "\033[1m",   [AG_DIM] = "\033[2m",
        [AG_RED] = "\033[31m",  [AG_GREEN] = "\033[32m", [AG_YELLOW] = "\033[33m",
        [AG_CYAN] = "\033[36m"};
    return look->color ? codes[paint] : "";
}

enum ag_paint
ag_state_paint (struct ag_str state)
{
    static const struct {
        const char *state;
        enum ag_paint paint;
    } paints[] = {{"ready", AG_GREEN},    {"busy", AG_CYAN},   {"starting", AG_YELLOW},
                  {"waiting", AG_YELLOW}, {"backoff", AG_RED}, {"failed", AG_RED},
                  {"parked", AG_DIM},     {"stopped", AG_DIM}, {"ended", AG_DIM}};
    for (size_t i = 0; i < sizeof paints / sizeof *paints; i++)
        if (ag_str_is (state, paints[i].state))
            return paints[i].paint;
    return AG_PLAIN;
}

//  C1 controls are two bytes in UTF-8: 0xc2 and 0x80 to 0x9f.
static bool
is_control (struct ag_str text, size_t i)
{
    unsigned char byte = (unsigned char)text.p[i];
    if (byte == 0xc2 && i + 1 < text.n)
        return (unsigned char)text.p[i + 1] < 0xa0;
    return byte < 0x20 || byte == 0x7f;
}

//  Marks that turn the direction of what follows, so that a line reads as something else: U+200E, U+200F, U+202A
//  to U+202E, U+2066 to U+2069, all of three bytes. Its number, or 0.
static unsigned
turns (struct ag_str text, size_t i)
{
    const unsigned char *p = (const unsigned char *)text.p + i;
    if (i + 2 >= text.n || p[0] != 0xe2 || (p[1] & 0xfe) != 0x80)
        return 0;
    unsigned mark = 0x2000 | (p[1] & 1u) << 6 | (p[2] & 0x3f);
    bool is = (mark & ~1u) == 0x200e || (mark >= 0x202a && mark <= 0x202e) ||
              (mark >= 0x2066 && mark <= 0x2069);
    return is ? mark : 0;
}

static void
put_safe (FILE *out, struct ag_str text, const char *kept)
{
    for (size_t i = 0; i < text.n; i++) {
        unsigned char byte = (unsigned char)text.p[i];
        unsigned mark = turns (text, i);
        if (mark) {
            fprintf (out, "\\u%04x", mark);
            i += 2;
        } else if (!is_control (text, i) || (byte && strchr (kept, byte)))
            fputc (byte, out);
        else if (byte == '\n' || byte == '\t' || byte == '\r')
            fprintf (out, "\\%c", byte == '\n' ? 'n' : byte == '\t' ? 't' : 'r');
        else if (byte == 0xc2)
            fprintf (out, "\\x%02x", (unsigned char)text.p[++i]);
        else
            fprintf (out, "\\x%02x", byte);
    }
}

void
ag_look_text (FILE *out, struct ag_str text)
{
    put_safe (out, text, "");
}

void
ag_look_lines (FILE *out, struct ag_str text)
{
    put_safe (out, text, "\n\t");
}

//  The next letter, or a whole colour sequence: its bytes, and the columns that it takes.
static size_t
letter (struct ag_str text, int *columns)
{
    wchar_t wide;
    mbstate_t state = {0};
    *columns = 0;
    if (*text.p == '\033') {
        const char *end = memchr (text.p, 'm', text.n);
        return end ? (size_t)(end - text.p) + 1 : text.n;
    }
    size_t n = mbrtowc (&wide, text.p, text.n, &state);
    if (n == 0 || n > text.n) {
        *columns = 1;
        return 1;
    }
    *columns = wcwidth (wide) > 0 ? wcwidth (wide) : 0;
    return n;
}

//  How many columns a text takes.
static int
columns_taken (struct ag_str text)
{
    int sum = 0, wide;
    while (text.n) {
        size_t n = letter (text, &wide);
        sum += wide;
        text = (struct ag_str){text.p + n, text.n - n};
    }
    return sum;
}

void
ag_look_cut (FILE *out, struct ag_str text, int columns)
{
    int left = columns - 1, wide;
    if (columns <= 0 || columns_taken (text) <= columns) {
        fwrite (text.p, 1, text.n, out);
        return;
    }
    while (text.n) {
        size_t n = letter (text, &wide);
        if (wide > left && left >= 0) {
            fputs ("…", out);
            left = -1;
        }
        if (left >= 0 || *text.p == '\033')
            fwrite (text.p, 1, n, out);
        left -= left >= 0 ? wide : 0;
        text = (struct ag_str){text.p + n, text.n - n};
    }
}

void
ag_look_line (const struct ag_look *look, struct ag_str text, int indent)
{
    char *clean = NULL;
    size_t n = 0;
    FILE *out = open_memstream (&clean, &n);
    assert (out);
    ag_look_text (out, text);
    fclose (out);
    ag_look_cut (stdout, (struct ag_str){clean, n},
                 look->columns > indent ? look->columns - indent : 0);
    fputc ('\n', stdout);
    free (clean);
}

//  Seconds since 1970 of "2026-01-31T12:00:00.123456Z"; -1 when it is no such text.
static int64_t
seconds_of (struct ag_str text)
{
    char room[40];
    struct tm tm = {0};
    if (text.n >= sizeof room)
        return -1;
    memcpy (room, text.p, text.n);
    room[text.n] = 0;
    const char *end = strptime (room, "%Y-%m-%dT%H:%M:%S", &tm);
    if (!end)
        return -1;
    if (*end == '.')
        end += 1 + strspn (end + 1, "0123456789");
    return strcmp (end, "Z") && strcmp (end, "+00:00") ? -1 : timegm (&tm);
}

//  The largest unit that is not zero: 5s, 3m, 7h, 12d.
static void
put_span (int64_t seconds, char room[24])
{
    static const struct {
        int64_t seconds;
        char unit;
    } units[] = {{86400, 'd'}, {3600, 'h'}, {60, 'm'}};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (seconds >= units[i].seconds) {
            snprintf (room, 24, "%" PRId64 "%c", seconds / units[i].seconds, units[i].unit);
            return;
        }
    snprintf (room, 24, "%" PRId64 "s", seconds);
}

const char *
ag_look_s (uint64_t count)
{
    return count == 1 ? "" : "s";
}

void
ag_look_when (const struct ag_look *look, struct ag_str time, char room[40])
{
    char span[24];
    int64_t then = time.p ? seconds_of (time) : -1;
    if (then < 0) {
        snprintf (room, 40, "%.*s", time.n ? (int)(time.n < 39 ? time.n : 39) : 1,
                  time.n ? time.p : "-");
        return;
    }
    put_span (then > look->now ? then - look->now : look->now - then, span);
    if (then > look->now)
        snprintf (room, 40, "in %s", span);
    else
        snprintf (room, 40, "%s ago", span);
}

void
ag_look_json (const struct ag_look *look, struct ag_str value)
{
    struct ag_buf text = {0};
    ag_json_write (value, look->terminal ? AG_JSON_PRETTY : AG_JSON_LINE, &text);
    fwrite (text.p, 1, text.n, stdout);
    fputc ('\n', stdout);
    ag_buf_fini (&text);
}

void
ag_look_json_line (struct ag_str value)
{
    struct ag_buf text = {0};
    ag_json_write (value, AG_JSON_LINE, &text);
    fwrite (text.p, 1, text.n, stdout);
    fputc ('\n', stdout);
    ag_buf_fini (&text);
}

int
ag_look_flush (struct ag_err *err)
{
    errno = 0;
    if (!fflush (stdout) && !ferror (stdout))
        return 0;
    if (errno == EPIPE) {
        err->code = AG_OK;
        return -1;
    }
    return ag_fail (err, AG_E_SYSTEM, "standard output: %s", strerror (errno ? errno : EIO));
}

//  {"error": {code, message, hint, retryable}}; false when it could not be written.
static bool
error_document (const struct ag_look *look, const struct ag_err *err)
{
    struct ag_buf answer = {0}, out = {0};
    ag_answer_error (&answer, (struct ag_str){0}, err);
    ag_put_map (&out, 1);
    ag_put_lit (&out, "error");
    ag_pick_rest (ag_buf_str (&answer), (const char *const[]){"do", NULL}, &out);
    ag_look_json (look, ag_buf_str (&out));
    ag_buf_fini (&answer);
    ag_buf_fini (&out);
    return !fflush (stdout) && !ferror (stdout);
}

int
ag_look_error (const struct ag_call *call, const struct ag_err *err)
{
    struct ag_look look = ag_look (call);
    if (look.json && error_document (&look, err))
        return ag_code_status (err->code);
    look.color = look.words_color;
    fprintf (stderr, "%sagsup:%s ", ag_paint (&look, AG_RED), ag_paint (&look, AG_PLAIN));
    ag_look_lines (stderr, ag_str (err->text));
    fprintf (stderr, "\n  %s\n", ag_code_hint (err->code));
    return ag_code_status (err->code);
}
