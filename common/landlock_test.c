//  What each version holds, by the table and by this kernel, which keeps to any version that it is older than.
//  SPDX-License-Identifier: Apache-2.0
#include "common/landlock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

enum { NEWEST = 6 };

//  files: how many of the kernel's rights, from the first on.
static const struct {
    int abi, files;
    uint64_t net, scoped;
    const char *gaps, *without_tcp;
} versions[] = {
    {0, 0, 0, 0, NULL, NULL},
    {1, 13, 0, 0, "; leaves open: truncating, TCP, device ioctls, signals, abstract sockets",
     "; leaves open: truncating, device ioctls, signals, abstract sockets"},
    {2, 14, 0, 0, "; leaves open: truncating, TCP, device ioctls, signals, abstract sockets",
     "; leaves open: truncating, device ioctls, signals, abstract sockets"},
    {3, 15, 0, 0, "; leaves open: TCP, device ioctls, signals, abstract sockets",
     "; leaves open: device ioctls, signals, abstract sockets"},
    {4, 15, 3, 0, "; leaves open: device ioctls, signals, abstract sockets",
     "; leaves open: device ioctls, signals, abstract sockets"},
    {5, 16, 3, 0, "; leaves open: signals, abstract sockets",
     "; leaves open: signals, abstract sockets"},
    {NEWEST, 16, 3, 3, "", ""},
    {NEWEST + 1, 16, 3, 3, "", ""}, //  one that is not known here
};

static void
each_version_refuses_what_it_can_and_says_what_it_leaves_open (void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof versions / sizeof *versions; i++) {
        struct ag_landlock all = ag_landlock_all (versions[i].abi);
        assert_int_equal (all.files, (1u << versions[i].files) - 1);
        assert_int_equal (all.net, versions[i].net);
        assert_int_equal (all.scoped, versions[i].scoped);
        for (int tcp = 0; versions[i].gaps && tcp < 2; tcp++) {
            char gaps[AG_LANDLOCK_GAPS];
            ag_landlock_gaps (versions[i].abi, tcp, gaps);
            assert_string_equal (gaps, tcp ? versions[i].gaps : versions[i].without_tcp);
        }
    }
}

//  What a child tries: the errno that stopped it, or 0.
typedef int try_fn (void);

static char file[] = "/tmp/agsup-landlock-XXXXXX";
static struct sockaddr_in port;
static struct sockaddr_un abstract = {.sun_family = AF_UNIX};
static int listeners[2];

static int
failed (int rc)
{
    return rc < 0 ? errno : 0;
}

static int
opens (void)
{
    return failed (open (file, O_RDONLY | O_CLOEXEC));
}

static int
truncates (void)
{
    return failed (truncate (file, 0));
}

static int
connects_by_tcp (void)
{
    int fd = socket (AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    return failed (connect (fd, (struct sockaddr *)&port, sizeof port));
}

//  No terminal, which only who may ask is told.
static int
controls_a_device (void)
{
    struct termios termios;
    int fd = open ("/dev/null", O_RDWR | O_CLOEXEC);
    int error = failed (ioctl (fd, TCGETS, &termios));
    return error == ENOTTY ? 0 : error;
}

static int
signals_its_parent (void)
{
    return failed (kill (getppid(), 0));
}

static int
connects_to_an_abstract_socket (void)
{
    int fd = socket (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    return failed (connect (fd, (struct sockaddr *)&abstract, sizeof abstract));
}

static const struct {
    try_fn *fn;
    int since;
} tries[] = {{opens, 1},
             {truncates, 3},
             {connects_by_tcp, 4},
             {controls_a_device, 5},
             {signals_its_parent, 6},
             {connects_to_an_abstract_socket, 6}};

enum { NO_RULES = 200 };

//  In a child that reads and writes /dev/null and reaches nothing else.
static int
try_behind (int abi, try_fn *fn)
{
    struct ag_landlock all = ag_landlock_all (abi);
    int rules = ag_landlock_rules (abi, &all), null = open ("/dev/null", O_PATH | O_CLOEXEC);
    if (rules < 0 || ag_landlock_allow (rules, null, AG_LANDLOCK_READ | AG_LANDLOCK_WRITE) ||
        prctl (PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || ag_landlock_enter (rules))
        return NO_RULES;
    return fn();
}

static void
each_version_up_to_this_kernels_holds_what_it_says_and_no_more (void **state)
{
    (void)state;
    int newest = ag_landlock_abi(), status;
    if (newest < 1) {
        print_message ("skipped: this kernel has no Landlock\n");
        skip();
    }
    for (int abi = 1; abi <= newest && abi <= NEWEST; abi++)
        for (size_t i = 0; i < sizeof tries / sizeof *tries; i++) {
            pid_t pid = fork();
            if (pid == 0)
                _exit (try_behind (abi, tries[i].fn));
            assert_int_equal (waitpid (pid, &status, 0), pid);
            int error = WIFEXITED (status) ? WEXITSTATUS (status) : NO_RULES;
            bool refused = error == EACCES || error == EPERM;
            if ((error && !refused) || refused != (abi >= tries[i].since))
                fail_msg ("version %d, attempt %zu: %d", abi, i, error);
        }
}

static int
make (void **state)
{
    socklen_t size = sizeof port;
    (void)state;
    close (mkstemp (file));
    snprintf (abstract.sun_path + 1, sizeof abstract.sun_path - 1, "agsup-landlock-%d", getpid());
    port.sin_family = AF_INET;
    port.sin_addr.s_addr = htonl (INADDR_LOOPBACK);
    listeners[0] = socket (AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    listeners[1] = socket (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    return bind (listeners[0], (struct sockaddr *)&port, sizeof port) ||
           bind (listeners[1], (struct sockaddr *)&abstract, sizeof abstract) ||
           listen (listeners[0], 64) || listen (listeners[1], 64) ||
           getsockname (listeners[0], (struct sockaddr *)&port, &size);
}

static int
sweep (void **state)
{
    (void)state;
    close (listeners[0]);
    close (listeners[1]);
    return unlink (file);
}

int
main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (each_version_refuses_what_it_can_and_says_what_it_leaves_open),
        cmocka_unit_test (each_version_up_to_this_kernels_holds_what_it_says_and_no_more),
    };
    return cmocka_run_group_tests (tests, make, sweep);
}
