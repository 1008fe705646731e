/*  err - the one error type: a code and a sentence, filled into the caller's struct.
 *
 *  Every function that can fail for a reason outside this program takes a `struct ag_err *` as its
 *  last argument, never NULL, and returns 0 or -1 (a constructor: the object or NULL). On success it
 *  is untouched; on failure other outputs are undefined. The hint belongs to the code (errors.def).
 *  Who returns an error does not log it; who handles it logs it once. Failing never allocates.
 *  Our own bugs and lack of memory are assertions: the process ends, its parent starts it again.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_ERR_H
#define AG_ERR_H
#include <stdbool.h>

enum ag_code {
    AG_OK,
#define ERR(code, name, status, retryable, hint) AG_E_##code,
#include "schemas/errors.def"
    AG_CODES
};

struct ag_err {
    enum ag_code code;
    char text[400]; //  what happened, with the value that was wrong
};

//  Fill err and return -1, so that `return ag_fail (err, AG_E_X, "...")` reads as one thought.
int ag_fail (struct ag_err *err, enum ag_code code, const char *format, ...)
    __attribute__ ((format (printf, 3, 4)));

//  Clang's analyzer sees one file at a time: without this it goes on after a failure as if there was none.
#ifdef __clang_analyzer__
#define ag_fail(...) ((void)(ag_fail)(__VA_ARGS__), -1)
#endif

//  Put "context: " in front of the text that err holds; returns -1.
int ag_wrap (struct ag_err *err, const char *format, ...) __attribute__ ((format (printf, 2, 3)));

//  Facts of a code, from the table. The name is the word of --json and of the wire.
const char *ag_code_name (enum ag_code code);
const char *ag_code_hint (enum ag_code code);
int ag_code_status (enum ag_code code);
bool ag_code_retryable (enum ag_code code);

//  The code of a name that came over the wire; AG_E_FAILED for a name this build does not know.
enum ag_code ag_code_of (const char *name, unsigned long length);
#endif
