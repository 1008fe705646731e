//  SPDX-License-Identifier: Apache-2.0
#include "common/daemon.h"
#include "common/log.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>

//  As many descriptors as we may have, up to a sane number. libzmq aborts when accept meets the limit, so
//  connections take a part of it only.
static int
raise_files (size_t *connections, struct ag_err *err)
{
    struct rlimit limit;
    if (getrlimit (RLIMIT_NOFILE, &limit))
        return ag_fail (err, AG_E_SYSTEM, "getrlimit: %s", strerror (errno));
    limit.rlim_cur = limit.rlim_max < AG_DAEMON_FILES ? limit.rlim_max : AG_DAEMON_FILES;
    if (limit.rlim_cur < AG_HOME_FILES)
        return ag_fail (err, AG_E_SYSTEM, "the limit of open files is %lu, %d are needed",
                        limit.rlim_cur, AG_HOME_FILES);
    if (setrlimit (RLIMIT_NOFILE, &limit))
        return ag_fail (err, AG_E_SYSTEM, "setrlimit: %s", strerror (errno));
    *connections = limit.rlim_cur / 8;
    return 0;
}

static void
on_signal (void *context, int number)
{
    struct ag_daemon *self = context;
    ag_log (AG_INFO, "signal=%s", strsignal (number));
    if (number != SIGHUP)
        ag_loop_stop (self->loop);
}

int
ag_daemon_init (struct ag_daemon *self, const char *name, const char *home, struct ag_err *err)
{
    *self = (struct ag_daemon){0};
    ag_log_name (name);
    if (prctl (PR_SET_DUMPABLE, 0))
        return ag_fail (err, AG_E_SYSTEM, "PR_SET_DUMPABLE: %s", strerror (errno));
    signal (SIGPIPE, SIG_IGN);
    if (raise_files (&self->connections, err) || ag_home_open (&self->home, home, err))
        return -1;
    self->loop = ag_loop_new();
    if (ag_loop_signals (self->loop, on_signal, self, err)) {
        ag_daemon_fini (self);
        return -1;
    }
    self->context = ag_net_context();
    return 0;
}

void
ag_daemon_fini (struct ag_daemon *self)
{
    ag_loop_destroy (&self->loop);
    if (self->context)
        zmq_ctx_term (self->context);
    ag_home_fini (&self->home);
    *self = (struct ag_daemon){0};
}

int
ag_daemon_run (struct ag_daemon *self, struct ag_err *err)
{
    return ag_loop_run (self->loop, err);
}

int
ag_daemon_exit (const struct ag_err *err)
{
    ag_log_err (AG_ERROR, err, "ended");
    return ag_code_status (err->code);
}
