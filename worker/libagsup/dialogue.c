//  dialogue - what a program says and hears, in its order.
//  SPDX-License-Identifier: Apache-2.0
#include "worker/libagsup/inside.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int
greet (agsup_t *self, const char *form, va_list *args, struct ag_str *said)
{
    struct ag_answer request;
    const char *nonce = getenv ("AGSUP_NONCE");
    if (ag_settle (self) || ag_line_open (&self->line, getenv ("AGSUP_WORKER"), &self->err))
        return -1;
    ag_begin (self, &request, "hello");
    ag_answer_key (&request, "protocol");
    ag_put_uint (&self->frame, 1);
    ag_answer_key (&request, "nonce");
    ag_put_lit (&self->frame, nonce ? nonce : "");
    if (self->behaviors.count)
        ag_add_pile (&request, "behaviors", &self->behaviors);
    if (self->behaviors.count && self->tools.count)
        ag_add_pile (&request, "tools", &self->tools);
    if (ag_add_fields (self, &request, form, args) || ag_send (self, &request))
        return -1;
    return ag_receive (self, said) ? -1 : ag_expect (self, *said, "welcome");
}

int
agsup_connect (agsup_t *self, struct agsup_value *welcome, const char *form, ...)
{
    struct ag_str said;
    va_list args;
    va_start (args, form);
    int rc = ag_due (self, AG_IN (AG_NEW), "agsup_connect");
    rc = rc ? rc : greet (self, form, &args, &said);
    va_end (args);
    if (rc) {
        ag_line_close (&self->line);
        return -1;
    }
    self->at = self->behaviors.count ? AG_READY : AG_REGISTERING;
    struct ag_str all = ag_hand_over (self, AG_WELCOME);
    if (welcome)
        *welcome = ag_value_of (all);
    return 0;
}

static int
sign_up (agsup_t *self, const char *form, va_list *args)
{
    struct ag_answer request;
    struct ag_str said;
    if (ag_settle (self))
        return -1;
    ag_begin (self, &request, "register");
    ag_add_pile (&request, "behaviors", &self->behaviors);
    ag_add_pile (&request, "tools", &self->tools);
    if (ag_add_fields (self, &request, form, args) || ag_send (self, &request))
        return -1;
    return ag_receive (self, &said) ? -1 : ag_expect (self, said, "ok");
}

int
agsup_register (agsup_t *self, const char *form, ...)
{
    va_list args;
    va_start (args, form);
    int rc = ag_due (self, AG_IN (AG_REGISTERING), "agsup_register");
    rc = rc ? rc : sign_up (self, form, &args);
    va_end (args);
    if (!rc)
        self->at = AG_READY;
    return rc;
}

static int
ask_next (agsup_t *self, struct ag_str *said)
{
    struct ag_answer request;
    ag_begin (self, &request, "next");
    return ag_send (self, &request) ? -1 : ag_receive (self, said);
}

//  What was handed in could not be committed: the invocation fails of that.
static int
give_up (agsup_t *self)
{
    struct ag_err why = self->err;
    self->at = AG_OPEN;
    if (self->line.lost || agsup_fail (self, "{'type': %s, 'message': %s, 'traceback': ''}",
                                       ag_code_name (why.code), why.text))
        return -1;
    return 0;
}

//  The answer to agsup_done, which most often is what comes next; else `next` is due.
static int
take_done (agsup_t *self, struct ag_str *said)
{
    if (ag_receive (self, said) && give_up (self))
        return -1;
    if (self->at == AG_SENT && (ag_str_is (*said, "invoke") || ag_str_is (*said, "stop")))
        return 0;
    self->at = AG_READY;
    return ask_next (self, said);
}

int
agsup_next (agsup_t *self, struct agsup_value *job)
{
    struct ag_str said;
    if (ag_due (self, AG_IN (AG_READY) | AG_IN (AG_SENT), "agsup_next"))
        return -1;
    ag_forget (&self->kept);
    self->begun = true;
    if (self->at == AG_SENT ? take_done (self, &said) : ask_next (self, &said))
        return -1;
    self->at = AG_READY;
    if (ag_str_is (said, "stop")) {
        self->at = AG_STOPPED;
        return 0;
    }
    if (ag_expect (self, said, "invoke"))
        return -1;
    self->at = AG_OPEN;
    *job = ag_value_of (ag_hand_over (self, AG_JOB));
    return 1;
}

int
agsup_get (agsup_t *self, struct agsup_value *answer, const char *form, ...)
{
    struct ag_str said;
    va_list args;
    va_start (args, form);
    int rc = ag_due (self, AG_IN (AG_OPEN), "agsup_get");
    rc = rc ? rc : ag_ask (self, "get", form, &args, &said);
    va_end (args);
    if (!rc)
        *answer = ag_value_of (ag_hand_over (self, AG_READ));
    return rc;
}

