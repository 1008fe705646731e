//  SPDX-License-Identifier: Apache-2.0
#include "worker/jail.h"

#include "common/buf.h"
#include "common/landlock.h"
#include "worker/jail_filters.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { SANITIZED = 1 }; //  their run time opens files, makes threads and traces itself
#else
enum { SANITIZED = 0 };
#endif

static int
allow_reading (int ruleset, const char *directory, struct ag_err *err)
{
    int fd = open (directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return ag_fail (err, AG_E_CONFIG,
                        "granted directory %s: user id %u, as which this agent runs, cannot reach "
                        "it: %s",
                        directory, geteuid(), strerror (errno));
    int rc = ag_landlock_allow (ruleset, fd, AG_LANDLOCK_READ | AG_LANDLOCK_LIST), no = errno;
    close (fd);
    return rc ? ag_fail (err, AG_E_SYSTEM, "Landlock rule for %s: %s", directory, strerror (no))
              : 0;
}

static int
allow_each (int ruleset, const char *directories, int *count, struct ag_err *err)
{
    char *list = ag_xstrdup (directories), *rest = list;
    int rc = 0;
    for (char *directory; !rc && (directory = strsep (&rest, ":"));)
        if (*directory) {
            rc = allow_reading (ruleset, directory, err);
            ++*count;
        }
    free (list);
    return rc;
}

static int
no_new_privileges (struct ag_err *err)
{
    if (prctl (PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
        return ag_fail (err, AG_E_SYSTEM, "no_new_privs: %s", strerror (errno));
    return 0;
}

static int
restrict_to (int abi, const char *directories, int *count, struct ag_err *err)
{
    struct ag_landlock all = ag_landlock_all (abi);
    int ruleset = ag_landlock_rules (abi, &all);
    if (ruleset < 0)
        return ag_fail (err, AG_E_SYSTEM, "Landlock ruleset: %s", strerror (errno));
    int rc = allow_each (ruleset, directories, count, err);
    if (!rc && ag_landlock_enter (ruleset))
        rc = ag_fail (err, AG_E_SYSTEM, "Landlock: %s", strerror (errno));
    close (ruleset);
    return rc;
}

int
ag_jail_files (const char *directories, struct ag_walls *walls, struct ag_err *err)
{
    int abi = ag_landlock_abi();
    const char *why = SANITIZED ? "sanitizer build" : abi < 1 ? strerror (errno) : NULL;
    if (why) {
        snprintf (walls->landlock, sizeof walls->landlock, "off: %s", why);
        return 0;
    }
    int count = 0;
    char gaps[AG_LANDLOCK_GAPS];
    if (no_new_privileges (err) || restrict_to (abi, directories ? directories : "", &count, err))
        return -1;
    ag_landlock_gaps (abi, true, gaps);
    snprintf (walls->landlock, sizeof walls->landlock, "abi %d: read below %d directories%s", abi,
              count, gaps);
    return 0;
}

static const char *const profiles[] = {"off", "standard", "strict"};

int
ag_profile_of (const char *name)
{
    for (int i = AG_PROFILE_OFF; i <= AG_PROFILE_STRICT; i++)
        if (!strcmp (name, profiles[i]))
            return i;
    return -1;
}

//  Made when agsup was built (worker/filters); what differs from process to process is its own pid.
enum { LONGEST = 512 };

static const struct filter {
    const struct sock_filter *code;
    size_t count;
} filters[2][2] = {{{standard_alone, sizeof standard_alone / sizeof *standard_alone},
                    {standard_files, sizeof standard_files / sizeof *standard_files}},
                   {{strict_alone, sizeof strict_alone / sizeof *strict_alone},
                    {strict_files, sizeof strict_files / sizeof *strict_files}}};

static unsigned short
copy_filter (const struct filter *filter, struct sock_filter code[LONGEST])
{
    size_t own = 0;
    assert (filter->count <= LONGEST);
    memcpy (code, filter->code, filter->count * sizeof *code);
    for (size_t i = 0; i < filter->count; i++)
        if (code[i].k == AG_FILTER_OWN_PID) {
            code[i].k = (uint32_t)getpid();
            own++;
        }
    assert (own == 1);
    return (unsigned short)filter->count;
}

int
ag_jail_calls (enum ag_profile profile, bool files, struct ag_walls *walls, struct ag_err *err)
{
    const char *why = SANITIZED ? "off: sanitizer build" : profile ? NULL : "off: not asked for";
    snprintf (walls->seccomp, sizeof walls->seccomp, "%s", why ? why : profiles[profile]);
    if (why)
        return 0;
    if (no_new_privileges (err))
        return -1;
    struct sock_filter code[LONGEST];
    struct sock_fprog program = {.filter = code};
    program.len = copy_filter (&filters[profile == AG_PROFILE_STRICT][files], code);
    long rc = syscall (SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program);
    if (rc > 0)
        return ag_fail (err, AG_E_SYSTEM, "seccomp filter: thread %ld has another one", rc);
    return rc ? ag_fail (err, AG_E_SYSTEM, "seccomp filter: %s", strerror (errno)) : 0;
}
