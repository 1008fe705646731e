"""Drawn histories of a house, each step compared with a model that replays everything (model.py).

AG_SEED and AG_HISTORIES say which and how many; a history that differs is made as short as it can be and printed, to be
repeated with AG_HISTORY='[...]' (drawn.py says what its numbers mean).
SPDX-License-Identifier: Apache-2.0
"""
import itertools
import json
import os
import random
import signal
import threading
import time
import unittest
import uuid

from drawn import CLIENTS, Draw, shrink
from house import HERE, PATIENCE, Client, House, kill, main
from model import CHANGES, World
from model_queue import Queue, Reaction, invocations, is_reaction
from model_runs import Plan, Refused, Run, State, evt, seq_of

HISTORIES = int(os.environ.get("AG_HISTORIES", "300"))
SEED = int(os.environ.get("AG_SEED", random.randrange(1 << 32)))
HISTORY = os.environ.get("AG_HISTORY")
UNKNOWN = ("timestamp", "state_hash", "archived_through")
KILLED = 60  # two histories in so many have kills, one of them with behaviours
OF_AGENT = 12  # one in so many has behaviours
BEGUN = 3  # events of the agent before its first work: its pack, its registration, runtime.idle
ROLES = ("supervisor",) * 6 + ("broker",) * 3 + ("agsupd", "down")


class Difference(Exception):
    """The house and the model do not agree."""


def as_text(steps):
    """A history for AG_HISTORY, within quotes."""
    return json.dumps(steps, ensure_ascii=False)


def plain(value, kept=False):
    """For comparing: without what the model cannot know; 1 and 1.0 and true differ; the order of keys counts in what users wrote."""
    if isinstance(value, dict):
        pairs = [(key, plain(one, kept or key in ("data", "value"))) for key, one in value.items()
                 if kept or key not in UNKNOWN]
        return {"in order": pairs} if kept else dict(sorted(pairs))
    return [plain(one, kept) for one in value] if isinstance(value, list) else value


def text(value):
    """As plain, as text."""
    return json.dumps(plain(value), ensure_ascii=False)


def same(what, wanted, got):
    """Or a Difference that shows both."""
    if text(wanted) != text(got):
        raise Difference(f"{what}\n  model: {text(wanted)[:3000]}\n  house: {text(got)[:3000]}")


# Playing it.

