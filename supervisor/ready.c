//  SPDX-License-Identifier: Apache-2.0
#include "supervisor/ready.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { TREE_DEPTH = 64 };

//  "127.0.0.1:8080" or "[::1]:8080"; the configuration was checked when it was read.
static socklen_t
address_of (struct ag_str text, struct sockaddr_storage *address)
{
    char host[64];
    struct sockaddr_in *four = (struct sockaddr_in *)address;
    struct sockaddr_in6 *six = (struct sockaddr_in6 *)address;
    const char *colon = memrchr (text.p, ':', text.n);
    memset (address, 0, sizeof *address);
    if (!colon || (size_t)(colon - text.p) >= sizeof host)
        return 0;
    bool brackets = text.p[0] == '[';
    snprintf (host, sizeof host, "%.*s", (int)(colon - text.p) - 2 * brackets, text.p + brackets);
    in_port_t port = htons ((in_port_t)strtoul (colon + 1, NULL, 10));
    if (inet_pton (AF_INET, host, &four->sin_addr) == 1) {
        four->sin_family = AF_INET;
        four->sin_port = port;
        return sizeof *four;
    }
    if (inet_pton (AF_INET6, host, &six->sin6_addr) != 1)
        return 0;
    six->sin6_family = AF_INET6;
    six->sin6_port = port;
    return sizeof *six;
}

//  Services listen on this machine, where a connection is made or refused at once.
static bool
answers (struct ag_str text)
{
    struct sockaddr_storage address;
    socklen_t size = address_of (text, &address);
    int fd = size ? socket (address.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0) : -1;
    if (fd < 0)
        return false;
    struct pollfd wait = {.fd = fd, .events = POLLOUT};
    int error = 0;
    socklen_t n = sizeof error;
    bool open = !connect (fd, (struct sockaddr *)&address, size) ||
                (errno == EINPROGRESS && poll (&wait, 1, 0) == 1 &&
                 !getsockopt (fd, SOL_SOCKET, SO_ERROR, &error, &n) && !error);
    close (fd);
    return open;
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
    int parent = 0;
    return end && sscanf (end + 1, " %*c %d", &parent) == 1 ? parent : 0;
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
