//  SPDX-License-Identifier: Apache-2.0
#include "broker/admit.h"
#include "common/proc.h"

int
ag_admit (const struct ag_peer *peer, pid_t nursery, int64_t accepted_ms, struct ag_err *err)
{
    struct ag_proc proc;
    if (peer->pid <= 0)
        return ag_fail (err, AG_E_NOT_ALLOWED, "a connection of an unknown process");
    if (ag_proc_read (peer->pid, &proc, err))
        return -1;
    if (accepted_ms < 0 || proc.started_ms > accepted_ms)
        return ag_fail (err, AG_E_NOT_ALLOWED, "process %d is younger than its connection",
                        (int)peer->pid);
    int descends = ag_proc_descends (peer->pid, nursery, err);
    if (descends > 0)
        return ag_fail (err, AG_E_NOT_ALLOWED, "process %d belongs to the fleet", (int)peer->pid);
    return descends;
}
