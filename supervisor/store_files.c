//  SPDX-License-Identifier: Apache-2.0
#include "supervisor/store_files.h"
#include "common/buf.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int
check_log (const char *dir, const char *name, ag_check_log_fn *check, struct ag_err *err)
{
    char *path = ag_xprintf ("%s/%s", dir, name);
    int rc = check (path, err);
    free (path);
    return rc;
}

int
ag_store_files_check (const char *dir, ag_check_log_fn *check, struct ag_err *err)
{
    DIR *files = opendir (dir);
    if (!files)
        return ag_fail (err, AG_E_SYSTEM, "opendir %s: %s", dir, strerror (errno));
    int rc = 0;
    bool current = false, data = false;
    const struct dirent *file;
    while (!rc && (file = readdir (files))) {
        bool log = !fnmatch ("*.log", file->d_name, 0);
        if (log || ag_str_starts (ag_str (file->d_name), "MANIFEST-"))
            rc = check_log (dir, file->d_name, check, err);
        current = current || !strcmp (file->d_name, "CURRENT");
        data = data || log || !fnmatch ("*.sst", file->d_name, 0);
    }
    closedir (files);
    if (!rc && data && !current)
        return ag_fail (err, AG_E_CORRUPT, "%s holds data, but its file CURRENT is gone", dir);
    return rc;
}

//  A new directory is there for good only when its parent is synced.
int
ag_store_files_make (const char *dir, struct ag_err *err)
{
    if (mkdir (dir, 0700))
        return errno == EEXIST ? 0
                               : ag_fail (err, AG_E_SYSTEM, "mkdir %s: %s", dir, strerror (errno));
    char *copy = ag_xstrdup (dir);
    int fd = open (dirname (copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int rc = fd < 0 ? -1 : fsync (fd);
    if (rc)
        ag_fail (err, AG_E_SYSTEM, "sync the parent of %s: %s", dir, strerror (errno));
    if (fd >= 0)
        close (fd);
    free (copy);
    return rc;
}
