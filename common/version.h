/*  version - versions of packs in order, and whether a range holds one: PEP 440 as far as forms.h takes it.
 *
 *  A version that is not final is held against a range like any other: what is there is there.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_VERSION_H
#define AG_VERSION_H
#include "common/buf.h"

//  Both are versions (forms.h): <0, 0, >0. Parts that are not said are 0, and a local name counts last.
int ag_version_cmp (struct ag_str a, struct ag_str b);
//  Every specifier of the range holds for the version.
bool ag_version_fits (struct ag_str version, struct ag_str range);
#endif
