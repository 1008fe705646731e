/*  forms - texts of a fixed form: names, versions and ranges of packs, hashes. ASCII, and the whole text.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_FORMS_H
#define AG_FORMS_H
#include "common/buf.h"

//  The name of a pack: [a-z][a-z0-9_]{1,63}
bool ag_is_name (struct ag_str text);
//  The core of PEP 440: [v]1.2.3, then a1, b1 or rc1, .post1, .dev1, +local.1
bool ag_is_version (struct ag_str text);
//  What versions are meant, between commas: >=1.4,<2.0 (~= == != <= >= < > ===)
bool ag_is_range (struct ag_str text);
//  sha256: and 64 digits, lower case
bool ag_is_hash (struct ag_str text);
#endif
