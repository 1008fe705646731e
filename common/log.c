//  SPDX-License-Identifier: Apache-2.0
#include "common/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const char *const words[] = {"error", "warn", "info", "debug"};
static const char *process = "agsup";

void
ag_log_name (const char *name)
{
    process = name;
}

static enum ag_level
lowest (void)
{
    const char *word = getenv ("AGSUP_LOG");
    for (enum ag_level level = AG_ERROR; word && level <= AG_DEBUG; level++)
        if (!strcmp (word, words[level]))
            return level;
    return AG_INFO;
}

static int
stamp (char *line, size_t size, enum ag_level level)
{
    struct timespec now;
    struct tm utc;
    clock_gettime (CLOCK_REALTIME, &now);
    gmtime_r (&now.tv_sec, &utc);
    size_t n = strftime (line, size, "%H:%M:%S", &utc);
    return (int)n + snprintf (line + n, size - n, ".%03ld %s %s: ", now.tv_nsec / 1000000, process,
                              words[level]);
}

void
ag_log (enum ag_level level, const char *format, ...)
{
    if (level > lowest())
        return;
    char line[1200];
    int n = stamp (line, sizeof line, level);
    va_list list;
    va_start (list, format);
    int more = vsnprintf (line + n, sizeof line - (size_t)n - 1, format, list);
    va_end (list);
    n += more < 0 ? 0 : more;
    if (n > (int)sizeof line - 2)
        n = sizeof line - 2;
    for (int i = 0; i < n; i++)
        if ((unsigned char)line[i] < 32 || line[i] == 127)
            line[i] = '?';
    line[n++] = '\n';
    if (write (STDERR_FILENO, line, (size_t)n) < 0)
        return; //  nobody reads the log: there is nowhere left to say so
}

void
ag_log_err (enum ag_level level, const struct ag_err *err, const char *context)
{
    ag_log (level, "%s: %s (%s)", context, err->text, ag_code_hint (err->code));
}
