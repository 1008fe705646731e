//  form - templates: what a conversion stands for.
//  SPDX-License-Identifier: Apache-2.0
#include "worker/libagsup/inside.h"

#include <math.h>
#include <string.h>

//  One argument, as its conversion says.
typedef int put_fn (va_list *list, struct ag_buf *out, struct ag_err *err);

static int
add_text (struct ag_str text, struct ag_buf *out, struct ag_err *err)
{
    if (!text.p)
        return ag_fail (err, AG_E_BAD_VALUE, "a text that is NULL");
    if (!ag_utf8 (text))
        return ag_fail (err, AG_E_BAD_VALUE, "a text that is not UTF-8");
    ag_put_text (out, text);
    return 0;
}

static int
put_text (va_list *list, struct ag_buf *out, struct ag_err *err)
{
    const char *p = va_arg (*list, const char *);
    return add_text ((struct ag_str){p, p ? strlen (p) : 0}, out, err);
}

static int
put_part (va_list *list, struct ag_buf *out, struct ag_err *err)
{
    int n = va_arg (*list, int);
    const char *p = va_arg (*list, const char *);
    if (n < 0)
        return ag_fail (err, AG_E_BAD_VALUE, "a text of %d bytes", n);
    return add_text ((struct ag_str){p, (size_t)n}, out, err);
}

static int
put_bool (va_list *list, struct ag_buf *out, struct ag_err *err)
{
    (void)err;
    ag_put_bool (out, va_arg (*list, int) != 0);
    return 0;
}

static int
put_number (va_list *list, struct ag_buf *out, struct ag_err *err)
{
    double f = va_arg (*list, double);
    if (!isfinite (f))
        return ag_fail (err, AG_E_BAD_VALUE, "a number that is not finite");
    ag_put_float (out, f);
    return 0;
}

static int
put_value (va_list *list, struct ag_buf *out, struct ag_err *err)
{
    const struct agsup_value *value = va_arg (*list, const void *);
    struct ag_cursor in = ag_cursor (value ? ag_bytes_of (*value) : (struct ag_str){0});
    struct ag_str whole;
    if (ag_take (&in, &whole) || in.p != in.end)
        return ag_fail (err, AG_E_BAD_VALUE, "a value that is none");
    ag_put_value (out, whole);
    return 0;
}

#define WHOLE(name, type, put)                                                                     \
    static int name (va_list *list, struct ag_buf *out, struct ag_err *err)                        \
    {                                                                                              \
        (void)err;                                                                                 \
        put (out, va_arg (*list, type));                                                           \
        return 0;                                                                                  \
    }
WHOLE (put_int, int, ag_put_int)
WHOLE (put_long, long, ag_put_int)
WHOLE (put_long_long, long long, ag_put_int)
WHOLE (put_unsigned, unsigned, ag_put_uint)
WHOLE (put_unsigned_long, unsigned long, ag_put_uint)
WHOLE (put_unsigned_long_long, unsigned long long, ag_put_uint)
WHOLE (put_size, size_t, ag_put_uint)

//  None begins with another.
static const struct {
    const char *conversion;
    put_fn *put;
} table[] = {
    {"s", put_text},     {".*s", put_part},         {"d", put_int},
    {"u", put_unsigned}, {"lld", put_long_long},    {"llu", put_unsigned_long_long},
    {"ld", put_long},    {"lu", put_unsigned_long}, {"zu", put_size},
    {"g", put_number},   {"hhd", put_bool},         {"p", put_value},
};

static int
fill (void *arg, const char **p, const char *end, struct ag_buf *out, struct ag_err *err)
{
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        size_t n = strlen (table[i].conversion);
        if ((size_t)(end - *p) < n || memcmp (*p, table[i].conversion, n))
            continue;
        *p += n;
        return table[i].put (arg, out, err);
    }
    return ag_fail (err, AG_E_BAD_VALUE,
                    "a conversion that is none of %%s %%.*s %%d %%u %%ld %%lu %%lld %%llu %%zu %%g "
                    "%%hhd %%p");
}

int
ag_form_fill (const char *form, va_list *args, struct ag_buf *out, struct ag_err *err)
{
    if (!form)
        return ag_fail (err, AG_E_BAD_VALUE, "a template that is NULL");
    return ag_json_fill (ag_str (form), fill, args, out, err);
}
