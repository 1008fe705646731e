"""drawn - histories of a house: drawn by a seed, and made as short as they can be.

A history is a list of steps, each a map. Nothing here knows the house: the numbers in a step choose among what is there
when it is played (-1 is the newest run), so what is left of a history when steps are taken out is still one.

    steps = Draw("7/0").history(("supervisor",))
    short, difference = shrink(differs, steps)      # differs (steps) gives a difference, or None

SPDX-License-Identifier: Apache-2.0
"""
import itertools
import random
import time

CLIENTS = 4  # under way at once
SHRINK_SECONDS = 120
KEYS = ("a", "b", "c", "ключ")
VALUES = (0, 1, -1, 1.0, 0.5, True, False, None, "", "x", "ü", [], [1, "y"], {}, {"z": 1}, 1 << 62)
TYPES = ("note", "task", "claim.of")
BAD = ({"op": "explode"}, {"op": "patch_object", "id": "note#1"}, {"op": "add_object", "type": "a b"},
       {"op": "add_object", "type": "note", "data": {"provenance": 1}}, {"op": "emit", "type": "object.created"},
       {"op": "add_object", "type": "note", "id": "note#r1.7"}, {"op": "add_object", "type": "note", "more": 1},
       {"op": "emit", "type": "patch.applied", "payload": {}}, {"op": "add_object", "type": "note", "id": ""},
       {"op": "remove_object", "id": "@nobody"}, {"op": "propose_patch", "id": "note#1", "data": {}, "change": "UPDATE"})
GIVEN = ("note#1", "note#7", "task#3", "task#007", "x", "rel_9", "a#b#4", "patch_001")


class Draw:
    """Steps by a seed."""

    def __init__(self, seed):
        self.dice = random.Random(seed)

    def pick(self):
        return self.dice.randrange(1000)

    def data(self):
        return {key: self.dice.choice(VALUES) for key in self.dice.sample(KEYS, self.dice.randrange(3))}

    def one_of(self, **weights):
        return self.dice.choices(list(weights), list(weights.values()))[0]

    def maybe(self, chance, **fields):
        return fields if self.dice.random() < chance else {}

    def made(self, name):
        return {**self.maybe(0.7, data=self.data()), **self.maybe(0.1, id=self.dice.choice(GIVEN)),
                **self.maybe(0.2, **{"as": name})}

    def op(self, n):
        """One operation; numbers stand for ids."""
        op = self.one_of(add_object=8, patch_object=6, replace_object=2, remove_object=3, add_relation=6,
                         remove_relation=2, propose_patch=3, apply_patch=3, reject_patch=1, emit=1, bad=0.2)
        return dict(self.dice.choice(BAD)) if op == "bad" else self.op_of(op, n)

    def op_of(self, op, n):
        fields = {
            "add_object": lambda: {"type": self.dice.choice(TYPES), **self.made(f"n{n}")},
            "patch_object": lambda: {"id": self.pick(), "data": self.data()},
            "replace_object": lambda: {"id": self.pick(), "data": self.data()},
            "remove_object": lambda: {"id": self.pick()},
            "add_relation": lambda: {"source": self.pick(), "target": self.pick(), "type": "of", **self.made(f"r{n}")},
            "remove_relation": lambda: {"id": self.pick()},
            "propose_patch": lambda: {
                "id": self.pick(), "data": self.data(), **self.maybe(0.3, change="replace"),
                **self.maybe(0.2, expected_version=self.dice.randrange(4)), **self.maybe(0.3, rationale="so"),
                **self.maybe(0.3, evidence=["e", 1]), **self.maybe(0.2, **{"as": f"p{n}"})},
            "apply_patch": lambda: {"patch": self.pick()},
            "reject_patch": lambda: {"patch": self.pick(), **self.maybe(0.5, reason="no")},
            "emit": lambda: {"type": "said", "payload": self.data()},
        }
        return {"op": op, **fields[op]()}

    def change(self):
        """One request that changes something."""
        do = self.one_of(apply=12, tell=1, goal=0.5, fork=4, promote=5, create=0.3, snapshot=1, archive=0.5, discard=0.4)
        run = {"run": self.pick()}
        fields = {
            "apply": lambda: {**run, "ops": [self.op(n) for n in range(self.dice.choice((0, 1, 1, 1, 2, 2, 3, 6)))],
                              **self.maybe(0.1, expect=self.pick())},
            "tell": lambda: {**run, "type": self.dice.choice(("told", "goal.created")), "payload": self.data()},
            "goal": lambda: {**run, "text": "more"},
            "fork": lambda: {**run, **self.maybe(0.4, at=self.pick()), **self.maybe(0.25, ids="continue")},
            "promote": lambda: {**run, **self.maybe(0.2, dry_run=True), **self.maybe(0.1, expect=self.pick())},
            "create": lambda: {},
            **{keeping: lambda: run for keeping in ("snapshot", "archive", "discard")},
        }
        return {"do": do, **fields[do]()}

    def read(self):
        do = self.one_of(objects=2, diff=1)
        if do == "objects":
            return {"do": do, "run": self.pick(), **self.maybe(0.7, at=self.pick())}
        return {"do": do, "a": self.pick(), "b": self.pick(), **self.maybe(0.2, a_at=self.pick())}

    def branch(self):
        """A fork, a few changes of it and of its parent, and its promote; -1 is the newest run."""
        fork = {"do": "fork", "run": self.pick(), **self.maybe(0.2, ids="continue")}
        changes = [{"do": "apply", "run": -1, **self.maybe(0.3, up=1), "ops": [self.op(n) for n in range(3)]}
                   for _ in range(self.dice.randrange(1, 4))]
        return [fork, *changes, {"do": "promote", "run": -1}]

    def archived(self):
        """A run whose past is taken into a snapshot and archived."""
        run = {"run": self.pick()}
        return [{"do": "snapshot", **run}, {"do": "snapshot", **run}, {"do": "archive", **run}]

    def together(self):
        """Requests that are under way at once."""
        if self.dice.random() < 0.2:
            return [{"do": "promote", "run": -n - 1} for n in range(CLIENTS)]
        return [self.read() if self.dice.random() < 0.2 else self.change()
                for _ in range(self.dice.randrange(2, CLIENTS + 1))]

    def bulk(self):
        """What crosses the bounds of the store: many versions of one object, many events, a deep line of forks."""
        how = self.dice.choice(("versions", "events", "depth"))
        if how == "depth":
            return [{"do": "fork", "run": -1}] * 17
        op = {"op": "emit", "type": "said"} if how == "events" else {"op": "patch_object", "id": 17, "data": self.data()}
        return [{"do": "apply", "run": self.pick(), "ops": [op] * (260 if how == "events" else 20)}]

    def steps(self, roles):
        do = self.one_of(change=10, branch=3, together=3, again=1, read=3, archived=1, bulk=0.05, killed=1 if roles else 0)
        if do in ("branch", "bulk", "archived"):
            return getattr(self, do)()
        if do == "again":
            return [{"do": do, "which": self.pick(), **self.maybe(0.3, other=True)}]
        if do == "together":
            return [{"do": do, "steps": self.together()}]
        if do == "killed":
            return [{"do": do, "steps": self.together(), "role": self.dice.choice(roles),
                     **self.maybe(0.3, given_up=1)}]
        return [self.read() if do == "read" else self.change()]

    def history(self, roles):
        steps = [{"do": "create"}] + [{"do": "apply", "run": 0, "ops": [self.op_of(f"add_{kind}", n) for n in range(4)]}
                                      for kind in ("object", "relation")]
        while len(steps) < 12 or self.dice.random() < 0.93 and len(steps) < 40:
            steps += self.steps(roles)
        return steps


    # With behaviours: what is under way at once makes no ids, because those depend on what is open.

    def beside(self):
        """One of several requests while behaviours work."""
        if self.dice.random() < 0.7:
            return {"do": "tell", "run": self.pick(), "type": "asked", "payload": {"n": self.dice.randrange(4)}}
        own = {"op": "add_object", "type": "note", "id": f"own-{self.pick()}", "data": self.data()}
        return {"do": "apply", "run": self.pick(), "ops": [own]}

    def history_of_agent(self, roles):
        """As history, on a fork of an agent whose behaviours react; role worker is one of its processes."""
        steps = [{"do": "agent"}]
        while len(steps) < 8 or self.dice.random() < 0.85 and len(steps) < 20:
            do = self.one_of(beside=4, together=3, change=3, branch=1, archived=1, read=1, killed=2 if roles else 0)
            if do in ("together", "killed"):
                role = {"role": self.dice.choice((*roles, *["worker"] * len(roles)))} if do == "killed" else {}
                steps.append({"do": do, "steps": [self.beside() for _ in range(CLIENTS)], **role})
            else:
                made = getattr(self, do)()
                steps += made if isinstance(made, list) else [made]
        return steps


