//  SPDX-License-Identifier: Apache-2.0
#include "common/heard.h"
#include "common/near.h"

static const struct {
    const char *name;
    bool queued;
} types[] = {
#define EVENT(NAME, type, writer, queued, lifecycle, doc) {type, queued},
#define FAMILY(prefix, writer, queued, lifecycle)
#include "schemas/events.def"
};

static const char *const families[] = {
#define EVENT(NAME, type, writer, queued, lifecycle, doc)
#define FAMILY(prefix, writer, queued, lifecycle) prefix,
#include "schemas/events.def"
};

enum { TYPES = sizeof types / sizeof *types, FAMILIES = sizeof families / sizeof *families };

static const char *
nearest (struct ag_str type, enum ag_hearer hearer)
{
    const char *names[TYPES];
    for (size_t i = 0; i < TYPES; i++)
        names[i] = types[i].queued || hearer == AG_OTHER_AGENT ? types[i].name : NULL;
    return ag_near (type, names, TYPES);
}

bool
ag_heard (struct ag_str type, enum ag_hearer hearer, struct ag_buf *why)
{
    size_t family = 0;
    for (size_t i = 0; i < TYPES; i++)
        if (ag_str_is (type, types[i].name)) {
            if (types[i].queued || hearer == AG_OTHER_AGENT)
                return true;
            ag_buf_text (why, "`%s` is given to no behavior; another agent can have it by `hears`",
                         types[i].name);
            return false;
        }
    while (family < FAMILIES && !ag_str_starts (type, families[family]))
        family++;
    if (family == FAMILIES)
        return true;
    const char *near = nearest (type, hearer);
    ag_buf_text (why, "`%.*s` never comes: the house alone has types in %s*%s%s%s",
                 AG_STR_ARG (type), families[family], near ? "; did you mean `" : "",
                 near ? near : "", near ? "`?" : "");
    return false;
}
