/*  infant - what a child of the nursery does before it has a program.
 *
 *  The steps stand in schemas/steps.def and are taken in that order. Private to birth.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_INFANT_H
#define AG_INFANT_H
#include "supervisor/nursery/birth.h"
#include "supervisor/nursery/image.h"

struct ag_infant {
    const struct ag_birth *birth;
    struct ag_spawn_request request; //  its layers: those still to be raised
    pid_t nursery;
    uid_t uid; //  of the nursery, for a user namespace, from inside which it cannot be asked
    gid_t gid;
    int image, report, output[2];
    uint64_t namespaces; //  clone flags
    bool grouped;        //  born into its control group
    //  what the steps find
    struct ag_strings strings;
    char *program;
    int executable; //  opened while everything could still be reached
};

//  Become the program of the request, or report why not and end.
_Noreturn void ag_infant_grow (struct ag_infant *self);
//  The layers that go when one is refused, as bits: what a control group holds goes with it.
uint32_t ag_infant_lost (int layer);
#endif
