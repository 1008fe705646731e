"""Runs between stores: files of JSON lines, and a SQLite store with ActiveGraph's tables, made here by hand.
SPDX-License-Identifier: Apache-2.0
"""
import json
import os
import sqlite3
import threading
import unittest

from house import House, Refused, main, until

TIME = "2026-01-31T12:00:00Z"


def event(number, kind, payload, actor="user", cause=None, frame=None):
    """As a line holds it, in the order of fields that a line has."""
    return {"id": f"evt_{number:03}", "type": kind, "payload": payload, "actor": actor, "frame_id": frame,
            "caused_by": cause and f"evt_{cause:03}", "timestamp": TIME}


def made(number, name, data, run="01PARENT", actor="planner", cause=1):
    """An object that a behaviour made."""
    provenance = {"created_by": actor, "caused_by_event": f"evt_{cause:03}", "frame_id": None, "timestamp": TIME,
                  "evidence": [], "run_id": run}
    thing = {"id": name, "type": name.split("#")[0], "data": data, "version": 1, "provenance": provenance}
    return event(number, "object.created", {"object": thing, "id": name}, actor, cause)


def linked(number, name, source, target):
    """A relation; its ends need not exist."""
    thing = {"id": name, "source": source, "target": target, "type": "on", "data": {}, "provenance": {}}
    return event(number, "relation.created", {"relation": thing, "id": name, "source": source, "target": target})


def patched(number, name, op, value, actor="planner", cause=1):
    """A patch that was applied."""
    patch = {"id": f"patch_{number:03}", "target": name, "op": op, "value": value, "expected_version": 1,
             "proposed_by": actor, "rationale": None, "evidence": [], "status": "applied", "rejection_reason": None,
             "provenance": {}}
    return event(number, "patch.applied", {"patch": patch, "target": name, "diff": {}}, actor, cause)


PARENT = [
    event(1, "goal.created", {"goal": "Prüfe alles 🙂"}),
    event(2, "behavior.started", {"behavior": "planner", "event_id": "evt_001"}, "runtime", 1),
    made(3, "task#1", {"n": 1, "x": 0.1, "big": 2**63, "none": None, "deep": [[{}]]}),
    made(4, "task#2", {}),
    linked(5, "rel_001", "task#1", "task#2"),
    linked(6, "rel_002", "task#1", "nowhere"),
    event(7, "llm.responded", {"raw_text": "yes", "cost_usd": "0.01"}, "runtime", 2, "frame_001"),
    event(8, "behavior.completed", {"behavior": "planner", "event_id": "evt_001"}, "runtime", 1),
    event(9, "runtime.idle", {"snapshot": {}}, "runtime"),
]
AFTER = [  # in the parent, after its fork at evt_006: a promote of it
    event(10, "promote.applied", {"from_run": "01FORK", "forked_at_event": "evt_006", "objects_created": ["task#3"]},
          "runtime"),
    event(11, "object.removed", {"id": "task#2"}, "promote:01FORK", 10),
    made(12, "task#3", {"of": "fork"}, actor="promote:01FORK", cause=10),
]
FORK = [made(7, "task#3", {"of": "fork"}, "01FORK"), event(8, "object.removed", {"id": "task#2"})]


def lines(events):
    """As export writes them."""
    return "".join(json.dumps(e, ensure_ascii=False, separators=(",", ":")) + "\n" for e in events)


