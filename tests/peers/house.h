/*  house - a house around a real agsup-broker: a nursery above it, a supervisor played by the test.
 *
 *  The test is the parent of a small nursery, which is the parent of the broker; so the test may connect as
 *  a client, and what the nursery starts may not.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_TEST_HOUSE_H
#define AG_TEST_HOUSE_H
#include "common/answer.h"
#include "common/home.h"
#include "common/loop.h"
#include "common/net.h"
#include "common/raw_test.h"
#include "common/wire.h"

#include <setjmp.h>
#include <sys/resource.h>
#include <stdarg.h>
#include <cmocka.h>

enum { MB = 1 << 20, SOCKETS = 16 };

struct house {
    char top[32];
    struct ag_home home;
    char token[AG_TOKEN + 1];
    pid_t nursery, broker;
    int command, report; //  pipes to and from the nursery
    void *context, *supervisor, *sockets[SOCKETS];
    int socket_count;
};

//  A broker, and no supervisor yet; files: RLIMIT_NOFILE of the broker, 0 for what there is.
void house_open (struct house *self, rlim_t files);
void house_close (struct house *self);
//  Ends the broker by a signal; its exit status (128 + signal when one ended it).
int house_end_broker (struct house *self, int signal);
//  What a child of the nursery sees that connects: 0 admitted, else refused.
int house_connect_as_worker (struct house *self, const char *socket_path);
//  Resident bytes of the broker.
size_t house_memory (const struct house *self);

//  The supervisor comes, says nothing, and has got the first `link` with this many monitors.
void supervisor_open (struct house *self);
void supervisor_close (struct house *self);
//  Its next message within 5 s: routing id, handle, then what came; 0 on silence of wait_ms.
int supervisor_hear (struct house *self, int64_t wait_ms, struct ag_parts *parts);
void supervisor_answer (struct house *self, struct ag_parts *asked, struct ag_str answer);
void supervisor_publish (struct house *self, struct ag_str topic, struct ag_str header,
                         struct ag_str body);
//  The next message is `link` with this many monitors.
void supervisor_expect_link (struct house *self, uint64_t monitors);
//  The next message is a request; answers it `ok` with its own id.
void supervisor_serve (struct house *self);

//  A client's socket (DEALER, REQ) or a monitor's (SUB), closed with the house.
void *house_connect (struct house *self, int type);
//  A request with this id: `status`, or an `apply` of so many bytes when that is not 0.
void client_ask (struct house *self, void *socket, const char *id, size_t bytes);
//  The next answer within wait_ms: its word, and code and id if it has them; "" for silence.
struct answer {
    char word[16], code[32], id[65];
};
struct answer client_hear (void *socket, int64_t wait_ms);
#endif
