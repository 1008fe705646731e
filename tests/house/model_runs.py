"""model_runs - one run as model.py has it: its list of events, what that comes to, how operations and promotes add to it.
SPDX-License-Identifier: Apache-2.0
"""
import re

LIFECYCLE = ("behavior.", "relation_behavior.", "pattern.", "runtime.", "context.", "worker.", "agent.", "fleet.")
HOUSE = LIFECYCLE + ("approval.", "promote.", "pack.", "llm.", "tool.", "embedding.", "trial.", "authority.",
                     "schedule.", "effect.", "message.", "dev.", "goal.", "object.", "relation.", "patch.")

# Operations: their fields, the needed ones first. data is a map; an id may be "@name".
OPERATIONS = {
    "add_object": ("type", ("data", "id", "as")),
    "patch_object": ("id data", ()),
    "replace_object": ("id data", ()),
    "remove_object": ("id", ()),
    "add_relation": ("source target type", ("data", "id", "as")),
    "remove_relation": ("id", ()),
    "propose_patch": ("id data", ("change", "expected_version", "rationale", "evidence", "as")),
    "apply_patch": ("patch", ()),
    "reject_patch": ("patch", ("reason",)),
    "emit": ("type", ("payload",)),
}
KINDS = {"data": dict, "payload": dict, "expected_version": int, "evidence": list}


class Refused(Exception):
    """A request that is answered by an error."""

    def __init__(self, code):
        super().__init__(code)
        self.code = code


def evt(seq):
    """The id of an event; None for none."""
    return f"evt_{seq:03}" if seq else None


def seq_of(event):
    """The sequence number of an event's id; 0 for none."""
    return int(event[4:]) if event else 0


def equal(a, b):
    """Numbers by their value, maps whatever the order of their keys; true is no number."""
    if isinstance(a, bool) or isinstance(b, bool) or a is None or b is None:
        return a is b
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(equal(a[key], b[key]) for key in a)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(equal, a, b))
    return a == b


def check_word(text, most=256):
    """Ids and types are words."""
    if not 1 <= len(text.encode()) <= most or re.search("[\0-\x20\x7f-\x9f@]", text):
        raise Refused("bad_operation")


class State:
    """What a list of events comes to."""

    def __init__(self, log):
        self.objects, self.relations, self.patches = {}, {}, {}
        self.used = {"object": set(), "relation": set()}  # ids, for ever
        for event in log:
            change = getattr(self, event["type"].replace(".", "_"), None)
            if change:
                change(event["payload"])

    def object_created(self, payload):
        self.objects[payload["id"]] = payload["object"]
        self.used["object"].add(payload["id"])

    def object_removed(self, payload):
        del self.objects[payload["id"]]

    def relation_created(self, payload):
        self.relations[payload["id"]] = payload["relation"]
        self.used["relation"].add(payload["id"])

    def relation_removed(self, payload):
        del self.relations[payload["id"]]

    def patch_proposed(self, payload):
        self.patches[payload["patch"]["id"]] = payload["patch"]

    def patch_applied(self, payload):
        patch, thing = payload["patch"], self.objects[payload["target"]]
        data = {**thing["data"], **patch["value"]} if patch["op"] == "update" else patch["value"]
        self.objects[thing["id"]] = {**thing, "data": data, "version": thing["version"] + 1}
        self.patches[patch["id"]] = patch

    def patch_rejected(self, payload):
        self.patches[payload["patch_id"]] = {**self.patches[payload["patch_id"]], "status": "rejected"}

    def of(self, kind):
        return self.objects if kind == "object" else self.relations

    def touching(self, thing):
        """Ids of the relations of an object, in order."""
        return sorted(i for i, r in self.relations.items() if thing in (r["source"], r["target"]))


def content(thing):
    """What promote compares: no version, no provenance; None when it is not there."""
    return thing and {key: thing[key] for key in ("source", "target", "type", "data") if key in thing}


def minted(kind, name):
    """(tag or None, number) of an id of the form that the house makes; None for any other."""
    head, mark, tail = name.rpartition("#") if kind == "object" else ("x", name.startswith(kind), name[len(kind):])
    found = head and mark and re.fullmatch(r"(?:(r[0-9a-hjkmnp-tv-z]+)\.)?([0-9]+)", tail)
    return (found[1], int(found[2])) if found else None


def named(log, kind):
    """Every id of a kind that events name."""
    for event in log:
        payload = event["payload"]
        if event["type"] == "object.created" and kind == "object":
            yield payload["id"]
        elif event["type"] == "relation.created" and kind == "rel_":
            yield payload["id"]
        elif event["type"] in ("patch.proposed", "patch.applied") and kind == "patch_":
            yield payload["patch"]["id"]


