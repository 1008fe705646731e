#!/usr/bin/env python3
# The reviewer in Python; needs python3-zmq and python3-msgpack. SPDX-License-Identifier: Apache-2.0
import os, msgpack, zmq

sock = zmq.Context().socket(zmq.REQ)
sock.connect(os.environ["AGSUP_WORKER"])

def ask(do, **fields):
    sock.send(msgpack.packb({"do": do, **fields}))
    answer = msgpack.unpackb(sock.recv())
    if answer["do"] in ("error", "refused"):
        raise SystemExit(f"{answer['code']}: {answer['message']}")
    return answer

def judge(text, most):  # plain code here, a call of a model in yours
    words = len(text.split())
    return {"opinion": "shorten" if words > most else "keep", "words": words}

def review(finding):
    limit = ask("get", id="limit#words")["objects"]
    args = {"text": finding["text"], "most": limit[0]["data"]["most"] if limit else 5}
    call = ask("effect", tool="judge", args=args, idempotent=True)
    if call["do"] == "go":
        call = {"output": judge(**args)}
        ask("outcome", **call)
    verdict = "verdict#" + finding["id"]
    ops = [{"op": "add_object", "type": "verdict", "id": verdict,
            "data": {"finding": finding["id"], "opinion": call["output"]}}]
    if "about" in finding:
        ops.append({"op": "add_relation", "source": verdict, "target": finding["about"], "type": "about"})
    return ops + [{"op": "emit", "type": "verdict.given", "payload": {"finding": finding["id"]}}]

ask("hello", protocol=1, nonce=os.environ["AGSUP_NONCE"], name="reviewer",
    behaviors=[{"name": "review", "on": ["finding.reported"]}])
while (job := ask("next"))["do"] == "invoke":
    ask("done", ops=review(job["event"]["payload"]))
