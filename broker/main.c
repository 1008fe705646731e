/*  agsup-broker - see broker/broker.h. Started by the nursery as `agsup-broker --home DIR` with AGSUP_NONCE.
 *  SPDX-License-Identifier: Apache-2.0
 */
#include "broker/broker.h"
#include "common/filter.h"

#include <stdlib.h>
#include <string.h>

static int
run (struct ag_daemon *daemon, const char *nonce, struct ag_err *err)
{
    ag_broker_t *broker = ag_broker_new (daemon, nonce, err);
    if (!broker)
        return -1;
    int rc = ag_filter_enter (AG_FILTER_BROKER, err);
    if (!rc)
        rc = ag_daemon_run (daemon, err);
    ag_broker_destroy (&broker);
    return rc;
}

int
main (int argc, char **argv)
{
    struct ag_daemon daemon;
    struct ag_err err;
    const char *nonce = getenv ("AGSUP_NONCE");
    if (argc != 3 || strcmp (argv[1], "--home") || !nonce) {
        ag_fail (&err, AG_E_USAGE,
                 "agsup-broker --home DIR, with AGSUP_NONCE, is what the nursery starts");
        return ag_daemon_exit (&err);
    }
    if (ag_daemon_init (&daemon, "agsup-broker", argv[2], &err))
        return ag_daemon_exit (&err);
    int rc = run (&daemon, nonce, &err);
    ag_daemon_fini (&daemon);
    return rc ? ag_daemon_exit (&err) : 0;
}
