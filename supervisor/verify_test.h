/*  verify_test - a verification of what a test has done so far, in steps of a few.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_VERIFY_TEST_H
#define AG_VERIFY_TEST_H
#include "supervisor/core_test.h"
#include "supervisor/verify.h"

//  What is on disk after a commit: chain and state; ended by `ag_verify_fini`.
static inline void
core_walk (struct core *self, uint64_t run, struct ag_verify *verify)
{
    int rc;
    core_commit (self);
    *verify = (struct ag_verify){.run = run, .state = true};
    while ((rc = ag_verify_step (self->store, verify, 7, &self->err)) > 0)
        continue;
    must (self, rc);
}

//  The same, ended; the reason, empty when all is well.
static inline const char *
core_verify (struct core *self, uint64_t run, struct ag_verify *verify)
{
    core_walk (self, run, verify);
    ag_verify_fini (verify);
    return verify->reason;
}

static inline void
core_sound (struct core *self, uint64_t run)
{
    struct ag_verify verify;
    assert_string_equal (core_verify (self, run, &verify), "");
}
#endif
