#!/usr/bin/env python3
# Prints every event of a fleet and misses none: monitor.py HOME [AFTER]      (pip install pyzmq msgpack)
# SPDX-License-Identifier: Apache-2.0
import os, sys, time, msgpack, zmq

home = os.path.realpath(sys.argv[1])
read_token = lambda: open(f"{home}/run/token").read().strip()
token = read_token()
ctx = zmq.Context()
sub, req = ctx.socket(zmq.SUB), ctx.socket(zmq.REQ)
req.setsockopt(zmq.REQ_RELAXED, 1)               # may ask again when no answer comes,
req.setsockopt(zmq.REQ_CORRELATE, 1)             # and drops the one that comes late
sub.connect(f"ipc://{home}/run/monitor.sock")
sub.subscribe(b"")
req.connect(f"ipc://{home}/run/client.sock")

def ask(**fields):
    global token
    while True:                                  # also while the fleet is down
        req.send(msgpack.packb({"token": token, **fields}))
        if not req.poll(2000):
            continue
        page = msgpack.unpackb(req.recv())
        if page["do"] != "error":
            return page
        if page["retryable"]:
            time.sleep(0.1)
            continue
        old, token = token, read_token()         # each start of the fleet makes another
        if token == old:
            sys.exit(f'{page["message"]}\n{page["hint"]}')

store, last = None, int(sys.argv[2]) if len(sys.argv) > 2 else None
while True:
    topic, head, _body = sub.recv_multipart()    # a hint
    head = msgpack.unpackb(head)
    if last is None:
        last = head["stream"] - 1                # begin with this one
    behind = head["stream"] > last or topic == b"beat" and (head["store"], head["stream"]) != (store, last)
    while behind:                                # read the log, miss nothing
        page = ask(do="events", after=last, limit=500)
        if store not in (None, page["store"]) or page["stream"] < last:
            last = 0                             # another store, or what it was earlier: start over
        else:
            for event in page["events"]:
                print(event["stream"], event["label"], event["type"], flush=True)
            last = page["after"]
        store = page["store"]
        behind = last < page["stream"]
