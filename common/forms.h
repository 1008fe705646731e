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
//  Take the next of its specifiers off a range that is not empty; false when none is left. prefix: 1.2.* was written.
enum ag_operator {
    AG_SAME_TEXT,
    AG_COMPATIBLE,
    AG_EQUAL,
    AG_OTHER,
    AG_AT_MOST,
    AG_AT_LEAST,
    AG_BELOW,
    AG_ABOVE,
    AG_NO_OPERATOR
};
struct ag_specifier {
    enum ag_operator is;
    struct ag_str version;
    bool prefix;
};
bool ag_specifier_next (struct ag_str *rest, struct ag_specifier *one);
//  sha256: and 64 digits, lower case
bool ag_is_hash (struct ag_str text);
#endif
