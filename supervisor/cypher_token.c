//  SPDX-License-Identifier: Apache-2.0
#include "supervisor/cypher_token.h"

static bool
is_letter (char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool
is_digit (char c)
{
    return c >= '0' && c <= '9';
}

//  NUL past the end.
static char
peek (const struct ag_tokens *self, size_t at)
{
    return at < self->all.n ? self->all.p[at] : 0;
}

static size_t
end_of_name (const struct ag_tokens *self, size_t at)
{
    while (is_letter (peek (self, at)) || is_digit (peek (self, at)) ||
           (peek (self, at) == '.' && is_letter (peek (self, at + 1))))
        at++;
    return at;
}

//  As far as it may be one; json decides.
static size_t
end_of_number (const struct ag_tokens *self, size_t at)
{
    for (char before = 0, c; (c = peek (self, at)); before = c, at++)
        if (!is_digit (c) && c != '.' && c != 'e' && c != 'E' &&
            !((c == '+' || c == '-') && (before == 'e' || before == 'E')))
            break;
    return at;
}

static size_t
end_of_quote (const struct ag_tokens *self, size_t at)
{
    char quote = peek (self, at++);
    while (at < self->all.n && self->all.p[at] != quote)
        at += quote != '`' && self->all.p[at] == '\\' ? 2 : 1;
    return at + 1;
}

//  A sign that is no ASCII is shown whole.
static size_t
end_of_sign (const struct ag_tokens *self, size_t at)
{
    do
        at++;
    while ((peek (self, at) & 0xc0) == 0x80);
    return at;
}

struct ag_tokens
ag_tokens (struct ag_str text)
{
    return (struct ag_tokens){.all = text};
}

static enum ag_token_kind
kind_of (const struct ag_tokens *self, size_t at)
{
    char c = peek (self, at);
    return at >= self->all.n       ? AG_TOKEN_END
           : is_letter (c)         ? AG_TOKEN_NAME
           : is_digit (c)          ? AG_TOKEN_NUMBER
           : c == '`'              ? AG_TOKEN_QUOTED
           : c == '\'' || c == '"' ? AG_TOKEN_STRING
                                   : AG_TOKEN_SIGN;
}

int
ag_tokens_next (struct ag_tokens *self, struct ag_err *err)
{
    static size_t (*const ends[]) (const struct ag_tokens *, size_t) = {
        [AG_TOKEN_NAME] = end_of_name,     [AG_TOKEN_QUOTED] = end_of_quote,
        [AG_TOKEN_NUMBER] = end_of_number, [AG_TOKEN_STRING] = end_of_quote,
        [AG_TOKEN_SIGN] = end_of_sign,
    };
    size_t at = self->next;
    for (char c; (c = peek (self, at)) == ' ' || c == '\t' || c == '\n' || c == '\r';)
        at++;
    enum ag_token_kind kind = kind_of (self, at);
    size_t end = kind == AG_TOKEN_END ? at : ends[kind](self, at);
    if (end > self->all.n)
        return ag_fail (err, AG_E_BAD_MESSAGE, "`pattern`: the quote at %zu is not closed", at + 1);
    bool quoted = kind == AG_TOKEN_QUOTED;
    self->token = (struct ag_token){kind, {self->all.p + at + quoted, end - at - 2 * quoted}, at};
    self->next = end;
    return 0;
}