def store(path, runs, events, archived=(), version="1"):
    """A SQLite store; runs: (id, parent, cut, label), events: (run, event)."""
    base = sqlite3.connect(path)
    columns = ("id TEXT NOT NULL, type TEXT NOT NULL, actor TEXT, payload TEXT NOT NULL, frame_id TEXT, "
               "caused_by TEXT, timestamp TEXT NOT NULL, run_id TEXT NOT NULL")
    base.execute("PRAGMA journal_mode=WAL")
    base.execute(f"CREATE TABLE events (seq INTEGER PRIMARY KEY AUTOINCREMENT, {columns}, UNIQUE(id, run_id))")
    base.execute(f"CREATE TABLE events_archive (seq INTEGER, {columns}, archived_at TEXT NOT NULL)")
    base.execute("CREATE TABLE runs (run_id TEXT PRIMARY KEY, parent_run_id TEXT, forked_at_event_id TEXT, "
                 "label TEXT, created_at TEXT NOT NULL, goal TEXT, frame_id TEXT)")
    base.execute("CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL)")
    base.execute("INSERT INTO meta VALUES ('schema_version', ?)", (version,))
    for run in runs:
        base.execute("INSERT INTO runs VALUES (?, ?, ?, ?, ?, NULL, NULL)", (*run, TIME))
    for run, e in events:
        base.execute("INSERT INTO events VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?)",
                     (e["id"], e["type"], e["actor"], json.dumps(e["payload"], ensure_ascii=False), e["frame_id"],
                      e["caused_by"], e["timestamp"], run))
    for run, before in archived:
        where = "WHERE run_id = ? AND CAST(substr(id, 5) AS INTEGER) < ?"
        base.execute("INSERT INTO events_archive SELECT seq, id, type, actor, payload, frame_id, caused_by, "
                     f"timestamp, run_id, ? FROM events {where}", (TIME, run, before))
        base.execute(f"DELETE FROM events {where}", (run, before))
    base.commit()
    base.close()


