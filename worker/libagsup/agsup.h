/*  agsup - the worker protocol for programs in C: an agent is a loop of agsup_next and agsup_done.
 *
 *      agsup_t *link = agsup_new ();
 *      struct agsup_value job;
 *      agsup_behavior (link, "{'name': 'greet', 'on': ['goal.created']}");
 *      agsup_connect (link, NULL, "{'name': 'greeter'}");
 *      while (agsup_next (link, &job) == 1) {
 *          const char *goal = agsup_text (link, job, "event.payload.goal", "");
 *          agsup_op (link, "{'op': 'add_object', 'type': 'greeting', 'data': {'text': %s}}", goal);
 *          agsup_done (link);
 *      }
 *
 *  Errors: an int is -1 on failure, and agsup_code and agsup_message say why. Nothing here prints or ends the process,
 *  but lack of memory does (as in libzmq, below). Nothing is global; a link is for one thread at once. Only agsup_next,
 *  _get, _effect, _outcome, _fail, _log, _connect and _register wait, each for one answer; a signal does not end that.
 *  Numbers in JSON need the decimal point of the "C" locale (LC_NUMERIC).
 *
 *  Templates (`form`): JSON in which texts may also stand in single quotes, and a conversion where a value or key may
 *  stand: %s or %.*s a text (UTF-8; quoted for you), %d %u %ld %lu %lld %llu %zu a whole number, %g a number, %hhd true
 *  or false, %p a `const struct agsup_value *`. The fields are those of the request in schemas/messages.def.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AGSUP_H
#define AGSUP_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#ifdef __GNUC__
#define AGSUP_FORM(form, first) __attribute__ ((format (printf, form, first)))
#else
#define AGSUP_FORM(form, first)
#endif

typedef struct agsup agsup_t;

//  A borrowed value: the bytes of one msgpack value, or none (size 0). An answer lives until the next agsup_get, an
//  output until the next agsup_effect or agsup_outcome, a job until agsup_next, a welcome as long as the link.
struct agsup_value {
    const void *bytes;
    size_t size;
};

//  Never NULL. Whoever made it destroys it; NULL is left alone.
agsup_t *agsup_new (void);
void agsup_destroy (agsup_t **self_p);
//  Why the last call that failed did: a word ("too_large", "not_allowed"; "no_supervisor": the link is lost and does
//  not come back, exit), and a sentence. Both are "" before any failure and live until the next one.
const char *agsup_code (const agsup_t *self);
const char *agsup_message (const agsup_t *self);

//  Before agsup_connect (or, when nothing was registered then, before agsup_register): what it reacts to,
//  {name, on, where, …}, and what it offers, {name, schema}. A bad one also fails the call that sends it.
int agsup_behavior (agsup_t *self, const char *form, ...) AGSUP_FORM (2, 3);
int agsup_tool (agsup_t *self, const char *form, ...) AGSUP_FORM (2, 3);
//  Connects to $AGSUP_WORKER and says hello with $AGSUP_NONCE, {name, walls} and what was registered. welcome (NULL:
//  not wanted): {run, agent, fork, settings, limits, packs}.
int agsup_connect (agsup_t *self, struct agsup_value *welcome, const char *form, ...)
    AGSUP_FORM (3, 4);
//  For who learns only from the welcome what to register: {walls}.
int agsup_register (agsup_t *self, const char *form, ...) AGSUP_FORM (2, 3);

//  1: an invocation {invocation, attempt, behavior, event, frame, relation, view, matches, mint, seed, now}, for
//  agsup_done or agsup_fail to end; 0: the supervisor says stop; -1. May wait for days.
int agsup_next (agsup_t *self, struct agsup_value *job);

//  Within an invocation. Reads the graph by {id}, {type, after, limit}, {relations_of, after} or {around, depth}:
//  {objects: [{id, type, data}], relations, more, next}.
int agsup_get (agsup_t *self, struct agsup_value *answer, const char *form, ...) AGSUP_FORM (3, 4);
//  Asks for something outside of the run, {tool, args, idempotent, model, estimate_usd}. AGSUP_RESULT: output is what
//  the record has; AGSUP_FAILED: it has an error, output is {type, message}; AGSUP_REFUSED: it may not be, output is
//  {code, message}; AGSUP_GO: do it and call agsup_outcome, {output} or {error: {type, message}} with {cost_usd}, which
//  answers as the record will from then on.
enum { AGSUP_RESULT, AGSUP_FAILED, AGSUP_REFUSED, AGSUP_GO };
int agsup_effect (agsup_t *self, struct agsup_value *output, const char *form, ...)
    AGSUP_FORM (3, 4);
int agsup_outcome (agsup_t *self, struct agsup_value *output, const char *form, ...)
    AGSUP_FORM (3, 4);
//  Adds one operation (`agsup help apply`) to the invocation's list. A bad one also fails agsup_done.
int agsup_op (agsup_t *self, const char *form, ...) AGSUP_FORM (2, 3);
//  Hands the operations in and does not wait; -1: nothing was handed in, the list is empty, the invocation still
//  open. Operations that the supervisor refuses are behavior.failed in the log, and agsup_next goes on.
int agsup_done (agsup_t *self);
//  Gives the invocation up: {type, message, traceback}; in place of agsup_register: says why it cannot work.
int agsup_fail (agsup_t *self, const char *form, ...) AGSUP_FORM (2, 3);
//  A line for `agsup output`, as printf makes it; level: error, warn, info or debug. Not between agsup_done and
//  agsup_next.
int agsup_log (agsup_t *self, const char *level, const char *format, ...) AGSUP_FORM (3, 4);

//  Values. A path is keys and, from 0, places of lists with dots between them ("objects.0.data.text"); "" is the
//  value itself. What is not there, or is of another kind, gives `otherwise`, and is no error.
enum { AGSUP_NONE, AGSUP_NULL, AGSUP_BOOL, AGSUP_NUMBER, AGSUP_TEXT, AGSUP_LIST, AGSUP_MAP };
int agsup_kind (struct agsup_value in, const char *path);
//  A borrow of in; size 0: there is none.
struct agsup_value agsup_find (struct agsup_value in, const char *path);
//  false is 0 and true is 1, here and as a number; what does not fit gives otherwise.
int64_t agsup_integer (struct agsup_value in, const char *path, int64_t otherwise);
double agsup_number (struct agsup_value in, const char *path, double otherwise);
//  The last three live until the next agsup_next; what was made before the first one, as long as the link.
//  A text ends with NUL; one that holds U+0000 gives otherwise.
const char *agsup_text (agsup_t *self, struct agsup_value in, const char *path,
                        const char *otherwise);
const char *agsup_json (agsup_t *self, struct agsup_value in);
int agsup_parse (agsup_t *self, struct agsup_value *value, const char *json);

//  The elements of a list, or the pairs of a map with their keys (texts; NULL: not wanted), one after the other:
//      for (struct agsup_walk walk = {.of = list}; agsup_walk (&walk, NULL, &element);)
struct agsup_walk {
    struct agsup_value of, rest;
    uint32_t left;
};
bool agsup_walk (struct agsup_walk *walk, struct agsup_value *key, struct agsup_value *element);

#ifdef __cplusplus
}
#endif
#endif
