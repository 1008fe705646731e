//  SPDX-License-Identifier: Apache-2.0
#include "supervisor/ready.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TREE_DEPTH = 64 };

//  "127.0.0.1:8080" or "[::1]:8080" as the kernel lists local addresses; the configuration was checked when
//  it was read.
static bool
listed_as (struct ag_str text, char listed[64], bool *six)
{
    char host[64];
    uint32_t words[4];
    const char *colon = memrchr (text.p, ':', text.n);
    if (!colon || (size_t)(colon - text.p) >= sizeof host)
        return false;
    *six = text.p[0] == '[';
    snprintf (host, sizeof host, "%.*s", (int)(colon - text.p) - 2 * *six, text.p + *six);
    if (inet_pton (*six ? AF_INET6 : AF_INET, host, words) != 1)
        return false;
    int n = 0;
    for (int i = 0; i < (*six ? 4 : 1); i++)
        n += snprintf (listed + n, 64 - (size_t)n, "%08X", words[i]);
    snprintf (listed + n, 64 - (size_t)n, ":%04lX", strtoul (colon + 1, NULL, 10));
    return true;
}

//  Does anything listen there, or at every address? Asked of the kernel's list, since the supervisor's own
//  filter lets it open no internet socket.
static bool
is_listed (const char *path, const char *address)
{
    static const char listen[] = "0A";
    char line[512], local[64], state[3];
    const char *port = strchr (address, ':');
    bool found = false;
    FILE *file = fopen (path, "re");
    while (file && !found && fgets (line, sizeof line, file))
        if (sscanf (line, " %*[^:]: %63s %*s %2s", local, state) == 2 && !strcmp (state, listen)) {
            size_t zeros = strspn (local, "0");
            found = !strcmp (local, address) || !strcmp (local + zeros, port);
        }
    if (file)
        fclose (file);
    return found;
}

//  One that listens at every address of IPv6 most often takes IPv4 as well.
static bool
answers (struct ag_str text)
{
    char address[64];
    bool six;
    if (!listed_as (text, address, &six))
        return false;
    return is_listed ("/proc/net/tcp6", address) || (!six && is_listed ("/proc/net/tcp", address));
}

int
ag_ready_check (const struct ag_unit *unit, int64_t in_state_ms)
{
    struct ag_str ready, text;
    uint64_t within_ms = 0, seconds;
    if (ag_map_get (ag_buf_str (&unit->spec), "ready", &ready) || ag_kind_of (ready) != AG_MAP)
        return 1;
    bool is = false;
    if (!ag_map_text (ready, "tcp", &text))
        is = answers (text);
    else if (!ag_map_text (ready, "file", &text)) {
        char *path = ag_str_dup (text);
        is = !access (path, F_OK);
        free (path);
    } else if (!ag_map_uint (ready, "seconds", &seconds))
        is = in_state_ms >= (int64_t)seconds * 1000;
    else
        is = true; //  the configuration is complete: a table that says nothing is there too
    ag_map_uint (ready, "within_ms", &within_ms);
    if (is)
        return 1;
    return within_ms && in_state_ms > (int64_t)within_ms ? -1 : 0;
}

static int32_t
parent_of (int32_t pid)
{
    char path[32], line[512];
    snprintf (path, sizeof path, "/proc/%d/stat", pid);
    FILE *file = fopen (path, "re");
    size_t n = file ? fread (line, 1, sizeof line - 1, file) : 0;
    if (file)
        fclose (file);
    line[n] = 0;
    const char *end = strrchr (line, ')'); //  a name may hold anything
    return end && strlen (end) > 4 ? (int32_t)strtol (end + 4, NULL, 10) : 0; //  ") S 123"
}

bool
ag_fleet_is_inside (int32_t pid, int32_t root)
{
    for (int depth = 0; pid > 1 && root > 1 && depth < TREE_DEPTH; depth++) {
        if (pid == root)
            return true;
        pid = parent_of (pid);
    }
    return false;
}
