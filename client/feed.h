/*  feed - lines of an import on their way to the house, a page at a time.
 *
 *  Memory is bounded by a page, whatever the file holds. An import that fails is taken away again, unless
 *  it is worth repeating under the same --request-id.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_FEED_H
#define AG_FEED_H
#include "client/client.h"

struct ag_feed {
    struct ag_client *client;
    const char *file, *word; //  what errors say: FILE: line 7
    char name[65];           //  of the import
    uint64_t page, events;
    struct ag_buf items; //  of the page that is being filled
    uint32_t count;
};

//  Named by --request-id, or else at random. AG_E_USAGE: that is too long.
int ag_feed_begin (struct ag_feed *self, struct ag_client *client, const char *file,
                   const char *word, struct ag_err *err);
//  One line, a map; place is its number in the file.
int ag_feed_line (struct ag_feed *self, uint64_t place, struct ag_str line, struct ag_err *err);
//  Send the rest and show the runs; the answer is ag_import_end's.
int ag_feed_end (struct ag_feed *self, const char *label, struct ag_buf *answer,
                 struct ag_err *err);
//  Whatever happened: free it, and where `why` says that it failed, take away what the house has of it.
void ag_feed_fini (struct ag_feed *self, const struct ag_err *why);
#endif
