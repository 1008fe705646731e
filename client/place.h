/*  place - which fleet is meant: its configuration and its home.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_PLACE_H
#define AG_PLACE_H
#include "client/parse.h"

struct ag_place {
    char *config; //  absolute; NULL when none was found
    char *home;   //  absolute; NULL when nothing names one. It need not exist.
};

//  From --home, $AGSUP_HOME, or .agsup beside the configuration; from -c, or the agsup.toml found here or
//  upwards. AG_E_CONFIG when a configuration that was named cannot be read.
int ag_place_find (const struct ag_call *call, struct ag_place *place, struct ag_err *err);
void ag_place_fini (struct ag_place *place);
//  Another program of ours: beside this one, else its name, for PATH to find. The caller frees it.
char *ag_place_program (const char *name);
#endif
