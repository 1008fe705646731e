#!/usr/bin/env python3
"""actor - a worker that does what the event in hand says, so that a test reads in one place.

argv: the behaviours to register, as JSON. The event's payload may hold `steps`, a list of lists:
["ops", OPERATION...], ["effect", TOOL, ARGS, IDEMPOTENT, FIELDS OF OUTCOME, FIELDS OF EFFECT], ["kill", ATTEMPT...], ["raise", TEXT], ["exit", STATUS],
["call", ...] (an effect without who did it in what it stores), ["fail", ERROR], ["sleep", SECONDS], ["get", FIELDS], ["send", FIELDS], ["bytes", HEX], ["hello"], ["huge", MIB],
["run", ARGV] (a program: what it exits with, below 0 the signal that ended it), ["spin", SIGNALS TO IGNORE] (for ever), ["python", CODE],
["give", SIZE...] (an effect whose output is texts of these sizes, or fails with what the house said to that).
SPDX-License-Identifier: Apache-2.0
"""
import json
import os
import signal
import subprocess
import sys
import time

import msgpack
import zmq

sock = zmq.Context().socket(zmq.REQ)
sock.connect(os.environ["AGSUP_WORKER"])


def read():
    answer = msgpack.unpackb(sock.recv())
    if answer["do"] == "error":
        raise SystemExit(f"{answer['code']}: {answer['message']}")
    return answer


def ask(do, **fields):
    sock.send(msgpack.packb({"do": do, **fields}))
    return read()


class Failed(Exception):
    """The invocation was given up."""


def effect(job, ops, tool, args, idempotent=True, outcome=None, fields=None):
    call = ask("effect", tool=tool, args=args, idempotent=idempotent, **(fields or {}))
    if call["do"] == "go":
        print(f"did {tool} {json.dumps(args, sort_keys=True)}", flush=True)
        call = ask("outcome", output={"attempt": job["attempt"]}, **(outcome or {}))
    ops.append({"op": "add_object", "type": "answer", "data": {
        "do": call["do"], "tool": tool, **(call["output"] if "output" in call else {"code": call.get("code")})}})


def call(job, ops, tool, args, idempotent=True):
    effect(job, ops, tool, args, idempotent)
    del ops[-1]["data"]["do"]  # who did it is not always the same


def give(_job, ops, *sizes):
    ask("effect", tool="give", args={}, idempotent=False)
    sock.send(msgpack.packb({"do": "outcome", "output": ["x" * size for size in sizes]}))
    said = msgpack.unpackb(sock.recv())
    if said["do"] == "error":
        ask("outcome", error={"type": said["code"], "message": said["message"]})
    ops.append({"op": "add_object", "type": "given", "data": {"do": said["do"]}})


def stranger(_job, _ops, nonce):
    other = zmq.Context.instance().socket(zmq.REQ)
    other.connect(os.environ["AGSUP_WORKER"])
    other.send(msgpack.packb({"do": "hello", "protocol": 1, "nonce": nonce or os.environ["AGSUP_NONCE"], "name": "x",
                              "behaviors": []}))
    time.sleep(30)


def send_raw(data):
    sock.send(data)
    read()


def client(job, ops, path, fields):
    other = zmq.Context.instance().socket(zmq.DEALER)
    other.linger = 0
    other.connect(path)
    other.send(msgpack.packb(fields))
    came = other.poll(1500) and msgpack.unpackb(other.recv_multipart()[-1])
    ops.append({"op": "add_object", "type": "reply", "data": {"code": came["code"] if came else "silence"}})


def fail(_job, _ops, error):
    ask("fail", error=error)
    raise Failed


def throw(_job, _ops, text):
    raise RuntimeError(text)


def die(job, _ops, *attempts):
    if job["attempt"] in attempts:
        print(f"dying in attempt {job['attempt']}", file=sys.stderr, flush=True)
        os.kill(os.getpid(), signal.SIGKILL)


def run(_job, ops, argv):
    ended = subprocess.run(argv, check=False).returncode
    ops.append({"op": "add_object", "type": "ran", "data": {"status": ended}})


def spin(_job, _ops, *ignored):
    for number in ignored:
        signal.signal(number, signal.SIG_IGN)
    while True:
        pass


def python(_job, _ops, text):
    exec(text, {})


def sleep(_job, _ops, seconds, *attempts):
    if not attempts or job["attempt"] in attempts:
        time.sleep(seconds)


def get(_job, ops, fields):
    found = ask("get", **fields)
    ops.append({"op": "add_object", "type": "seen", "data": {"objects": len(found["objects"])}})


STEPS = {"effect": effect, "call": call, "fail": fail, "raise": throw, "kill": die, "sleep": sleep, "get": get, "give": give,
         "run": run, "spin": spin, "python": python,
         "ops": lambda job, ops, *more: ops.extend(more),
         "exit": lambda job, ops, status: sys.exit(status),
         "send": lambda job, ops, fields: ask(**fields),
         "bytes": lambda job, ops, text: send_raw(bytes.fromhex(text)),
         "huge": lambda job, ops, mib: send_raw(b"\0" * (mib << 20)),
         "stranger": stranger, "client": client}

ask("hello", protocol=1, nonce=os.environ["AGSUP_NONCE"], name="actor", behaviors=json.loads(sys.argv[1]))
job = ask("next")
while job["do"] == "invoke":
    todo = job["event"]["payload"].get("steps", [])
    changes = []
    try:
        for step in todo:
            STEPS[step[0]](job, changes, *step[1:])
        ask("done", ops=changes)
    except Failed:
        pass
    job = ask("next")