//  What a record of an effect holds: its output, or its error. One without either gave null.
static int
record (struct ag_str fields, struct agsup_value *output)
{
    struct ag_str error, given = AG_LIT ("\xc0");
    if (!ag_map_get (fields, "error", &error) && ag_kind_of (error) != AG_NULL) {
        *output = ag_value_of (error);
        return AGSUP_FAILED;
    }
    ag_map_get (fields, "output", &given);
    *output = ag_value_of (given);
    return AGSUP_RESULT;
}

int
agsup_effect (agsup_t *self, struct agsup_value *output, const char *form, ...)
{
    struct ag_str said;
    va_list args;
    va_start (args, form);
    int rc = ag_due (self, AG_IN (AG_OPEN), "agsup_effect");
    rc = rc ? rc : ag_ask (self, "effect", form, &args, &said);
    va_end (args);
    if (rc)
        return -1;
    if (ag_str_is (said, "go")) {
        self->at = AG_GOING;
        return AGSUP_GO;
    }
    bool no = ag_str_is (said, "refused");
    if (!no && ag_expect (self, said, "result"))
        return -1;
    struct ag_str answer = ag_hand_over (self, AG_GIVEN);
    if (!no)
        return record (answer, output);
    *output = ag_value_of (answer);
    return AGSUP_REFUSED;
}

int
agsup_outcome (agsup_t *self, struct agsup_value *output, const char *form, ...)
{
    struct ag_str said;
    va_list args;
    va_start (args, form);
    int rc = ag_due (self, AG_IN (AG_GOING), "agsup_outcome");
    rc = rc ? rc : ag_ask (self, "outcome", form, &args, &said);
    va_end (args);
    if (rc || ag_expect (self, said, "ok"))
        return -1;
    struct ag_buf spare = self->made;
    self->made = self->fields;
    self->fields = spare;
    self->at = AG_OPEN;
    return record (ag_buf_str (&self->made), output);
}

static void
clear_ops (agsup_t *self)
{
    ag_buf_clear (&self->ops.bytes);
    self->ops.count = 0;
}

int
agsup_done (agsup_t *self)
{
    struct ag_answer request;
    if (ag_due (self, AG_IN (AG_OPEN), "agsup_done"))
        return -1;
    ag_begin (self, &request, "done");
    ag_add_pile (&request, "ops", &self->ops);
    ag_answer_key (&request, "next");
    ag_put_bool (&self->frame, true);
    clear_ops (self);
    if (ag_settle (self) || ag_send (self, &request))
        return -1;
    self->at = AG_SENT;
    return 0;
}

static int
give_in (agsup_t *self, const char *form, va_list *args)
{
    struct ag_answer request;
    struct ag_str said;
    self->spoilt = (struct ag_err){0};
    clear_ops (self);
    ag_buf_clear (&self->fields);
    if (ag_form_fill (form, args, &self->fields, &self->err))
        return -1;
    ag_begin (self, &request, "fail");
    ag_answer_key (&request, "error");
    ag_put_value (&self->frame, ag_buf_str (&self->fields));
    if (ag_send (self, &request) || ag_receive (self, &said))
        return -1;
    return ag_expect (self, said, "ok");
}

int
agsup_fail (agsup_t *self, const char *form, ...)
{
    va_list args;
    va_start (args, form);
    unsigned open = AG_IN (AG_OPEN) | AG_IN (AG_GOING);
    int rc = ag_due (self, open | AG_IN (AG_REGISTERING), "agsup_fail");
    rc = rc ? rc : give_in (self, form, &args);
    va_end (args);
    if (!rc)
        self->at = AG_READY;
    return rc;
}

int
agsup_log (agsup_t *self, const char *level, const char *format, ...)
{
    struct ag_answer request;
    struct ag_str said;
    char *line = NULL;
    va_list args;
    va_start (args, format);
    int n = vasprintf (&line, format, args);
    va_end (args);
    if (n < 0)
        return ag_fail (&self->err, AG_E_BAD_VALUE, "agsup_log: %s", strerror (errno));
    int rc = ag_due (self, ~(AG_IN (AG_NEW) | AG_IN (AG_SENT)), "agsup_log");
    ag_begin (self, &request, "log");
    ag_put_pair_text (&self->frame, "level", ag_str (level));
    ag_put_pair_text (&self->frame, "text", (struct ag_str){line, (size_t)n});
    request.pairs += 2;
    rc = rc || ag_send (self, &request) || ag_receive (self, &said) ? -1
                                                                    : ag_expect (self, said, "ok");
    free (line);
    return rc;
}
