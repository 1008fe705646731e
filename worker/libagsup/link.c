//  link - requests and their answers. Each request is checked here as the supervisor will check it, since a bad
//  one ends the process.
//  SPDX-License-Identifier: Apache-2.0
#include "common/value_inside.h"
#include "common/wire.h"
#include "worker/libagsup/inside.h"

#include <stdlib.h>
#include <string.h>

struct ag_kept {
    struct ag_kept *next;
    char bytes[];
};

agsup_t *
agsup_new (void)
{
    agsup_t *self = ag_xcalloc (1, sizeof *self);
    for (int i = 0; i < AG_SLOTS; i++)
        zmq_msg_init (&self->slots[i]);
    return self;
}

void
ag_forget (struct ag_kept **list)
{
    while (*list) {
        struct ag_kept *first = *list;
        *list = first->next;
        free (first);
    }
}

void
agsup_destroy (agsup_t **self_p)
{
    agsup_t *self = *self_p;
    if (!self)
        return;
    for (int i = 0; i < AG_SLOTS; i++)
        zmq_msg_close (&self->slots[i]);
    ag_line_close (&self->line);
    ag_buf_fini (&self->behaviors.bytes);
    ag_buf_fini (&self->tools.bytes);
    ag_buf_fini (&self->ops.bytes);
    ag_buf_fini (&self->fields);
    ag_buf_fini (&self->frame);
    ag_buf_fini (&self->made);
    ag_forget (&self->kept);
    ag_forget (&self->kept_for_ever);
    free (self);
    *self_p = NULL;
}

const char *
agsup_code (const agsup_t *self)
{
    return self->err.code == AG_OK ? "" : ag_code_name (self->err.code);
}

const char *
agsup_message (const agsup_t *self)
{
    return self->err.text;
}

//  A text that was cut in the middle of a letter can be sent no more.
static void
end_well (struct ag_err *err)
{
    err->text[ag_utf8_prefix (ag_str (err->text))] = 0;
}

int
ag_failed (agsup_t *self, const struct ag_err *err)
{
    self->err = *err;
    end_well (&self->err);
    return -1;
}

char *
ag_keep (agsup_t *self, size_t n)
{
    struct ag_kept *kept = ag_xmalloc (sizeof *kept + n);
    struct ag_kept **list = self->begun ? &self->kept : &self->kept_for_ever;
    kept->next = *list;
    *list = kept;
    return kept->bytes;
}

int
ag_due (agsup_t *self, unsigned states, const char *call)
{
    static const char *const texts[AG_STATES] = {
        "agsup_connect comes first",
        "agsup_register is due",
        "no invocation is open; agsup_next gives one",
        "an invocation is open; agsup_done or agsup_fail ends it",
        "agsup_outcome of an effect is due",
        "what agsup_done sent is not answered yet; agsup_next comes first",
        "the supervisor has said stop",
    };
    if (ag_line_check (&self->line, &self->err))
        return -1;
    if (states & AG_IN (self->at))
        return 0;
    return ag_fail (&self->err, AG_E_USAGE, "%s is out of turn: %s", call, texts[self->at]);
}

/*  Requests  */

void
ag_begin (agsup_t *self, struct ag_answer *request, const char *word)
{
    ag_buf_clear (&self->frame);
    *request = ag_answer_begin (&self->frame, word, (struct ag_str){0});
}

//  The pairs of a map that a template makes, beside those that are there.
int
ag_add_fields (agsup_t *self, struct ag_answer *request, const char *form, va_list *args)
{
    struct ag_head head;
    ag_buf_clear (&self->fields);
    if (ag_form_fill (form, args, &self->fields, &self->err))
        return -1;
    struct ag_cursor in = ag_cursor (ag_buf_str (&self->fields));
    if (ag_next (&in, &head) || head.kind != AG_MAP)
        return ag_fail (&self->err, AG_E_BAD_VALUE, "a template that is no {…}: %s", form);
    ag_buf_add (&self->frame, in.p, (size_t)(in.end - in.p));
    request->pairs += head.count;
    return 0;
}

