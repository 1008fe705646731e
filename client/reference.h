/*  reference - the pages of docs/reference: what the tables say, for people.
 *
 *  A page is Markdown that is also read in a terminal: `agsup help TOPIC`. docs/reference holds the same bytes.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_REFERENCE_H
#define AG_REFERENCE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

//  The name and title of a page, from 0 on; NULL after the last.
const char *ag_reference_topic (size_t number, const char **title);
//  Print a page to out; false when there is no such topic.
bool ag_reference (const char *topic, FILE *out);
#endif
