"""Snapshots, archives and discarded forks through the command line: nothing is lost, whoever is killed when.
SPDX-License-Identifier: Apache-2.0
"""
import json
import os
import threading
import time
import unittest

from house import HERE, Client, House, agent, is_alive, main, until

EVENTS = 24000  # of the long run: more than two requests of its archive


def make_long(house, name):
    """A run of EVENTS events: 3,000 objects that are patched again and again."""
    house.cli("create", "--label", name)
    made = [{"op": "add_object", "type": "note", "id": f"note#{i}", "data": {"n": i, "text": "as it was made"}}
            for i in range(1, 3001)]
    for i in range(0, EVENTS, 3000):
        ops = made if i == 0 else [
            {"op": "patch_object", "id": f"note#{k}", "data": {"n": i + k, "text": f"as of {i}"}} for k in range(1, 3001)]
        house.ask("apply", run=name, ops=ops)


class Keeping(unittest.TestCase):
    """One house; every test makes runs of its own."""

    @classmethod
    def setUpClass(cls):
        greeter = {"packs": [os.path.join(HERE, "greet")], "goal": "world"}
        if os.geteuid() != 0:
            greeter["layers"] = {"uid": "off"}
        cls.house = House({"greeter": greeter, "actor": agent({"name": "busy", "on": ["work"]})})
        cls.addClassCleanup(cls.house.close)
        cls.house.up()
        cls.house.idle("greeter", "actor")

    def refused(self, status, *words):
        done = self.house.cli(*words, check=False)
        self.assertEqual(done.returncode, status, done.stderr)
        return done.stderr

    def sound(self, run):
        verified = self.house.json("verify", run, "--state")
        self.assertTrue(verified["ok"], verified)

    def test_a_fork_that_stands_still_is_idle_after_its_snapshot(self):
        fork = self.house.ask("fork", point="greeter")["run_id"]
        while self.house.ask("snapshot", run=fork)["more"]:
            pass
        self.house.idle(fork, seconds=10)

    def test_a_long_verification_leaves_the_house_to_others_while_the_run_goes_on(self):
        make_long(self.house, "wide")
        early = self.house.ask("verify", run="wide", state=True, ticket="nobody asks again")
        self.assertEqual((early["done"], early["runs"]), (False, []))
        said, begin = [], time.monotonic()
        verify = threading.Thread(target=lambda: said.append(self.house.json("verify", "wide", "--state")))
        verify.start()
        slowest = count = 0
        while verify.is_alive():
            at = time.monotonic()
            self.house.ask("apply", run="wide", ops=[{"op": "patch_object", "id": "note#7", "data": {"now": count}}])
            slowest, count = max(slowest, time.monotonic() - at), count + 1
        took = time.monotonic() - begin
        self.assertTrue(said[0]["ok"], said)
        self.assertIn(said[0]["runs"][0]["events"] - EVENTS, range(count))
        page = self.house.ask("failures", run="wide")  # so does a search that finds nothing
        self.assertEqual((page["failures"], page["more"]), ([], True))
        self.assertLess(page["after"], EVENTS / 2)
        self.assertLess(slowest, took / 4, f"{count} requests while a verification took {took:.1f} s")

    def test_an_export_is_the_same_before_and_after_an_archive_whoever_was_killed_meanwhile(self):
        make_long(self.house, "long")
        before = self.house.cli("export", "long").stdout
        objects = self.house.cli("--json", "objects", "long").stdout
        self.assertEqual(before.count("\n"), EVENTS)
        old = self.house.cli("--json", "objects", "long@9000").stdout
        for kills, do in ((2, "snapshot"), (2, "archive")):
            moved, more = set(), True
            while more:  # killed in the middle of a request, as far as time can choose that
                if len(moved) < kills:
                    self.house.client.send(do, run="long", id=f"{do}-{len(moved)}")
                    time.sleep(0.02 * len(moved))
                    self.house.kill("supervisor")
                answer = self.house.ask(do, run="long")
                more = answer["more"]
                moved.add(answer.get("archived_through", answer.get("objects")))
            self.assertGreater(len(moved), 2, "the work was not taken in steps")
        self.assertEqual(answer["archived_through"], f"evt_{EVENTS}")
        after = self.house.cli("export", "long").stdout
        self.assertTrue(after.startswith(before))
        self.assertEqual(json.loads(after[len(before):])["type"], "runtime.snapshot")
        shown, now = json.loads(objects), self.house.json("objects", "long")
        self.assertEqual((shown["objects"], shown["relations"]), (now["objects"], now["relations"]))
        self.assertEqual(self.house.cli("--json", "objects", "long@9000").stdout, old)
        self.sound("long")
        self.fork_of_the_past(json.loads(old)["objects"])

    def fork_of_the_past(self, objects):
        """A fork below the horizon, its diff and its promote."""
        fork = self.house.json("fork", "long@9000", "--label", "past")
        self.assertEqual(self.house.json("objects", "past")["objects"], objects)
        self.assertEqual(self.house.json("kept", "long")["reasons"],
                         [{"reason": "live-lineage", "run": fork["run_id"], "event": "evt_9000"}])
        self.house.cli("apply", "past", stdin='{"op":"add_object","type":"note","id":"note#new","data":{}}\n')
        diff = self.house.json("diff", "long", "past")
        self.assertEqual(diff["shared_events"], 9000)
        self.assertEqual(len(self.house.json("promote", "past")["applied_event_ids"]), 1)
        self.assertEqual(self.house.json("snapshot", "past")["covers_through"], "evt_9001")
        self.house.cli("archive", "past")
        self.house.cli("snapshot", "long")
        self.house.cli("archive", "long")
        self.sound("past")
        self.sound("long")

    def test_a_run_works_on_while_it_is_covered_and_archived(self):
        ending, told = threading.Event(), []

        def work():
            client = Client(self.house)
            while not ending.is_set():
                told.append(client.ask("tell", run="actor", type="work", payload={"n": len(told)})["event_id"])
            client.close()

        worker = threading.Thread(target=work, daemon=True)
        worker.start()
        covered = set()
        for count in range(1, 6):
            until("more work", lambda want=30 * count: len(told) > want)
            covered.add(self.house.json("snapshot", "actor")["covers_through"])
            done = self.house.json("archive", "actor")
            self.assertEqual(done["archived_through"], done["covers_through"])
        ending.set()
        worker.join()
        self.assertEqual(len(covered), 5)
        self.house.idle("actor")
        log = self.house.log_of("actor")
        self.assertEqual([e["seq"] for e in log], list(range(1, len(log) + 1)))
        self.assertEqual([e["id"] for e in log if e["type"] == "work"], told)
        completed = [e["payload"]["event_id"] for e in log if e["type"] == "behavior.completed"]
        self.assertEqual(completed, told)
        self.sound("actor")

    def test_a_discarded_fork_ends_hides_and_stays_readable(self):
        fork = self.house.json("fork", "greeter", "--label", "try", "--goal", "again")["run_id"]
        self.house.idle("try")
        self.assertIn("again", str(self.house.objects("try")))
        pid = until("a process of the fork", lambda: self.house.unit("try")["pid"])
        below = self.house.json("fork", "try", "--no-start")["run_id"]
        self.assertIn(below, self.refused(1, "discard", "try"))
        self.refused(2, "discard", "greeter")
        self.refused(3, "discard", fork[:-1] + "zz")
        export = self.house.cli("export", "try").stdout
        self.assertEqual([one["run"] for one in self.house.json("discard", below, "try")], [below, fork])
        self.assertFalse(is_alive(pid))
        self.assertEqual(self.house.json("status")["forks"], [])
        self.assertNotIn(fork, [row["run"] for row in self.house.json("tree")["runs"]])
        rows = {row["run"]: row["state"] for row in self.house.json("tree", "--all")["runs"]}
        self.assertEqual((rows[fork], rows[below]), ("discarded", "discarded"))
        self.assertTrue(self.house.cli("export", fork).stdout.startswith(export))
        self.refused(3, "log", "try")
        for words in (("goal", fork, "more"), ("start", fork), ("fork", fork), ("promote", fork)):
            self.assertIn("discarded", self.refused(1, *words))
        self.house.cli("discard", fork)
        self.house.kill("supervisor")
        again = self.house.json("fork", "greeter", "--label", "try")["run_id"]
        self.house.idle("try")
        self.assertEqual([row["run"] for row in self.house.json("status")["forks"]], [again])
        self.house.cli("snapshot", fork)
        self.house.cli("archive", fork)
        self.assertTrue(self.house.json("kept", fork)["discarded"])
        self.sound(fork)
        self.house.cli("discard", "try")


if __name__ == "__main__":
    main()