class Run:
    """One run. Its list begins with what it inherits, and begins anew in no copy: events are never changed."""

    def __init__(self, name, parent=None, cut=0, mint=None):
        self.name, self.parent, self.cut, self.mint = name, parent, cut, mint
        self.reacts = bool(parent) and parent.reacts  # has behaviours (model_queue.py)
        self.log = parent.log[:cut] if parent else []

    def depth(self):
        return 1 + self.parent.depth() if self.parent else 0

    def root(self):
        return self.parent.root() if self.parent else self

    def highest(self, kind):
        """The highest number that it saw in the form it mints."""
        seen = [minted(kind, name) for name in named(self.log, kind)]
        return max([found[1] for found in seen if found and found[0] == self.mint], default=0)

    def next_id(self, kind, prefix):
        number = 1 + self.highest(kind)
        tag = f"{self.mint}." if self.mint else ""
        return f"{prefix}{tag}{number}" if kind == "object" else f"{prefix}{tag}{number:03}"


class Writer:
    """Operations of one list, or the steps of a promote: each appends events."""

    def __init__(self, run, actor, cause=None):
        self.run, self.actor, self.cause = run, actor, cause
        self.names = {}

    def state(self):
        return State(self.run.log)

    def append(self, kind, payload, cause=None):
        self.run.log.append({"type": kind, "payload": payload, "actor": self.actor, "frame_id": None,
                             "caused_by": evt(cause or self.cause)})

    def provenance(self):
        return {"created_by": self.actor, "caused_by_event": evt(self.cause), "frame_id": None, "evidence": [],
                "run_id": self.run.name}

    # What a promote and operations do alike.

    def create(self, name, kind, data):
        self.append("object.created", {"object": {"id": name, "type": kind, "data": data, "version": 1,
                                                  "provenance": self.provenance()}, "id": name})

    def relate(self, name, source, target, kind, data):
        self.append("relation.created", {
            "relation": {"id": name, "source": source, "target": target, "type": kind, "data": data,
                         "provenance": self.provenance()}, "id": name, "source": source, "target": target})

    def patch(self, target, op, value, **more):
        """A change at once; more: of a patch that was proposed."""
        old = self.state().objects[target]
        new = {**old["data"], **value} if op == "update" else value
        patch = {"id": self.run.next_id("patch_", "patch_"), "target": target, "op": op, "value": value,
                 "expected_version": old["version"], "proposed_by": self.actor, "rationale": None, "evidence": [],
                 **more, "status": "applied", "rejection_reason": None, "provenance": self.provenance()}
        diff = {key: {"old": old["data"].get(key), "new": new.get(key)} for key in [*old["data"], *new]
                if (key in old["data"]) != (key in new) or not equal(old["data"][key], new[key])}
        self.append("patch.applied", {"patch": patch, "target": target, "diff": diff,
                                      **({"approved_by": self.actor} if "id" in more else {})})

    # Operations: each gives the id of what it made, or None.

    def operation(self, op):
        name = op.get("op")
        if name not in OPERATIONS:
            raise Refused("bad_operation")
        needed, rest = OPERATIONS[name]
        given = {key: value for key, value in op.items() if key != "op"}
        known = (*needed.split(), *rest)
        if any(key not in known or type(value) is not KINDS.get(key, str) for key, value in given.items()):
            raise Refused("bad_operation")
        if any(key not in given for key in needed.split()):
            raise Refused("bad_operation")
        return getattr(self, name)(**{"as_" if key == "as" else key: value for key, value in given.items()})

    def resolve(self, name):
        if not name.startswith("@"):
            return name
        if name[1:] not in self.names:
            raise Refused("bad_operation")
        return self.names[name[1:]]

    def there(self, kind, name):
        """The thing, which must be there."""
        name = self.resolve(name)
        if name not in self.state().of(kind):
            raise Refused("not_found")
        return self.state().of(kind)[name]

    def check_data(self, data):
        if "provenance" in data:
            raise Refused("bad_operation")

    def call(self, name, as_):
        """`as` in a list names one thing."""
        if as_ is not None:
            check_word(as_)
            if as_ in self.names:
                raise Refused("bad_operation")
            self.names[as_] = name
        return name

    def choose(self, kind, prefix, given, as_):
        """The id that was given, once for ever, or the next one."""
        if given is not None:
            check_word(given)
            form = minted("object" if kind == "object" else "rel_", given)
            if form and form[0]:
                raise Refused("bad_operation")
            if given in self.state().used[kind]:
                raise Refused("exists")
        made = self.run.next_id("object" if kind == "object" else "rel_", prefix) if given is None else given
        return self.call(made, as_)

    def add_object(self, type, data=None, id=None, as_=None):
        check_word(type, 200)
        self.check_data(data or {})
        name = self.choose("object", f"{type}#", id, as_)
        self.create(name, type, data or {})
        return name

    def add_relation(self, source, target, type, data=None, id=None, as_=None):
        check_word(type, 200)
        self.check_data(data or {})
        source, target = self.resolve(source), self.resolve(target)
        self.there("object", source)
        self.there("object", target)
        name = self.choose("relation", "rel_", id, as_)
        self.relate(name, source, target, type, data or {})
        return name

    def patch_object(self, id, data):
        self.check_data(data)
        self.patch(self.there("object", id)["id"], "update", data)

    def replace_object(self, id, data):
        self.check_data(data)
        self.patch(self.there("object", id)["id"], "replace", data)

    def remove_object(self, id):
        name = self.there("object", id)["id"]
        self.append("object.removed", {"id": name})
        cause = len(self.run.log)
        for relation in self.state().touching(name):
            self.append("relation.removed", {"id": relation}, cause)

    def remove_relation(self, id):
        self.append("relation.removed", {"id": self.there("relation", id)["id"]})

    def propose_patch(self, id, data, change="update", expected_version=None, rationale=None, evidence=None, as_=None):
        if change not in ("update", "replace"):
            raise Refused("bad_operation")
        self.check_data(data)
        target = self.there("object", id)
        name = self.run.next_id("patch_", "patch_")
        self.append("patch.proposed", {"patch": {
            "id": name, "target": target["id"], "op": change, "value": data,
            "expected_version": target["version"] if expected_version is None else expected_version,
            "proposed_by": self.actor, "rationale": rationale, "evidence": evidence or [], "status": "proposed",
            "rejection_reason": None, "provenance": self.provenance()}})
        return self.call(name, as_)

    def proposed(self, name):
        patch = self.state().patches.get(self.resolve(name))
        if not patch or not any(event["type"] == "patch.proposed" and event["payload"]["patch"]["id"] == patch["id"]
                                for event in self.run.log):
            raise Refused("not_found")
        if patch["status"] != "proposed":
            raise Refused("decided")
        return patch

    def reject(self, patch, reason):
        version = self.state().objects.get(patch["target"], {"version": 0})["version"]
        self.append("patch.rejected", {"patch_id": patch["id"], "target": patch["target"], "reason": reason,
                                       "current_version": version})

    def apply_patch(self, patch):
        patch = self.proposed(patch)
        target = self.state().objects.get(patch["target"])
        if target and target["version"] == patch["expected_version"]:
            self.patch(patch["target"], patch["op"], patch["value"], id=patch["id"],
                       expected_version=patch["expected_version"], proposed_by=patch["proposed_by"],
                       rationale=patch["rationale"], evidence=patch["evidence"])
        else:
            found = target["version"] if target else "the object removed"
            self.reject(patch, f"expected version {patch['expected_version']}, found {found}")

    def reject_patch(self, patch, reason=None):
        self.reject(self.proposed(patch), reason)

    def emit(self, type, payload=None):
        check_word(type, 200)
        if type.startswith(HOUSE):
            raise Refused("reserved")
        self.append(type, payload or {})


