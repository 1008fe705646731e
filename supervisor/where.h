/*  where - the filter of a behaviour over the payload of an event.
 *
 *  A map of dotted paths. A value that is no map is compared for equality; a map is {operator: value, …} and
 *  every operator has to hold. Operators: == != < <= > >= in "not in". What is not there counts as null. Numbers
 *  are compared by value, a bool is none; an order is of two numbers or of two texts, else it does not hold.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_WHERE_H
#define AG_WHERE_H
#include "common/value.h"

enum ag_compare { AG_EQ, AG_NE, AG_LT, AG_LE, AG_GT, AG_GE };
//  Value p NULL: not there.
bool ag_compare (struct ag_str value, enum ag_compare op, struct ag_str with);

//  A normal value. AG_E_BAD_MESSAGE names what is unknown or does not fit.
int ag_where_check (struct ag_str where, struct ag_err *err);
//  Of a checked filter.
bool ag_where_holds (struct ag_str where, struct ag_str payload);
#endif