void
ag_add_pile (struct ag_answer *request, const char *key, const struct ag_pile *pile)
{
    ag_answer_key (request, key);
    ag_put_list (request->out, pile->count);
    ag_buf_add_str (request->out, ag_buf_str (&pile->bytes));
}

int
ag_send (agsup_t *self, struct ag_answer *request)
{
    struct ag_msg msg;
    struct ag_str frame;
    ag_answer_end (request);
    frame = ag_buf_str (&self->frame);
    if (ag_wire_read (AG_PEER_WORKER, frame, &msg, &self->err))
        return -1;
    return ag_line_send (&self->line, frame, &self->err);
}

//  One frame that is one whole map.
static int
check_answer (struct ag_str answer, int frames, struct ag_err *err)
{
    struct ag_cursor in = ag_cursor (answer);
    struct ag_str whole;
    if (frames == 1 && !ag_take (&in, &whole) && in.p == in.end && ag_kind_of (whole) == AG_MAP)
        return 0;
    return ag_fail (err, AG_E_BAD_MESSAGE,
                    "%d frames, the last of %zu bytes, that are no answer of a supervisor", frames,
                    answer.n);
}

int
ag_receive (agsup_t *self, struct ag_str *word)
{
    int frames;
    zmq_msg_t *msg = &self->slots[AG_ANSWER];
    int rc = ag_line_receive (&self->line, msg, &frames, &self->err);
    rc = rc ? rc : check_answer (ag_content (msg), frames, &self->err);
    rc = rc ? rc : ag_answer_read (ag_content (msg), word, &self->err);
    if (rc)
        end_well (&self->err);
    return rc;
}

int
ag_ask (agsup_t *self, const char *word, const char *form, va_list *args, struct ag_str *said)
{
    struct ag_answer request;
    ag_begin (self, &request, word);
    if (ag_add_fields (self, &request, form, args) || ag_send (self, &request))
        return -1;
    return ag_receive (self, said);
}

int
ag_expect (agsup_t *self, struct ag_str said, const char *word)
{
    if (ag_str_is (said, word))
        return 0;
    ag_fail (&self->err, AG_E_BAD_MESSAGE, "the supervisor answered %.*s where %s was due",
             AG_STR_ARG (said), word);
    end_well (&self->err);
    return -1;
}

struct ag_str
ag_hand_over (agsup_t *self, int slot)
{
    zmq_msg_move (&self->slots[slot], &self->slots[AG_ANSWER]);
    return ag_content (&self->slots[slot]);
}

/*  Lists  */

static int
add (agsup_t *self, struct ag_pile *pile, const char *form, va_list *args)
{
    if (!ag_form_fill (form, args, &pile->bytes, &self->err)) {
        pile->count++;
        return 0;
    }
    if (self->spoilt.code == AG_OK)
        self->spoilt = self->err;
    return -1;
}

int
ag_settle (agsup_t *self)
{
    struct ag_err spoilt = self->spoilt;
    self->spoilt = (struct ag_err){0};
    return spoilt.code == AG_OK ? 0 : ag_failed (self, &spoilt);
}

int
agsup_behavior (agsup_t *self, const char *form, ...)
{
    va_list args;
    va_start (args, form);
    int rc = ag_due (self, AG_IN (AG_NEW) | AG_IN (AG_REGISTERING), "agsup_behavior");
    rc = rc ? rc : add (self, &self->behaviors, form, &args);
    va_end (args);
    return rc;
}

int
agsup_tool (agsup_t *self, const char *form, ...)
{
    va_list args;
    va_start (args, form);
    int rc = ag_due (self, AG_IN (AG_NEW) | AG_IN (AG_REGISTERING), "agsup_tool");
    rc = rc ? rc : add (self, &self->tools, form, &args);
    va_end (args);
    return rc;
}

int
agsup_op (agsup_t *self, const char *form, ...)
{
    va_list args;
    va_start (args, form);
    int rc = ag_due (self, AG_IN (AG_OPEN) | AG_IN (AG_GOING), "agsup_op");
    rc = rc ? rc : add (self, &self->ops, form, &args);
    va_end (args);
    return rc;
}