# The lists of a plan, and what the marker calls each.
LISTS = {"object_creates": "objects_created", "object_patches": "objects_patched", "object_removes": "objects_removed",
         "relation_creates": "relations_created", "relation_removes": "relations_removed"}


class Plan:
    """What promoting a fork would do to its parent, from the two lists of events alone."""

    def __init__(self, fork):
        self.fork, self.parent = fork, fork.parent
        log = self.parent.log
        self.markers = [n for n, e in enumerate(log, 1)
                        if e["type"] == "promote.applied" and e["payload"]["from_run"] == fork.name]
        self.base = seq_of(log[self.markers[-1] - 1]["payload"]["fork_tip"]) if self.markers else fork.cut
        self.then, self.now = State(fork.log[:self.base]), State(fork.log)
        self.there = State(log)
        self.conflicts, self.lists = [], {name: [] for name in LISTS}
        for kind in ("object", "relation"):
            for name in sorted(self.now.used[kind]):
                self.classify(kind, name)
        for relation in self.lists["relation_creates"]:
            self.check_ends(relation)
        for name in self.lists["object_removes"]:
            self.check_orphans(name)

    def since(self, kind, name):
        """The parent's event that it is compared from: where this fork's last promote wrote the thing, else the cut."""
        written = [n for n, e in enumerate(self.parent.log, 1) if e["caused_by"] in map(evt, self.markers) and
                   e["actor"] == f"promote:{self.fork.name}" and
                   e["type"].startswith(("object.", "patch.") if kind == "object" else ("relation.",)) and
                   (e["payload"].get("target") if e["type"] == "patch.applied" else e["payload"]["id"]) == name]
        return written[-1] if written else self.fork.cut

    def classify(self, kind, name):
        then, now = content(self.then.of(kind).get(name)), content(self.now.of(kind).get(name))
        if equal(then, now):
            return
        before = State(self.parent.log[:self.since(kind, name)])
        was, there = content(before.of(kind).get(name)), content(self.there.of(kind).get(name))
        reused = name not in before.used[kind] and name in self.there.used[kind]
        if reused or not equal(was, there):
            self.conflict("both_changed", kind, name, was, there, now)
        elif not now:
            self.lists[f"{kind}_removes"].append(name)
        else:
            which = "patches" if kind == "object" and then else "creates"
            self.lists[f"{kind}_{which}"].append({"id": name, **now})

    def conflict(self, kind, entity, name, base, parent, fork):
        self.conflicts.append({"kind": kind, "entity": entity, "id": name, "in_base": base, "in_parent": parent,
                               "in_fork": fork})

    def check_ends(self, relation):
        made = [thing["id"] for thing in self.lists["object_creates"]]
        kept = set(self.there.objects) - set(self.lists["object_removes"])
        if not {relation["source"], relation["target"]} <= {*made, *kept}:
            now = {key: value for key, value in relation.items() if key != "id"}
            self.conflict("dangling_relation", "relation", relation["id"], None, None, now)

    def check_orphans(self, name):
        if set(self.there.touching(name)) - set(self.lists["relation_removes"]):
            was = State(self.parent.log[:self.since("object", name)]).objects.get(name)
            self.conflict("orphaning_removal", "object", name, content(was), content(self.there.objects[name]), None)

    def warnings(self):
        """What waits in the fork and was proposed there stays there."""
        waiting = [name for name in named(self.fork.log[self.fork.cut:], "patch_")
                   if self.now.patches[name]["status"] == "proposed"]
        return [f"{name} is proposed in the fork and not decided; it is not adopted: decide it there and promote again"
                for name in sorted(waiting)]

    def is_empty(self):
        return not any(self.lists.values())

    def answer(self, dry_run):
        return {"from_run": self.fork.name, "into_run": self.parent.name, "forked_at_event": evt(self.fork.cut),
                "base_event": evt(self.base), "computed_against": evt(len(self.parent.log)) or "", "dry_run": dry_run,
                "is_promotable": not self.conflicts, "is_empty": self.is_empty(), **self.lists,
                "conflicts": self.conflicts, "violations": [], "warnings": self.warnings()}

    def carry_out(self):
        """The marker and the block; gives what the answer says of them."""
        if self.markers and self.is_empty():
            return {"marker_event_id": evt(self.markers[-1]), "applied_event_ids": []}
        log, lists = self.parent.log, self.lists
        marker = len(log) + 1
        last = marker + sum(map(len, lists.values()))
        ids = {LISTS[name]: [thing if isinstance(thing, str) else thing["id"] for thing in lists[name]] for name in lists}
        Writer(self.parent, "runtime").append("promote.applied", {
            "from_run": self.fork.name, "forked_at_event": evt(self.fork.cut), "computed_against": evt(marker - 1),
            "fork_tip": evt(len(self.fork.log)), **ids, "warnings": self.warnings(), "block_final_event": evt(last)})
        block = Writer(self.parent, f"promote:{self.fork.name}", marker)
        for name in lists["relation_removes"]:
            block.append("relation.removed", {"id": name})
        for name in lists["object_removes"]:
            block.append("object.removed", {"id": name})
        for one in lists["object_creates"]:
            block.create(one["id"], one["type"], one["data"])
        for one in lists["object_patches"]:
            block.patch(one["id"], "replace", one["data"], rationale=f"promoted from {self.fork.name}")
        for one in lists["relation_creates"]:
            block.relate(one["id"], one["source"], one["target"], one["type"], one["data"])
        return {"marker_event_id": evt(marker), "applied_event_ids": [evt(n) for n in range(marker + 1, last + 1)]}
