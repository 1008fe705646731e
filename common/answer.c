//  SPDX-License-Identifier: Apache-2.0
#include "common/answer.h"

#include <string.h>

struct ag_answer
ag_answer_begin (struct ag_buf *out, const char *word, struct ag_str id)
{
    struct ag_answer self = {out, ag_open_map (out), 0};
    ag_answer_key (&self, "do");
    ag_put_lit (out, word);
    if (id.p) {
        ag_answer_key (&self, "id");
        ag_put_text (out, id);
    }
    return self;
}

void
ag_answer_key (struct ag_answer *self, const char *key)
{
    ag_put_lit (self->out, key);
    self->pairs++;
}

void
ag_answer_end (struct ag_answer *self)
{
    ag_close (self->out, self->at, self->pairs);
}

void
ag_answer_ok (struct ag_buf *out, struct ag_str id)
{
    struct ag_answer answer = ag_answer_begin (out, "ok", id);
    ag_answer_end (&answer);
}

//  An error text may quote a stranger's bytes, or end in the middle of a letter.
static void
put_message (struct ag_buf *out, const char *text)
{
    char clean[sizeof ((struct ag_err *)0)->text];
    struct ag_str message = ag_str (text);
    if (!ag_utf8 (message)) {
        for (size_t i = 0; i < message.n; i++)
            clean[i] = (unsigned char)text[i] < 0x80 ? text[i] : '?';
        message.p = clean;
    }
    ag_put_text (out, message);
}

void
ag_answer_error (struct ag_buf *out, struct ag_str id, const struct ag_err *err)
{
    struct ag_answer answer = ag_answer_begin (out, "error", id);
    ag_answer_key (&answer, "code");
    ag_put_lit (out, ag_code_name (err->code));
    ag_answer_key (&answer, "message");
    put_message (out, err->text);
    ag_answer_key (&answer, "hint");
    ag_put_lit (out, ag_code_hint (err->code));
    ag_answer_key (&answer, "retryable");
    ag_put_bool (out, ag_code_retryable (err->code));
    ag_answer_end (&answer);
}

int
ag_answer_read (struct ag_str answer, struct ag_str *word, struct ag_err *err)
{
    struct ag_str code, message;
    if (ag_map_text (answer, "do", word))
        return ag_fail (err, AG_E_BAD_MESSAGE, "%zu bytes that are no answer", answer.n);
    if (!ag_str_is (*word, "error"))
        return 0;
    if (ag_map_text (answer, "code", &code) || ag_map_text (answer, "message", &message))
        return ag_fail (err, AG_E_BAD_MESSAGE, "an error answer without code and message");
    enum ag_code known = ag_code_of (code.p, code.n);
    return ag_fail (err, known == AG_OK ? AG_E_FAILED : known, "%.*s", AG_STR_ARG (message));
}