class Player:
    """One history against the house, and the world that the model says it should be."""

    def __init__(self, house, model=World):
        self.house, self.world, self.others = house, model(), []
        self.clients = house.clients
        self.order, self.asked = [], []  # names of runs as they were made; requests that had an answer
        self.agent = None  # the name of the run of the agent that this history began with
        self.stream = self.ask_all([{"do": "status"}])[0]["stream"]

    # What numbers stand for.

    def run(self, number):
        return self.world.runs[self.order[number % len(self.order)]] if self.order else None

    def fork_of(self, number):
        """Any fork."""
        forks = [self.world.runs[name] for name in self.order if self.world.runs[name].parent]
        forks = [fork for fork in forks if fork.parent.name in self.order]
        return forks[number % len(forks)] if forks else None

    def point(self, run, number):
        """Also the first event that does not exist; often within a promote's block."""
        if number is None:
            return run.name
        blocks = [n for n, e in enumerate(run.log, 1) if (e["actor"] or "").startswith("promote:")]
        if blocks and number % 3 == 0:
            return f"{run.name}@{evt(blocks[number // 3 % len(blocks)] - number % 2)}"
        return f"{run.name}@{1 + number % (len(run.log) + 1)}"

    def thing(self, names, live, number):
        """Mostly one that is there, or None; else one that was, or never was."""
        if number % 16:
            return live[number // 16 % len(live)] if live else None
        return [*names, "note#404"][number // 16 % (len(names) + 1)]

    def of_agent(self):
        """A fork of the agent where it had only begun; what it is made of is taken as it is."""
        log = [e for e in self.house.log_of("ripple") if e["seq"] <= BEGUN]
        self.agent = self.world.runs[log[0]["run"]] = Run(log[0]["run"])
        self.agent.log = [{key: e[key] for key in ("type", "payload", "actor", "frame_id", "caused_by")} for e in log]
        self.agent.reacts = True
        return {"do": "fork", "point": f"{self.agent.name}@{BEGUN}"}

    def resolve_ops(self, run, ops):
        """Without those that would be about something of a kind that is not there."""
        return [op for op in (self.resolve_op(run, op) for op in ops) if None not in op.values()]

    def resolve_op(self, run, op):
        state = State(run.log)
        known = {"object": sorted(state.used["object"]), "relation": sorted(state.used["relation"]),
                 "patch": sorted(state.patches)}
        live = {"object": sorted(state.objects), "relation": sorted(state.relations),
                "patch": [name for name in known["patch"] if state.patches[name]["status"] == "proposed"]}
        kinds = {"source": "object", "target": "object", "patch": "patch",
                 "id": "relation" if op["op"] == "remove_relation" else "object"}
        return {key: self.thing(known[kinds[key]], live[kinds[key]], value)
                if key in kinds and isinstance(value, int) else value for key, value in op.items()}

    def resolve(self, step):
        """The request that a step is now, or None."""
        if step["do"] == "agent":
            return self.of_agent()
        run = self.run(step.get("run", 0))
        if "up" in step and run and run.parent and run.parent.name in self.order:
            run = run.parent
        if step["do"] == "promote" and step["run"] > 0 and step["run"] % 8:
            run = self.fork_of(step["run"] // 8) or run
        if step["do"] == "create":
            request = {}
        elif not run:
            return None
        elif step["do"] == "apply":
            request = {"run": run.name, "ops": self.resolve_ops(run, step["ops"])}
        elif step["do"] == "fork":
            request = {"point": self.point(run, step.get("at")), **({"ids": step["ids"]} if "ids" in step else {})}
        elif step["do"] == "promote":
            if run.parent and run.parent.name not in self.order:
                return None
            request = {"fork": run.name, **({"dry_run": True} if "dry_run" in step else {})}
        elif step["do"] == "discard":
            if self.agent:
                return None
            request = {"fork": run.name}
        elif step["do"] == "objects":
            request = {"run": self.point(run, step.get("at"))}
        elif step["do"] == "diff":
            request = {"a": self.point(self.run(step["a"]), step.get("a_at")), "b": self.run(step["b"]).name}
        else:
            request = {"run": run.name, **{key: step[key] for key in ("type", "payload", "text") if key in step}}
        if "expect" in step:
            about = run.parent or run if step["do"] == "promote" else run
            request["expect"] = evt(max(1, len(about.log) - step["expect"] % 3))
        return {"do": step["do"], **request}

    # Asking.

    def ask_all(self, requests, role=None, given_up=0):
        """One answer each, under an id of its own; all are under way at once, and a process may die meanwhile.
        The last ones may be given up: their answer is None, whether or not they were done."""
        for client, request in zip(self.clients, requests):
            request.setdefault("id", uuid.uuid4().hex)
            client.send(**request)
        if role:
            self.strike(role)
        for client in self.clients[len(requests) - given_up:len(requests)]:
            client.open()
        waited = len(requests) - given_up
        return [self.finish(*pair, bool(role)) for pair in zip(self.clients, requests[:waited])] + [None] * given_up

    def finish(self, client, request, dying):
        """Asked again by its id until there is an answer that is one."""
        end, patience = time.monotonic() + PATIENCE, 0.2 if dying else 5
        while True:
            answer = client.receive(patience)
            while answer and answer.get("id") != request["id"]:
                answer = client.receive(patience)
            if answer and not (answer["do"] == "error" and answer["code"] in ("busy", "no_supervisor", "not_allowed")):
                return answer
            if time.monotonic() > end:
                raise Difference(f"no answer within {PATIENCE} s to {request}: {answer}")
            client.open()
            try:
                client.send(**request)
            except OSError:  # no house at the moment
                time.sleep(0.05)
            time.sleep(0.05 if answer else 0)
            patience = min(2 * patience, 10)

    def strike(self, role):
        """Kill one; down is the ordinary end."""
        if role in ("agsupd", "down"):
            self.house.down() if role == "down" else self.house.kill(role)
            self.house.up()
            return
        pid = self.house.pid(role) if role != "worker" else next(
            (unit["pid"] for unit in self.house.ask("status")["forks"] if unit["pid"]), None)
        if pid:
            kill(pid, signal.SIGKILL)

    # Comparing.

    def look(self):
        """The events since the last look, of all runs but the fleet's own, in the order of the store; and one run's
        objects, to be compared."""
        run = self.run(len(self.asked))
        asked = [{"do": "events", "after": self.stream, "limit": 5000}]
        asked += [{"do": "objects", "run": run.name}] if run else []
        page, *objects = self.ask_all(asked)
        self.stream = page["after"]
        events = [e for e in page["events"] if e["label"] != "fleet"]
        if page["more"]:
            events += self.look()[0]
        return events, asked[1:], objects

    @staticmethod
    def try_order(world, requests, answers, order, shown, may_die):
        """What the world would be, and what it would have answered and written where the house has written this."""
        world, said, todo, at = world.copy(), {}, list(order), 0
        begin = len(world.written)
        while todo or at < len(shown):
            if at < len(shown) and is_reaction(shown[at]) and shown[at]["run"] in world.runs:
                run, before = world.runs[shown[at]["run"]], len(world.runs[shown[at]["run"]].log)
                try:
                    Reaction(world, run, shown[at:], may_die).happen()
                except Refused:
                    break  # in this order it could not have been done
                world.written += [(run.name, seq) for seq in range(before + 1, len(run.log) + 1)]
            elif todo:
                n = todo.pop(0)
                try:
                    said[n] = world.do(requests[n], answers[n] and answers[n].get("run_id"))
                except Refused as refused:
                    said[n] = {"code": refused.code}
                if len(world.written) - begin == at:
                    continue  # it wrote nothing
            if len(world.written) - begin == at:
                break  # the house did what nobody should
            at = len(world.written) - begin
        events = [{"run": run, "id": evt(seq), **world.runs[run].log[seq - 1]} for run, seq in world.written[begin:]]
        return world, [said.get(n) if answers[n] else None for n in range(len(requests))], events

    def explain(self, requests, answers, events):
        """Some order of the requests must give these answers and these events; the world goes on from there. What was
        given up may be left out. Of a snapshot that was begun meanwhile nobody sees yet where: each world that it may
        have begun in goes on."""
        got = [answer and bare(answer) for answer in answers]
        shown = [{key: e[key] for key in ("run", "id", "type", "payload", "actor", "frame_id", "caused_by")}
                 for e in events]
        nearest, most, found = None, -1, {}
        for before, order in itertools.product([self.world, *self.others], orders(answers)):
            world, said, written = self.try_order(before, requests, answers, order, shown, self.may_die)
            if text([said, written]) == text([got, shown]):
                found.setdefault(text(world.begun), world)
                if not world.begun:
                    break
            alike = len(list(itertools.takewhile(lambda two: text(two[0]) == text(two[1]), zip(written, shown))))
            if alike > most:
                nearest, most = (said, written), alike
        if found:
            self.world, *self.others = found.values()
            return
        which = f"{requests}" if len(requests) < 2 else f"no order explains the answers to {requests}"
        same(which, nearest[0], got)
        same(which, nearest[1][most:][:3], shown[most:][:3])

    def settle(self, runs):
        """Wait until the behaviours have done all there was."""
        while self.agent and not self.ask_all([{"do": "wait", "runs": runs, "wait_ms": 2000}])[0]["done"]:
            pass

    def check_idle(self):
        left = {name: Queue(run).open or Queue(run).next or "runtime.idle" for name, run in self.world.runs.items()
                if run.reacts and run.parent and not Queue(run).is_idle()}
        same("what is left to do", {}, left)

    def requests_of(self, step):
        if step["do"] == "again":
            if not self.asked:
                return []
            request = dict(self.asked[step["which"] % len(self.asked)])
            if "other" in step:
                request = {"do": "create", "id": request["id"]} if request["do"] != "create" else {
                    "do": "goal", "run": self.order[0], "text": "other", "id": request["id"]}
            return [request]
        steps = step["steps"] if "steps" in step else [step]
        return [request for request in map(self.resolve, steps) if request]

    def play(self, step):
        requests = self.requests_of(step)
        if not requests:
            return
        given_up = "given_up" in step and requests[-1]["do"] in ("apply", "promote", "tell", "goal")
        answers = self.ask_all(requests, step.get("role"), int(given_up))
        made = [a["run_id"] for a in answers if a and a.get("run_id") and a["run_id"] not in self.order]
        self.may_die = "role" in step
        self.settle(self.order + made)
        events, looks, objects = self.look()
        self.explain(requests, answers, events)
        self.check_idle()
        self.explain(looks, objects, [])
        self.order += made
        self.asked += [r for r, a in zip(requests, answers) if r["do"] in CHANGES and a and a["do"] != "error"]

    def end(self):
        """At the end every list, and the house's own opinion of itself."""
        for run in self.world.runs.values():
            if run is self.agent:
                continue
            log = self.house.log_of(run.name)
            same(f"the log of {run.name}", [{"id": evt(n), **e} for n, e in enumerate(run.log, 1)],
                 [{key: e[key] for key in ("id", "type", "payload", "actor", "frame_id", "caused_by")} for e in log])
            found = self.ask_all([{"do": "verify", "run": run.name, "state": True, "ticket": run.name, "wait_ms": 60000}])[0]
            if not (found.get("ok") and found.get("done")):
                raise Difference(f"verify: {found}")
        self.replay_all()

    def replay_all(self):
        """What behaviours did is done again, and is what stands in the log."""
        done = {run.name: len(invocations(run.log[run.cut:], "behavior.completed"))
                for run in self.world.runs.values() if run is not self.agent}
        todo = [{"do": "replay", "run": name, "ticket": uuid.uuid4().hex, "wait_ms": 2000}
                for name, count in done.items() if count]
        while todo:
            some = todo[:CLIENTS]  # as many as the house does at once
            answers = self.ask_all([dict(request) for request in some])
            for request, answer in zip(some, answers):
                if answer["do"] == "error" or answer["done"]:
                    found = {key: answer.get(key) for key in ("invocations", "skipped", "divergence", "message")}
                    same(f"the strict replay of {request['run']}", {
                        "invocations": done[request["run"]], "skipped": 0, "divergence": None, "message": None}, found)
                    todo.remove(request)


def orders(answers):
    """Every order of the requests, those that were given up also left out."""
    given_up = [n for n, answer in enumerate(answers) if answer is None]
    for left_out in range(len(given_up) + 1):
        for without in itertools.combinations(given_up, left_out):
            yield from itertools.permutations(n for n in range(len(answers)) if n not in without)


def bare(answer):
    """What an answer says, without the labels, which the model does not know; of an error only its code."""
    if answer["do"] == "error":
        return {"code": answer["code"]}
    left = {key: value for key, value in answer.items() if key not in ("do", "id", "from_label", "into_label")}
    if "conflicts" in left:
        left["conflicts"] = [{key: c[key] for key in c if key != "detail"} for c in left["conflicts"]]
    return left


def play(house, steps, model=World):
    """The Difference, or None."""
    try:
        player = Player(house, model)
        for step in steps:
            player.play(step)
        player.end()
    except Difference as difference:
        for client in house.clients:
            client.open()
        return difference
    return None


class Careless(Plan):
    """Adopts a removal in spite of relations that would lose their object."""

    def check_orphans(self, name):
        pass


class Wrong(World):
    """A model with one mistake."""

    plan = Careless


class Checked(unittest.TestCase):
    """In one house, each test and each history with runs of its own."""

    @classmethod
    def setUpClass(cls):
        keys = {"packs": [os.path.join(HERE, "ripple")], "attempts": 100, "restart": {"at_most": 1000, "within": "1m"}}
        if os.geteuid() != 0:
            keys["layers"] = {"uid": "off"}
        cls.house = House({"ripple": keys})
        cls.addClassCleanup(cls.house.close)
        cls.house.up()
        cls.house.idle("ripple")
        cls.house.clients = [Client(cls.house) for _ in range(CLIENTS)]
        for client in cls.house.clients:
            client.open()
            cls.addClassCleanup(client.close)

    def check(self, steps, name):
        difference = play(self.house, steps)
        if difference:
            short, still = shrink(lambda less: play(self.house, less), steps)
            self.fail(f"{name}: {still or difference}\n"
                      f"{'' if still else 'but not when played again: '}AG_HISTORY='{as_text(short)}'")

    def test_drawn_histories_are_what_the_model_says(self):
        if HISTORY:
            self.check(json.loads(HISTORY), "AG_HISTORY")
            return
        print(f"AG_SEED={SEED} AG_HISTORIES={HISTORIES}", flush=True)
        begin = time.monotonic()
        for n in range(HISTORIES):
            roles = ROLES if n % KILLED in (0, KILLED // 2) else ()
            draw = Draw(f"{SEED}/{n}")
            steps = draw.history_of_agent(roles) if n % OF_AGENT == 0 else draw.history(roles)
            self.check(steps, f"history {n} of AG_SEED={SEED}")
        print(f"{HISTORIES} histories in {time.monotonic() - begin:.0f} s", flush=True)

    def test_a_wrong_model_is_found_out_and_the_history_made_short(self):
        for n in range(500):
            steps = Draw(f"wrong/{n}").history(())
            if play(self.house, steps, Wrong):
                break
        short, difference = shrink(lambda less: play(self.house, less, Wrong), steps, 10)
        self.assertIn("orphaning_removal", str(difference))
        self.assertLessEqual(len(short), 8, as_text(short))
        print(f"{difference}\nAG_HISTORY='{as_text(short)}'", flush=True)
        self.assertIsNone(play(self.house, short))

    def notes(self, *ids):
        """A run with these objects."""
        run = self.house.ask("create")["run_id"]
        self.house.ask("apply", run=run, ops=[{"op": "add_object", "type": "note", "id": name} for name in ids])
        return run

    def at_once(self, requests):
        """Answers to requests that were all sent before the first is read."""
        clients = [Client(self.house) for _ in requests]
        try:
            for client, request in zip(clients, requests):
                client.send(**request)
            return [client.receive(PATIENCE) for client in clients]
        finally:
            for client in clients:
                client.close()

    def test_of_concurrent_promotes_with_one_base_exactly_one_wins(self):
        for _ in range(20):
            parent = self.notes("note#1")
            forks = [self.house.ask("fork", point=parent)["run_id"] for _ in range(8)]
            for n, fork in enumerate(forks):
                self.house.ask("apply", run=fork, ops=[{"op": "patch_object", "id": "note#1", "data": {"by": n}}])
            answers = self.at_once([{"do": "promote", "fork": fork} for fork in forks])
            won = [n for n, answer in enumerate(answers) if answer["is_promotable"]]
            self.assertEqual(len(won), 1)
            self.assertEqual({c["kind"] for n, a in enumerate(answers) if n not in won for c in a["conflicts"]},
                             {"both_changed"})
            self.assertEqual(self.house.objects(parent), {"note#1": {"by": won[0]}})
            self.assertEqual([e["type"] for e in self.house.log_of(parent)][1:], ["promote.applied", "patch.applied"])

    def test_appends_are_linearizable_per_run(self):
        run = self.notes("note#0")
        loads = [Appender(self.house, run, name) for name in "abcd"]
        for load in loads:
            load.start()
        for load in loads:
            load.join()
            if load.failed:
                raise load.failed
        told = [e for e in self.house.log_of(run) if e["type"] == "said"]
        self.assertEqual(len(told), sum(len(load.done) for load in loads))
        places = {(e["payload"]["by"], e["payload"]["n"]): e["seq"] for e in told}
        for load in loads:
            for n, (before, answered, after) in enumerate(load.done):
                self.assertEqual(places[load.name, n], seq_of(answered))
                self.assertTrue(before < places[load.name, n] <= after)  # between its question and its answer


class Appender(threading.Thread):
    """Says one thing after the other; of each it keeps the run's tip before, the answer, the tip after."""

    def __init__(self, house, run, name):
        super().__init__(daemon=True, name=name)
        self.client, self.target = Client(house), run
        self.done, self.failed = [], None

    def tip(self):
        return seq_of(self.client.ask("objects", run=self.target)["at"])

    def run(self):
        try:
            for n in range(100):
                before = self.tip()
                done = self.client.ask("tell", run=self.target, type="said", payload={"by": self.name, "n": n})
                self.done.append((before, done["event_id"], self.tip()))
        except Exception as error:  # told by the main thread
            self.failed = error
        finally:
            self.client.close()


if __name__ == "__main__":
    main()