class Interchange(unittest.TestCase):
    """One house; every test brings runs of its own."""

    @classmethod
    def setUpClass(cls):
        cls.house = House()
        cls.addClassCleanup(cls.house.close)
        cls.house.up()

    def setUp(self):
        self.name = self.id().rsplit(".", 1)[1][5:35].replace("_", "-")
        self.path = os.path.join(self.house.dir, self.name)

    def take(self, *words, **keys):
        """The runs that were imported."""
        return self.house.json("import", self.path, *words, **keys)["runs"]

    def export(self, *runs):
        return self.house.cli("export", *runs).stdout

    def write(self, text):
        with open(self.path, "w", encoding="utf-8") as file:
            file.write(text)

    def runs(self):
        return [run["run"] for run in self.house.json("tree")["runs"]]

    def refused(self, text):
        """What import says of a file that it does not take; nothing of it is there afterwards."""
        before = self.runs()
        self.write(text)
        done = self.house.cli("import", self.path, check=False)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertEqual(self.runs(), before)
        return done.stderr

    def test_what_comes_through_a_pipe_is_taken_from_its_first_byte(self):
        os.mkfifo(self.path)
        writer = threading.Thread(target=self.write, args=(lines(PARENT),))
        writer.start()
        run, = self.take()
        writer.join()
        self.assertEqual(self.export(run["run_id"]), lines(PARENT))

    def test_a_file_is_kept_to_the_byte(self):
        text = lines(PARENT + AFTER)
        self.write(text)
        [run] = self.take("--label", self.name)
        self.assertEqual((run["label"], run["events"], run["refused"]), (self.name, 12, None))
        self.assertEqual(self.export(self.name), text)
        self.write(self.export(self.name))
        [again] = self.take()
        self.assertEqual(self.export(again["run_id"]), text)
        self.assertEqual(set(self.house.objects(self.name)), {"task#1", "task#3"})

    def test_what_is_odd_is_kept_and_verify_names_it(self):
        self.write(lines(PARENT + AFTER))
        [run] = self.take()
        [checked] = self.house.json("verify", run["run_id"], "--state")["runs"]
        self.assertEqual((checked["reason"], checked["odd_count"]), (None, 1))
        self.assertEqual(checked["odd"], [{"event": "evt_006",
                                           "what": "the target of rel_002, nowhere, does not exist"}])
        self.assertIn("evt_006: the target of rel_002", self.house.cli("verify", run["run_id"]).stdout)

    def test_a_sqlite_store_gives_all_its_runs_with_their_lineage(self):
        shared = PARENT[:6]
        store(self.path,
              [("01FORK", "01PARENT", "evt_006", self.name + "-f"), ("01PARENT", None, None, self.name),
               ("01GRAND", "01FORK", "evt_007", None), ("01EMPTY", None, None, None)],
              [("01PARENT", e) for e in PARENT + AFTER] + [("01FORK", e) for e in shared + FORK] +
              [("01GRAND", e) for e in shared + FORK[:1] + [made(8, "task#4", {}, "01GRAND")]],
              archived=[("01PARENT", 4)])
        runs = {run["origin"]: run for run in self.take()}
        parent, fork, grand = runs["01PARENT"], runs["01FORK"], runs["01GRAND"]
        self.assertEqual((parent["label"], fork["label"]), (self.name, self.name + "-f"))
        self.assertEqual((fork["parent_run_id"], fork["forked_at_event"]), (parent["run_id"], "evt_006"))
        self.assertEqual((grand["parent_run_id"], grand["forked_at_event"]), (fork["run_id"], "evt_007"))
        self.assertEqual([runs[o]["events"] for o in ("01PARENT", "01FORK", "01GRAND", "01EMPTY")], [12, 8, 8, 0])
        for run, events in (("01PARENT", PARENT + AFTER), ("01FORK", shared + FORK)):
            self.assertEqual(self.export(runs[run]["run_id"]), lines(events))
            [checked] = self.house.json("verify", runs[run]["run_id"], "--state")["runs"]
            self.assertIsNone(checked["reason"])
        own = {run["run"]: run["events"] for run in self.house.json("verify")["runs"]}
        self.assertEqual((own[fork["run_id"]], own[grand["run_id"]]), (2, 1))  # the prefix is stored once
        self.assertEqual(set(self.house.objects(fork["run_id"])), {"task#1", "task#3"})
        self.assertEqual(self.house.json("diff", parent["run_id"], fork["run_id"])["divergent_objects"], [])

    def test_a_fork_whose_copy_differs_becomes_a_run_of_its_own(self):
        other = [*PARENT[:2], made(3, "task#1", {"n": 2})]
        store(self.path, [("A", None, None, None), ("B", "A", "evt_003", None), ("C", "X", "evt_001", None)],
              [("A", e) for e in PARENT] + [("B", e) for e in other] + [("C", PARENT[0]), ("D", PARENT[0])])
        done = self.house.cli("import", self.path)
        self.assertIn("run B was a fork of A at evt_003; their events differ", done.stderr)
        self.assertIn("run C was a fork of X at evt_001; that is not there", done.stderr)
        self.assertIn("run D has events and no row in the catalogue", done.stderr)
        found = [run for run in self.house.json("tree")["runs"] if run["run"] in done.stdout.split()]
        self.assertEqual([run["parent_run_id"] for run in found], [None] * 4)
        self.assertEqual(self.export(next(r["run"] for r in found if r["origin"] == "B")), lines(other))

    def test_a_store_that_is_another_version_or_damaged_is_refused_and_leaves_nothing(self):
        before = self.runs()
        store(self.path, [("A", None, None, None)], [("A", PARENT[0])], version="9")
        done = self.house.cli("import", self.path, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("version 9, not 1", done.stderr)
        os.remove(self.path)
        bad = dict(PARENT[1], payload={"x": 1})
        store(self.path, [("A", None, None, None)], [("A", PARENT[0]), ("A", bad)])
        base = sqlite3.connect(self.path)
        base.execute("UPDATE events SET payload = '{\"x\": NaN}' WHERE id = 'evt_002'")
        base.commit()
        base.close()
        done = self.house.cli("import", self.path, check=False)
        self.assertIn("row 2: payload: line 1", done.stderr)
        self.assertEqual(self.runs(), before)

    def test_several_runs_go_to_a_file_and_come_back_as_they_were(self):
        cli = self.house.cli
        cli("create", "--label", self.name)
        cli("apply", self.name, stdin=json.dumps({"op": "add_object", "type": "n", "id": "n#1"}))
        cli("fork", self.name, "--label", self.name + "-f")
        cli("apply", self.name + "-f", stdin=json.dumps({"op": "add_object", "type": "n"}))
        cli("promote", self.name + "-f")
        cli("fork", self.name + "-f", "--label", self.name + "-g")
        names = [self.name, self.name + "-f", self.name + "-g"]
        text = self.export(*names)
        renamed = text.replace(self.name, self.name[::-1])
        self.write(renamed)
        runs = self.take()
        self.assertEqual([run["parent_run_id"] for run in runs], [None, runs[0]["run_id"], runs[1]["run_id"]])
        self.assertEqual(self.export(*(run["run_id"] for run in runs)), renamed)
        for name, run in zip(names, runs):
            self.assertEqual(self.house.objects(run["run_id"]), self.house.objects(name))
            self.assertEqual(self.export(run["run_id"]), self.export(name))
        self.assertIn("promoted", cli("promote", runs[2]["run_id"]).stdout)

    def test_a_line_that_cannot_be_kept_refuses_the_file_and_is_named(self):
        many = lines(event(n, "t", {}) for n in range(1, 2501))  # several pages come before it
        self.assertIn("line 2501: its id is evt_007 where evt_2501 comes next", self.refused(many + lines([event(7, "t", {})])))
        self.assertIn("line 2502, column 2", self.refused(many + "\n{\n"))
        self.assertIn("line 1, column 43: a number that is too large", self.refused('{"id":"evt_001","type":"t","payload":{"x":1e999}}\n'))
        self.assertIn("holds no event", self.refused("\n"))

    def test_a_supervisor_that_dies_in_an_import_has_seen_nothing_of_it(self):
        before, ask = self.runs(), self.house.ask
        page = [[n, event(n, "t", {})] for n in range(1, 501)]
        ask("import", name=self.name, page=1, items=page, id=self.name + "/1")
        self.assertEqual(self.runs(), before)
        self.house.kill("supervisor")
        until("the supervisor", lambda: self.house.pid("supervisor"))
        with self.assertRaises(Refused) as caught:
            ask("import", name=self.name, page=2, items=page)
        self.assertEqual(caught.exception.code, "usage")
        self.assertEqual(self.runs(), before)
        ask("import", name=self.name, page=1, items=page, id=self.name + "/1")  # the old answer is gone, too
        [run] = ask("import_end", name=self.name)["runs"]
        self.assertEqual(run["events"], 500)
        self.assertIsNone(self.house.json("verify", run["run_id"])["runs"][0]["reason"])

    def test_an_import_is_repeated_under_its_name_and_done_once(self):
        self.write(lines(PARENT))
        first = self.take("--request-id", self.name)
        self.assertEqual(self.take("--request-id", self.name), first)
        self.write(lines(PARENT[:3]))
        done = self.house.cli("import", self.path, "--request-id", self.name, check=False)
        self.assertIn("stands for another request", done.stderr)
        self.assertEqual([run["run_id"] for run in first], [r for r in self.runs() if r == first[0]["run_id"]])

    def test_where_nobody_is_nothing_was_taken(self):
        self.write(lines(PARENT))
        done = self.house.cli("import", self.path, "--home", os.path.join(self.house.dir, "none"), check=False)
        self.assertEqual(done.returncode, 69)
        self.assertNotIn("taken", done.stderr)

    def test_history_moves_nobody(self):
        stream = self.house.ask("status")["stream"]
        self.write(lines(PARENT))
        [run] = self.take()
        self.assertEqual(self.house.ask("status")["stream"], stream)
        self.assertIsNone(json.loads(self.house.cli("log", run["run_id"], "--json", "--limit", "1").stdout)["stream"])
        self.house.idle(run["run_id"])


if __name__ == "__main__":
    main()
