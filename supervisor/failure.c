//  SPDX-License-Identifier: Apache-2.0
#include "supervisor/failure.h"

static const struct {
    const char *type;
    bool outside;
} house[] = {[AG_FAILED_REFUSED] = {"OperationRefused", false},
             [AG_FAILED_CRASHED] = {"WorkerCrashed", true},
             [AG_FAILED_CONTENTION] = {"Contention", true},
             [AG_FAILED_DIVERGED] = {"EffectDiverged", true},
             [AG_FAILED_NOT_HANDED_OUT] = {"NotHandedOut", true},
             [AG_FAILED_BUDGET] = {"BudgetExhausted", true}};
enum { HOUSE = sizeof house / sizeof *house };

//  Its place in the table; HOUSE: the type is none of the house.
static size_t
find (struct ag_str type)
{
    size_t at = 0;
    while (at < HOUSE && !ag_str_is (type, house[at].type))
        at++;
    return at;
}

struct ag_failure
ag_failure_of (enum ag_failed failed, const char *message, const char *reason)
{
    return (struct ag_failure){.type = ag_str (house[failed].type),
                               .message = ag_str (message),
                               .reason = ag_str (reason)};
}

struct ag_failure
ag_failure_refused (const struct ag_err *why)
{
    return ag_failure_of (AG_FAILED_REFUSED, why->text, ag_code_name (why->code));
}

struct ag_failure
ag_failure_own (struct ag_str error)
{
    struct ag_failure failure = {.type = AG_LIT ("Error"), .message = AG_LIT ("")};
    struct ag_str type = failure.type;
    ag_map_text (error, "type", &type);
    if (find (type) == HOUSE)
        failure.type = type;
    ag_map_text (error, "message", &failure.message);
    ag_map_text (error, "traceback", &failure.traceback);
    ag_map_text (error, "reason", &failure.reason);
    return failure;
}

bool
ag_failure_is_outside (struct ag_str payload)
{
    struct ag_str type = {0};
    ag_map_text (payload, "exception_type", &type);
    size_t at = find (type);
    return at < HOUSE && house[at].outside;
}
