//  Any bytes from any side are read or refused; what is read says the same when it is written again.
//  SPDX-License-Identifier: Apache-2.0
#include "common/wire.h"

#include <assert.h>

int LLVMFuzzerTestOneInput (const uint8_t *bytes, size_t n);

int
LLVMFuzzerTestOneInput (const uint8_t *bytes, size_t n)
{
    for (int from = AG_PEER_CLIENT; from <= AG_PEER_BROKER; from++) {
        struct ag_msg msg, again;
        struct ag_err err = {0};
        if (ag_wire_read ((enum ag_side)from, (struct ag_str){(const char *)bytes, n}, &msg,
                          &err)) {
            assert (err.code == AG_E_BAD_MESSAGE || err.code == AG_E_NOT_ALLOWED ||
                    err.code == AG_E_TOO_LARGE);
            continue;
        }
        struct ag_buf once = {0}, twice = {0};
        ag_wire_write (&msg, &once);
        int rc = ag_wire_read ((enum ag_side)from, ag_buf_str (&once), &again, &err);
        assert (rc == 0 && again.type == msg.type);
        ag_wire_write (&again, &twice);
        assert (ag_str_eq (ag_buf_str (&once), ag_buf_str (&twice)));
        ag_buf_fini (&once);
        ag_buf_fini (&twice);
    }
    return 0;
}
