//  One line a file: its name, a space, its size.
//  SPDX-License-Identifier: Apache-2.0
#include "supervisor/store_closed.h"
#include "common/buf.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LINE = 300 };

bool
ag_store_is_data (const char *name)
{
    const char *ending = strrchr (name, '.');
    return !strncmp (name, "MANIFEST-", 9) ||
           (ending && (!strcmp (ending, ".log") || !strcmp (ending, ".sst")));
}

static int
check_line (const char *dir, char *line, struct ag_err *err)
{
    char *space = strchr (line, ' ');
    struct stat info;
    if (!space)
        return 0;
    *space = 0;
    if (!ag_store_is_data (line))
        return 0;
    int64_t size = strtoll (space + 1, NULL, 10);
    char *path = ag_xprintf ("%s/%s", dir, line);
    int rc = 0;
    if (stat (path, &info))
        rc = ag_fail (err, errno == ENOENT ? AG_E_CORRUPT : AG_E_SYSTEM, "%s: %s", path,
                      strerror (errno));
    else if (info.st_size < size)
        rc = ag_fail (err, AG_E_CORRUPT, "%s has %" PRId64 " bytes, it had %" PRId64, path,
                      (int64_t)info.st_size, size);
    free (path);
    return rc;
}

int
ag_store_closed_check (const char *dir, struct ag_err *err)
{
    char *path = ag_xprintf ("%s/CLOSED", dir), line[LINE];
    FILE *file = fopen (path, "re");
    int rc = 0;
    if (!file && errno != ENOENT)
        rc = ag_fail (err, AG_E_SYSTEM, "open %s: %s", path, strerror (errno));
    while (file && !rc && fgets (line, sizeof line, file))
        rc = check_line (dir, line, err);
    if (file)
        fclose (file);
    if (file && !rc && unlink (path))
        rc = ag_fail (err, AG_E_SYSTEM, "unlink %s: %s", path, strerror (errno));
    free (path);
    return rc ? -1 : file != NULL;
}

static void
write_line (FILE *file, const char *dir, const char *name)
{
    struct stat info;
    char *path = ag_xprintf ("%s/%s", dir, name);
    if (!stat (path, &info))
        fprintf (file, "%s %" PRId64 "\n", name, (int64_t)info.st_size);
    free (path);
}

void
ag_store_closed_write (const char *dir)
{
    char *path = ag_xprintf ("%s/CLOSED", dir), *fresh = ag_xprintf ("%s/CLOSED.new", dir);
    DIR *files = opendir (dir);
    FILE *list = files ? fopen (fresh, "we") : NULL;
    for (const struct dirent *file; list && (file = readdir (files));)
        if (ag_store_is_data (file->d_name))
            write_line (list, dir, file->d_name);
    bool whole = list && !fflush (list) && !fsync (fileno (list));
    if (list)
        fclose (list);
    if (!whole || rename (fresh, path))
        unlink (fresh);
    if (files)
        closedir (files);
    free (fresh);
    free (path);
}
