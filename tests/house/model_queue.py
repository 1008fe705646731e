"""model_queue - what the pack ripple/ does in a run, from the list of events alone, as model.py has it.

A run's queue is never kept: what is due is found by walking the events from the first, each time. Only what chance or
the clock gives is taken from the house: the weight that a tool answers (once; afterwards the record must serve it), and
when an invocation begins among other events.
SPDX-License-Identifier: Apache-2.0
"""
from model_runs import HOUSE, State, Writer, evt, seq_of

QUEUED = ("goal.created", "pack.loaded", "object.", "relation.", "patch.", "promote.applied")  # of the house's own types


def answers(state):
    """Ids, in order."""
    return sorted(name for name, thing in state.objects.items() if thing["type"] == "answer")


def answer(payload, _state, weighed):
    return [{"op": "add_object", "type": "answer", "data": weighed},
            {"op": "emit", "type": "answered", "payload": {"n": payload["n"]}}]


def link(payload, state, _weighed):
    others = [name for name in answers(state) if name != payload["id"]]
    if not others or payload["id"] not in state.objects:
        return []
    return [{"op": "add_relation", "source": payload["id"], "target": others[0], "type": "after"}]


def prune(_payload, state, _weighed):
    return [{"op": "remove_object", "id": answers(state)[0]}] if len(answers(state)) > 3 else []


def adopted(payload, _state, _weighed):
    return [{"op": "add_object", "type": "adoption",
             "data": {"from": payload["from_run"], "objects": payload["objects_created"]}}]


BEHAVIORS = {"answer": ("asked", answer), "link": ("object.created", link), "prune": ("answered", prune),
             "adopted": ("promote.applied", adopted)}
READS = ("link", "prune")  # ask for a type


def due(log):
    """(behaviour, event) of all that is or was due, in order."""
    for seq, event in enumerate(log, 1):
        if event["actor"] and event["actor"].startswith("promote:"):
            continue
        for name, (kind, _) in BEHAVIORS.items():
            if event["type"] == kind and (name != "link" or event["payload"]["object"]["type"] == "answer"):
                yield name, evt(seq)


def invocations(log, kind):
    return [(e["payload"]["behavior"], e["payload"]["event_id"]) for e in log if e["type"] == kind]


class Queue:
    """Where a run's queue stands."""

    def __init__(self, run):
        self.run = run
        started = invocations(run.log, "behavior.started")
        own = invocations(run.log[run.cut:], "behavior.started")
        ended = invocations(run.log[run.cut:], "behavior.completed")
        self.open = own[-1] if own and own[-1] not in ended else None  # what a cut ended does not run again
        self.next = next((one for one in due(run.log) if one not in started), None)
        self.attempt = own.count(self.open) if self.open else 0

    def is_idle(self):
        """Nothing is left, and that was said after the last event that was looked at."""
        said = max([n for n, e in enumerate(self.run.log, 1) if e["type"] == "runtime.idle"], default=0)
        late = [e for e in self.run.log[said:] if not e["type"].startswith(HOUSE) or
                e["type"].startswith(QUEUED) and not (e["actor"] or "").startswith("promote:")]
        return not self.open and not self.next and not late


class Reaction:
    """The next thing that a run's behaviours do; the house's own events say which it is, the model says how it looks."""

    def __init__(self, world, run, shown, may_die):
        self.world, self.run, self.shown, self.may_die = world, run, shown, may_die
        self.queue = Queue(run)

    def append(self, kind, payload, cause):
        Writer(self.run, "runtime", cause).append(kind, payload)

    def happen(self):
        """Append what should happen; nothing at all when nothing should."""
        kind = self.shown[0]["type"]
        if kind == "behavior.started":
            self.start()
        elif kind == "worker.registered" and not any(e["type"] == kind for e in self.run.log):
            self.append(kind, self.shown[0]["payload"], None)
        elif kind == "runtime.idle" and not self.queue.open and not self.queue.next and not self.queue.is_idle():
            self.append(kind, self.shown[0]["payload"], None)
        elif kind == "tool.requested" and self.queue.open and self.queue.open[0] == "answer":
            self.weigh()
        elif self.queue.open and kind not in ("runtime.idle", "tool.requested"):
            self.finish()

    def start(self):
        again = self.queue.open and self.may_die
        if self.queue.open and not again or not self.queue.open and not self.queue.next:
            return
        name, trigger = self.queue.open or self.queue.next
        event = self.run.log[seq_of(trigger) - 1]
        self.append("behavior.started", {
            "behavior": name, "event_id": trigger, "triggering_event_type": event["type"],
            "triggering_object_id": event["payload"].get("id"), "attempt": self.queue.attempt + 1}, seq_of(trigger))

    def recorded(self, args):
        """(output, whether it was there before this invocation began), in the own list and the ancestors' whole ones."""
        places = {where: place for place, where in enumerate(self.world.written)}
        began = places[self.run.name, self.started()]
        run, found = self.run, []
        while run:
            asked = [evt(n) for n, e in enumerate(run.log, 1) if e["type"] == "tool.requested" and
                     e["payload"]["args"] == args]
            found += [(e["payload"]["output"], places[run.name, n] < began) for n, e in enumerate(run.log, 1)
                      if n > run.cut and e["type"] == "tool.responded" and e["caused_by"] in asked]
            run = run.parent
        return found

    def started(self):
        return max(n for n, e in enumerate(self.run.log, 1) if e["type"] == "behavior.started")

    def weigh(self):
        """Request and answer in one; what is in the record is never asked again. What came into it since this
        invocation began may have come too late."""
        name, trigger = self.queue.open
        args = {"n": self.run.log[seq_of(trigger) - 1]["payload"]["n"]}
        asked, got = self.shown[0]["payload"], self.shown[1]["payload"]
        found = self.recorded(args)
        hit = any(before for _, before in found) or bool(found) and asked["cache_hit"]
        known = [output for output, _ in found]
        output = got["output"] if not hit or got["output"] in known else known[-1]
        of = {"behavior": name, "tool": "weigh", "cache_hit": hit}
        self.append("tool.requested", {**asked, **of, "args": args}, seq_of(trigger))
        self.append("tool.responded", {**got, **of, "output": output, "error": None}, len(self.run.log))

    def finish(self):
        """All that an invocation changes, in one piece."""
        name, trigger = self.queue.open
        cause, state, before = seq_of(trigger), State(self.run.log), len(self.run.log)
        started = self.started()
        weighed = [e["payload"]["output"] for e in self.run.log[self.run.cut:] if e["type"] == "tool.responded" and
                   self.run.log[seq_of(e["caused_by"]) - 1]["caused_by"] == trigger]
        if name in READS:
            self.append("context.read", {**self.shown[0]["payload"], "behavior": name, "event_id": trigger,
                                         "execution_event_id": evt(started)}, cause)
        writer = Writer(self.run, name, cause)
        for op in BEHAVIORS[name][1](self.run.log[cause - 1]["payload"], state, weighed and weighed[-1]):
            writer.operation(op)
        made = [event["type"] for event in self.run.log[before:]]
        self.append("behavior.completed", {
            "behavior": name, "event_id": trigger, "objects_created": made.count("object.created"),
            "relations_created": made.count("relation.created"), "patches_applied": made.count("patch.applied"),
            "patches_proposed": 0, "events_emitted": made.count("answered")}, cause)


def is_reaction(event):
    """Whether an event is of the queue, or of a behaviour."""
    asked = ("promote.applied", "runtime.snapshot", "runtime.discarded")
    return event["actor"] in BEHAVIORS or event["actor"] == "runtime" and event["type"] not in asked
