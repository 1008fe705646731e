"""model - what runs are, said as plainly as can be: a run is the list of its events, and whatever is asked of it is
answered by replaying that list from the beginning.

A fork begins with a copy of its parent's list. Nothing is indexed, cached or kept beside the lists, but answers to
request ids and snapshots that were begun. It is slow on purpose; what it says is read from docs/design, never from the
house's code.

    world = World()
    world.do({"do": "create"}, "r1")
    world.do({"do": "apply", "run": "r1", "ops": [{"op": "add_object", "type": "note"}]})  # {"ids": ["note#1"], ...}

SPDX-License-Identifier: Apache-2.0
"""
import copy
import re

from model_runs import LIFECYCLE, Plan, Refused, Run, State, Writer, equal, evt, seq_of

# What a request id makes once.
CHANGES = ("create", "goal", "tell", "apply", "fork", "promote", "snapshot", "archive", "discard")
DEPTH = 16  # forks of forks


class World:
    """All runs, and what was answered to which request id."""

    plan = Plan

    def __init__(self):
        self.runs, self.requests = {}, {}
        self.begun = {}  # snapshots: {run: what the marker will say}
        self.written = []  # (name of the run, sequence number) of each event, in the order of the store

    def copy(self):
        """One that can go another way. Forks share what they inherited."""
        other = type(self)()
        other.runs = copy.copy(self.runs)
        for name, run in self.runs.items():
            other.runs[name] = copy.copy(run)
            other.runs[name].log = list(run.log)
            other.runs[name].parent = run.parent and other.runs[run.parent.name]
        other.requests, other.written, other.begun = dict(self.requests), list(self.written), dict(self.begun)
        return other

    def do(self, request, new_run=None):
        """The answer to a request; new_run: what a run that it makes is called. Refused, or nothing at all happens."""
        body = {key: value for key, value in request.items() if key != "id"}
        name = request.get("id") if request["do"] in CHANGES else None
        if name in self.requests:
            if self.requests[name][0] != body:
                raise Refused("reused")
            return self.requests[name][1]
        before = {run.name: len(run.log) for run in self.runs.values()}
        arguments = {key: value for key, value in body.items() if key != "do"}
        if body["do"] in ("create", "fork"):
            arguments["new_run"] = new_run
        try:
            answer = getattr(self, body["do"])(**arguments)
        except Refused:
            for run, tip in before.items():
                del self.runs[run].log[tip:]
            raise
        for run, tip in before.items():
            self.written += [(run, seq) for seq in range(tip + 1, len(self.runs[run].log) + 1)]
        if name:
            self.requests[name] = (body, answer)
        return answer

    def find(self, name):
        if name not in self.runs:
            raise Refused("not_found")
        return self.runs[name]

    def find_live(self, name):
        run = self.find(name)
        if self.is_discarded(run):
            raise Refused("discarded")
        return run

    def is_discarded(self, run):
        return any(event["type"] == "runtime.discarded" for event in run.log[run.cut:])

    def point(self, text):
        """RUN, RUN@tip, RUN@42, RUN@evt_042: the run and a sequence number."""
        name, mark, at = text.partition("@")
        run = self.find(name)
        if not mark or at == "tip":
            return run, len(run.log)
        if not re.fullmatch("(evt_)?[0-9]+", at) or int(at.removeprefix("evt_")) == 0:
            raise Refused("usage")
        if int(at.removeprefix("evt_")) > len(run.log):
            raise Refused("not_found")
        return run, int(at.removeprefix("evt_"))

    def check_tip(self, run, expect):
        if expect is not None and expect != evt(len(run.log)):
            raise Refused("tip_moved")

    def birth(self, run, state):
        self.runs[run.name] = run
        return {"run_id": run.name, "label": None, "parent_run_id": run.parent and run.parent.name,
                "forked_at_event": evt(run.cut), "state": state}

    def create(self, new_run):
        return self.birth(Run(new_run), "idle")

    def fork(self, point, new_run, ids="tagged"):
        run, cut = self.point(point)
        self.find_live(run.name)
        if run.depth() >= DEPTH:
            raise Refused("depth")
        for seq in range(1, cut + 1):
            end = run.log[seq - 1]["payload"].get("block_final_event")
            if run.log[seq - 1]["type"] == "promote.applied" and cut < seq_of(end):
                raise Refused("sliced")
        return self.birth(Run(new_run, run, cut, run.mint if ids == "continue" else new_run), "parked")

    def goal(self, run, text):
        Writer(self.find_live(run), "user").append("goal.created", {"goal": text})
        return {"run": run, "event_id": evt(len(self.runs[run].log))}

    def tell(self, run, type, payload):
        Writer(self.find_live(run), "user").emit(type, payload)
        return {"run": run, "event_id": evt(len(self.runs[run].log))}

    def apply(self, run, ops, expect=None):
        run = self.find_live(run)
        self.check_tip(run, expect)
        before, writer = len(run.log), Writer(run, "user")
        ids = [writer.operation(op) for op in ops]
        made = len(run.log) > before
        return {"run": run.name, "first_event": evt(before + 1) if made else None,
                "last_event": evt(len(run.log)) if made else None, "ids": ids}

    def promote(self, fork, dry_run=False, expect=None):
        fork = self.find_live(fork)
        if not fork.parent:
            raise Refused("lineage")
        self.check_tip(fork.parent, expect)
        plan = self.plan(fork)
        answer = plan.answer(dry_run)
        return {**answer, **({} if dry_run or plan.conflicts else plan.carry_out())}

    def snapshot(self, run):
        """The first request takes the objects, the second the relations, and the marker says what stood at the first;
        the hash of it is not known here."""
        run = self.find(run)
        tip, state = len(run.log), State(run.log)
        if not tip:
            raise Refused("usage")
        if tip == run.cut or run.log[-1]["type"] != "runtime.snapshot":
            if run.name not in self.begun:
                objects = len(state.objects)
                counters = {"object": run.highest("object"), "relation": run.highest("rel_"),
                            "patch": run.highest("patch_"), "approval": 0, "frame": 0}
                self.begun[run.name] = {"covers_through": evt(tip), "events_covered": tip, "id_counters": counters,
                                        "objects": objects, "relations": len(state.relations)}
                if objects:
                    return {"run": run.name, "label": None, "objects": objects, "relations": 0, "more": True}
            Writer(run, "runtime").append("runtime.snapshot", self.begun.pop(run.name))
        return {"run": run.name, "label": None, **run.log[-1]["payload"], "event_id": evt(len(run.log)), "more": False}

    def archive(self, run):
        """Nothing that anybody could see, whatever is asked afterwards."""
        run = self.find(run)
        covered = [e["payload"]["covers_through"] for e in run.log[run.cut:] if e["type"] == "runtime.snapshot"]
        if not covered:
            raise Refused("usage")
        return {"run": run.name, "label": None, "covers_through": covered[-1], "more": False}

    def discard(self, fork):
        run = self.find(fork)
        if not self.is_discarded(run):
            if not run.parent:
                raise Refused("usage")
            if any(one.parent is run and not self.is_discarded(one) for one in self.runs.values()):
                raise Refused("kept")
            Writer(run, "runtime").append("runtime.discarded", {})
        return {"run": run.name, "label": None, "state": "discarded"}

    def objects(self, run):
        run, at = self.point(run)
        state = State(run.log[:at])
        return {"run": run.name, "at": evt(at), "objects": [state.objects[name] for name in sorted(state.objects)],
                "relations": [state.relations[name] for name in sorted(state.relations)]}

    def diff(self, a, b):
        (a, a_at), (b, b_at) = self.point(a), self.point(b)
        if a.root() is not b.root():
            raise Refused("lineage")
        logs = a.log[:a_at], b.log[:b_at]
        shared = 0
        while shared < min(map(len, logs)) and logs[0][shared] is logs[1][shared]:
            shared += 1
        facts = [len([e for e in log if not e["type"].startswith(LIFECYCLE)]) for log in (logs[0][:shared], *logs)]
        states = [State(log) for log in logs]
        differ = {f"divergent_{kind}s": self.differ(kind, *states) for kind in ("object", "relation")}
        return {"a": a.name + (f"@{evt(a_at)}" if a_at < len(a.log) else ""),
                "b": b.name + (f"@{evt(b_at)}" if b_at < len(b.log) else ""),
                "shared_events": facts[0], "a_only_events": facts[1] - facts[0], "b_only_events": facts[2] - facts[0],
                **differ, "is_identical": facts[0] == facts[1] == facts[2] and not any(differ.values())}

    def differ(self, kind, a, b):
        sides = [{name: {key: value for key, value in thing.items() if key != "provenance"}
                  for name, thing in state.of(kind).items()} for state in (a, b)]
        return [{"id": name, "a": sides[0].get(name), "b": sides[1].get(name)} for name in sorted({*sides[0], *sides[1]})
                if not equal(sides[0].get(name), sides[1].get(name))]
