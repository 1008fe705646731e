#!/usr/bin/env python3
"""second_opinion - reads what the auditor reports, and adds a verdict of its own to each finding.

A program that speaks the worker protocol: it hears `finding.reported` of the auditor, and `promote.applied`
when a fork's findings were adopted. Needs python3-zmq and python3-msgpack.
SPDX-License-Identifier: Apache-2.0
"""
import os

import msgpack
import zmq

sock = zmq.Context().socket(zmq.REQ)
sock.connect(os.environ["AGSUP_WORKER"])


def ask(do, **fields):
    sock.send(msgpack.packb({"do": do, **fields}))
    answer = msgpack.unpackb(sock.recv())
    if answer["do"] == "error":
        raise SystemExit(f"{answer['code']}: {answer['message']}")
    return answer


def judge(finding):
    """Plain rules; a model would stand here."""
    kind, name, similarity = finding["kind"], finding["name"], finding.get("similarity")
    if kind == "dead-reference":
        return "agree", f"nothing is called {name} among the common licences"
    if kind == "text-differs" and "exception" in name.lower():
        return "dismiss", "an exception adds words that the licence does not have"
    if kind == "text-differs" and similarity >= 0.6:
        return "dismiss", "most of it is the licence's own words: a notice, not another licence"
    if kind == "text-differs":
        return "agree", f"only {similarity:.0%} of it stands in the licence that it names"
    if kind == "undefined-name" and name.lower() == "public-domain":
        return "look", "the public domain needs no licence, but an explanation"
    if kind == "undefined-name":
        return "agree", "the file says nowhere what this name means"
    return "look", "no rule for this"


def heard(event):
    """The findings of a message, as (id, data)."""
    data = event["payload"]["data"]
    if event["payload"]["type"] == "promote.applied":
        return [(o["id"], o["data"]) for o in data.get("objects", []) if o["type"] == "finding"]
    return [(data["id"], data)]


def verdict_on(finding_id, finding):
    """The operations that add a verdict; none when there is one already."""
    verdict_id = "verdict#" + finding_id
    if ask("get", id=verdict_id)["objects"]:
        return []
    call = ask("effect", tool="judge", args={"finding": finding_id, "text": finding["text"]}, idempotent=True)
    if call["do"] == "go":
        opinion, reason = judge(finding)
        call = {"output": {"opinion": opinion, "reason": reason}}
        ask("outcome", output=call["output"])
    return [{"op": "add_object", "type": "verdict", "id": verdict_id,
             "data": {"finding": finding_id, **call["output"]}}]


ask("hello", protocol=1, nonce=os.environ["AGSUP_NONCE"], name="second opinion",
    behaviors=[{"name": "judge", "on": ["message.received"]}])
job = ask("next")
while job["do"] == "invoke":
    ops = [op for finding in heard(job["event"]) for op in verdict_on(*finding)]
    job = ask("done", ops=ops, next=True)
    if job["do"] in ("ok", "again"):
        job = ask("next")