# Making it short.

def shorter(steps):
    """Histories with less in them: without some steps, then with simpler ones."""
    size = len(steps) // 2
    while size:
        for at in range(0, len(steps), size):
            yield steps[:at] + steps[at + size:]
        size //= 2
    for at, step in enumerate(steps):
        for simple in simpler(step):
            yield steps[:at] + [simple] + steps[at + 1:]


def simpler(step):
    """One step with less in it."""
    for key in ("steps", "ops"):
        inner = step.get(key, [])
        for n, one in enumerate(inner):
            yield {**step, key: inner[:n] + inner[n + 1:]}
            for simple in simpler(one):
                yield {**step, key: inner[:n] + [simple] + inner[n + 1:]}
    if len(step.get("steps", [])) == 1:
        yield step["steps"][0]
    if "role" in step:
        yield {"do": "together", "steps": step["steps"]}
    for key, value in step.items():
        if key in ("at", "ids", "expect", "dry_run", "as", "a_at", "other", "up", "data", "rationale", "evidence", "reason",
                   "given_up"):
            yield {k: v for k, v in step.items() if k != key}
        if key == "data" and value:
            yield {**step, key: {}}
        if isinstance(value, int) and not isinstance(value, bool) and value > 8:
            yield {**step, key: 1}
            yield {**step, key: value // 2}


def shrink(differs, steps, seconds=SHRINK_SECONDS):
    """The shortest history found that differs still, and how; what is tried next goes on where it got shorter."""
    end = time.monotonic() + seconds
    found, tried, since = differs(steps), 0, 0
    while found and time.monotonic() < end:
        less = next(itertools.islice(shorter(steps), tried, None), None)
        if less is None:
            if not since:
                break
            tried = since = 0
            continue
        difference = differs(less)
        if difference:
            steps, found, since = less, difference, since + 1
        else:
            tried += 1
    return steps, found
