//  SPDX-License-Identifier: Apache-2.0
#include "worker/jail.h"

#include "common/buf.h"
#include "worker/jail_filters.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/landlock.h>
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

//  Access rights of files that each ABI added; the headers of this system know fewer than the kernel.
static const uint64_t fs_rights[] = {
    [1] = (1u << 13) - 1, //  execute, write, read, and all that makes or removes a name
    [2] = 1u << 13,       //  rename and link across directories
    [3] = 1u << 14,       //  truncate
    [5] = 1u << 15,       //  ioctl on devices
};

//  The kernel's struct as of ABI 6; an older kernel is given the part that it knows.
struct ruleset {
    uint64_t fs, net, scoped;
};

static struct ruleset
everything (long abi, size_t *size)
{
    struct ruleset rules = {0};
    for (long i = 0; i <= abi && i < (long)(sizeof fs_rights / sizeof *fs_rights); i++)
        rules.fs |= fs_rights[i];
    rules.net = abi >= 4 ? 3 : 0;    //  bind and connect of TCP
    rules.scoped = abi >= 6 ? 3 : 0; //  abstract sockets and signals
    *size = abi >= 6 ? 24 : abi >= 4 ? 16 : 8;
    return rules;
}

static int
allow_reading (int ruleset, const char *directory, struct ag_err *err)
{
    struct landlock_path_beneath_attr rule = {
        .allowed_access = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR,
        .parent_fd = open (directory, O_PATH | O_DIRECTORY | O_CLOEXEC)};
    if (rule.parent_fd < 0)
        return ag_fail (err, AG_E_CONFIG,
                        "granted directory %s: user id %u, as which this agent runs, cannot reach "
                        "it: %s",
                        directory, geteuid(), strerror (errno));
    long rc = syscall (SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0);
    int no = errno;
    close (rule.parent_fd);
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
restrict_to (long abi, const char *directories, int *count, struct ag_err *err)
{
    size_t size;
    struct ruleset rules = everything (abi, &size);
    int ruleset = (int)syscall (SYS_landlock_create_ruleset, &rules, size, 0);
    if (ruleset < 0)
        return ag_fail (err, AG_E_SYSTEM, "Landlock ruleset: %s", strerror (errno));
    int rc = allow_each (ruleset, directories, count, err);
    if (!rc && syscall (SYS_landlock_restrict_self, ruleset, 0))
        rc = ag_fail (err, AG_E_SYSTEM, "Landlock: %s", strerror (errno));
    close (ruleset);
    return rc;
}

int
ag_jail_files (const char *directories, struct ag_walls *walls, struct ag_err *err)
{
    long abi = syscall (SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
    const char *why = SANITIZED ? "sanitizer build" : abi < 1 ? strerror (errno) : NULL;
    if (why) {
        snprintf (walls->landlock, sizeof walls->landlock, "off: %s", why);
        return 0;
    }
    int count = 0;
    if (no_new_privileges (err) || restrict_to (abi, directories ? directories : "", &count, err))
        return -1;
    snprintf (walls->landlock, sizeof walls->landlock, "abi %ld: read below %d directories", abi,
              count);
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
