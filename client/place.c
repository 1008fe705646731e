//  SPDX-License-Identifier: Apache-2.0
#include "client/place.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

//  A path as seen from anywhere; it need not exist.
static char *
absolute (const char *path)
{
    if (*path == '/')
        return ag_xstrdup (path);
    char *here = getcwd (NULL, 0);
    char *whole = ag_xprintf ("%s/%s", here ? here : ".", path);
    free (here);
    return whole;
}

//  The folder that a path stands in; the path is absolute, a slash at its end does not count.
static char *
folder_of (const char *path)
{
    size_t n = strlen (path);
    while (n > 1 && path[n - 1] == '/')
        n--;
    while (n > 1 && path[n - 1] != '/')
        n--;
    while (n > 1 && path[n - 1] == '/')
        n--;
    return ag_str_dup ((struct ag_str){path, n});
}

//  agsup.toml here, or in the nearest folder above; NULL when there is none.
static char *
look_upwards (void)
{
    char *folder = absolute (".");
    folder[strlen (folder) - 2] = 0;
    for (;;) {
        char *path = ag_xprintf ("%s/agsup.toml", folder);
        if (!access (path, F_OK)) {
            free (folder);
            return path;
        }
        free (path);
        char *slash = strrchr (folder, '/');
        if (!slash)
            break;
        *slash = 0;
    }
    free (folder);
    return NULL;
}

static int
find_config (const struct ag_call *call, struct ag_place *place, struct ag_err *err)
{
    if (!call->any.config) {
        place->config = look_upwards();
        return 0;
    }
    place->config = absolute (call->any.config);
    if (!access (place->config, R_OK))
        return 0;
    return ag_fail (err, AG_E_CONFIG, "%s: %s", place->config, strerror (errno));
}

int
ag_place_find (const struct ag_call *call, struct ag_place *place, struct ag_err *err)
{
    *place = (struct ag_place){0};
    if (find_config (call, place, err)) {
        ag_place_fini (place);
        return -1;
    }
    const char *named = call->any.home ? call->any.home : getenv ("AGSUP_HOME");
    if (named && *named)
        place->home = absolute (named);
    else if (place->config) {
        char *folder = folder_of (place->config);
        place->home = ag_xprintf ("%s/.agsup", strcmp (folder, "/") ? folder : "");
        free (folder);
    }
    return 0;
}

void
ag_place_fini (struct ag_place *place)
{
    free (place->config);
    free (place->home);
    *place = (struct ag_place){0};
}

char *
ag_place_program (const char *name)
{
    char self[PATH_MAX];
    ssize_t n = readlink ("/proc/self/exe", self, sizeof self - 1);
    self[n > 0 ? n : 0] = 0;
    char *slash = strrchr (self, '/');
    if (slash) {
        char *beside = ag_xprintf ("%.*s/%s", (int)(slash - self), self, name);
        if (!access (beside, X_OK))
            return beside;
        free (beside);
    }
    return ag_xstrdup (name);
}
