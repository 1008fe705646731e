"""Forks, diffs and promotes through the command line, on an agent that is a script pack.
SPDX-License-Identifier: Apache-2.0
"""
import json
import os
import unittest

from house import HERE, House, Refused, agent, main, until

NOTE = {"op": "add_object", "type": "note"}


def lines(*operations):
    """As `apply` reads them."""
    return "\n".join(map(json.dumps, operations)) + "\n"


class Forks(unittest.TestCase):
    """One house; every test makes runs of its own."""

    @classmethod
    def setUpClass(cls):
        greeter = {"packs": [os.path.join(HERE, "greet")], "goal": "world"}
        if os.geteuid() != 0:
            greeter["layers"] = {"uid": "off"}
        echo = {"name": "echo", "on": ["promote.applied"]}
        tempt = {"name": "tempt", "on": ["tempted"]}
        cls.house = House({
            "greeter": greeter, "actor": agent(echo, tempt),
            "hearer": agent({"name": "hear", "on": ["message.received"]},
                            hears=[{"from": "actor", "on": "promote.applied"}])})
        cls.addClassCleanup(cls.house.close)
        cls.house.up()
        cls.house.idle("greeter")

    def setUp(self):
        self.name = self.id().rsplit(".", 1)[1][5:40].replace("_", "-")

    def root(self, *operations):
        """A run of this test."""
        self.house.cli("create", "--label", self.name)
        if operations:
            self.house.cli("apply", self.name, stdin=lines(*operations))
        return self.name

    def fork(self, point, *words):
        return self.house.json("fork", point, *words)

    def status_of(self, *words, **keys):
        return self.house.cli(*words, check=False, **keys).returncode

    def greetings(self, run):
        return sorted(data["text"] for data in self.house.objects(run, "greeting").values())

    def test_a_promote_says_of_a_fork_that_it_has_work_left(self):
        fork = self.fork("actor", "--no-start", "--label", self.name)["run_id"]
        self.house.tell(fork, "tempted", steps=[])
        promoted = self.house.cli("promote", fork, "--dry-run")
        self.assertIn(f"{self.name} has still work to do", promoted.stderr)
        self.assertIn(f"`agsup wait {self.name}`", self.house.json("promote", fork, "--dry-run")["remark"])
        self.house.cli("start", fork)
        self.house.cli("wait", fork)
        self.assertNotIn("remark", self.house.json("promote", fork, "--dry-run"))

    def test_several_forks_of_which_one_is_refused_leave_nothing_behind(self):
        self.fork("greeter", "--label", self.name + "-2")
        units = [unit["name"] for unit in self.house.json("status")["forks"]]
        self.assertNotEqual(self.status_of("fork", "greeter", "--count", "2", "--label", self.name), 0)
        self.assertEqual([unit["name"] for unit in self.house.json("status")["forks"]], units)
        self.fork("greeter", "--label", self.name + "-x")  # it has the number that the refused one had
        self.assertEqual([unit["name"] for unit in self.house.json("status")["forks"]], units + [self.name + "-x"])

    def test_a_fork_at_the_tip_has_what_its_parent_has_and_goes_its_own_way(self):
        root = self.root({**NOTE, "id": "note#1", "data": {"n": 1}})
        fork = self.fork(root, "--label", self.name + "-f")
        self.assertEqual((fork["label"], fork["forked_at_event"]), (self.name + "-f", "evt_001"))
        self.house.cli("apply", fork["run_id"], stdin=lines({"op": "patch_object", "id": "note#1", "data": {"n": 2}}))
        self.house.cli("apply", root, stdin=lines({**NOTE, "id": "note#2", "data": {}}))
        self.assertEqual(self.house.objects(fork["run_id"]), {"note#1": {"n": 2}})
        self.assertEqual(self.house.objects(root), {"note#1": {"n": 1}, "note#2": {}})
        done = self.house.json("diff", root, fork["run_id"])
        self.assertEqual((done["shared_events"], done["a_only_events"], done["b_only_events"]), (1, 1, 1))
        self.assertEqual([d["id"] for d in done["divergent_objects"]], ["note#1", "note#2"])
        self.assertFalse(done["is_identical"])

    def test_why_leads_through_a_promote_into_the_fork(self):
        root = self.root({**NOTE, "id": "note#1", "data": {"n": 1}})
        fork = self.fork(root, "--label", self.name + "-f")["run_id"]
        self.house.cli("apply", fork, stdin=lines({"op": "patch_object", "id": "note#1", "data": {"n": 2}},
                                                  {"op": "patch_object", "id": "note#1", "data": {"n": 3}}))
        self.house.cli("promote", fork)
        chain = [(event["run"] == fork, event["type"], event["id"])
                 for event in self.house.json("why", root, "note#1")["chain"]]
        self.assertEqual(chain, [(False, "patch.applied", "evt_003"), (False, "promote.applied", "evt_002"),
                                 (True, "patch.applied", "evt_003"), (True, "patch.applied", "evt_002"),
                                 (True, "object.created", "evt_001")])
        self.assertIn("`- " + self.name + "-f ", self.house.cli("why", root, "note#1").stdout)

    def test_what_came_after_a_point_is_not_there_yet_and_what_never_came_never_was(self):
        root = self.root({**NOTE, "id": "note#1"}, {**NOTE, "id": "note#2"})
        for word, thing, says in (("why", "note#2", "had no `note#2` up to this point"), ("why", "note#3", "never had `note#3`"),
                                  ("show", "note#2", "has no `note#2` at this point"), ("show", "note#3", "has no `note#3`\n")):
            point = root + "@evt_001" if "point" in says else root
            done = self.house.cli(word, point, thing, check=False)
            self.assertEqual(done.returncode, 3)
            self.assertIn(says, done.stderr)

    def test_the_tail_of_a_log_is_its_last_events(self):
        root = self.root(*({**NOTE, "id": f"note#{n}", "data": {}} for n in range(1, 1201)))
        def ids(*words):
            return [line.split()[0] for line in self.house.cli("log", root, *words).stdout.splitlines()]
        self.assertEqual(ids("--tail", "2"), ["evt_1199", "evt_1200"])
        self.assertEqual(len(ids("--tail", "700")), 700)
        self.assertEqual(len(ids("--tail", "5000")), 1200)
        self.assertEqual(ids("--tail", "3", "--limit", "1"), ["evt_1198"])
        self.assertEqual(ids("--tail", "3", "--after", "1199"), ["evt_1200"])

    def test_a_fork_at_an_event_sees_the_state_of_that_event(self):
        root = self.root({**NOTE, "id": "note#1", "data": {"n": 1}}, {"op": "remove_object", "id": "note#1"})
        for point, objects in ((root + "@evt_001", {"note#1": {"n": 1}}), (root + "@2", {}), (root + "@tip", {})):
            self.assertEqual(self.house.objects(self.fork(point)["run_id"]), objects)
        self.assertEqual(self.status_of("fork", root + "@99"), 3)
        self.assertEqual(self.status_of("fork", "nobody"), 3)

    def test_settings_and_goals_of_a_fork_are_its_own(self):
        fork = self.fork("greeter", "--set", "greet.words=good morning", "--goal", "fork")["run_id"]
        self.house.idle(fork)
        until("the greeting", lambda: len(self.greetings(fork)) > 1)
        self.assertEqual(self.greetings(fork), ["good morning, fork", "hello, world"])
        self.assertEqual(self.greetings("greeter"), ["hello, world"])
        self.assertEqual(self.status_of("fork", "greeter", "--set", "greet.nothing=1"), 2)
        self.assertEqual(self.status_of("fork", "greeter", "--set", "nobody.words=1"), 2)
        self.assertEqual(self.status_of("fork", self.root(), "--set", "greet.words=1"), 2)

    def test_a_fork_before_the_goal_runs_it_again_with_its_own_settings(self):
        goal = next(e["id"] for e in self.house.log_of("greeter") if e["type"] == "goal.created")
        fork = self.fork(f"greeter@{goal}", "--set", "greet.words=hi")["run_id"]
        until("the greeting", lambda: self.greetings(fork))
        self.assertEqual(self.greetings(fork), ["hi, world"])

    def test_several_forks_are_made_at_once_or_not_at_all(self):
        root = self.root({**NOTE, "id": "note#1", "data": {}})
        forks = self.fork(root, "--count", "3", "--label", self.name + "-n")
        self.assertEqual([f["label"] for f in forks], [f"{self.name}-n-{i}" for i in (1, 2, 3)])
        self.fork(root, "--label", self.name + "-m-2")
        before = len(self.house.ask("tree", limit=10000)["runs"])
        self.assertNotEqual(self.status_of("fork", root, "--count", "3", "--label", self.name + "-m"), 0)
        self.assertEqual(len(self.house.ask("tree", limit=10000)["runs"]), before)

    def test_status_shows_a_thousand_forks_and_counts_the_others(self):
        with House({"one": agent("never")}) as house:
            for n in range(4):
                house.ask("fork", point="one", label=f"f{n}", count=256, no_start=True)
            status = house.ask("status")
            self.assertEqual((len(status["forks"]), status["forks_left_out"]), (1000, 24))
            self.assertEqual(len(house.ask("tree", limit=10000)["runs"]), 1026)  # and the fleet's, and the agent's

    def test_the_mode_of_a_forks_effects_says_what_leaves_the_house(self):
        cut = f"actor@{self.house.tell('actor', 'quiet')}"
        for at, told in (("cache", ["ok", "refused"]), ("live", ["ok", "ok"]), ("replay", ["refused", "refused"])):
            with self.subTest(effects=at):
                fork = self.fork(cut, "--effects", at)["run_id"]
                self.house.tell(fork, "tempted", steps=[["effect", "look", {"from": at}, True],
                                                        ["effect", "send", {"from": at}, False]])
                self.house.idle(fork)
                self.assertEqual([o["do"] for o in self.house.objects(fork, "answer").values()], told)

    def test_a_fork_that_is_not_started_stands_still_until_it_is(self):
        fork = self.fork("greeter", "--no-start", "--goal", "later")
        self.assertEqual(fork["state"], "stopped")
        run = fork["run_id"]
        self.assertEqual(self.house.unit(run)["state"], "stopped")
        self.house.kill("supervisor")
        self.assertEqual(self.house.unit(run)["state"], "stopped")
        self.assertEqual(self.greetings(run), ["hello, world"])
        self.house.cli("start", run)
        until("the greeting", lambda: len(self.greetings(run)) > 1)

    def test_a_promote_is_planned_then_applied_and_repeated_it_is_the_same(self):
        root = self.root({**NOTE, "id": "note#1", "data": {"n": 1}}, {**NOTE, "id": "note#2", "data": {}})
        fork = self.fork(root)["run_id"]
        self.house.cli("apply", fork, stdin=lines(
            {"op": "patch_object", "id": "note#1", "data": {"n": 2}}, {"op": "remove_object", "id": "note#2"},
            {**NOTE, "id": "note#3", "data": {}},
            {"op": "add_relation", "id": "rel#1", "source": "note#3", "target": "note#1", "type": "after"}))
        plan = self.house.json("promote", fork, "--dry-run")
        self.assertEqual((plan["dry_run"], plan["is_promotable"], plan["is_empty"]), (True, True, False))
        self.assertNotIn("marker_event_id", plan)
        self.assertEqual(len(self.house.log_of(root)), 2)
        done = self.house.json("promote", fork)
        for key in ("object_creates", "object_patches", "object_removes", "relation_creates", "relation_removes"):
            self.assertEqual(done[key], plan[key])
        self.assertEqual([o["id"] for o in done["object_creates"]], ["note#3"])
        self.assertEqual(done["object_removes"], ["note#2"])
        self.assertEqual(self.house.objects(root), {"note#1": {"n": 2}, "note#3": {}})
        again = self.house.json("promote", fork)
        self.assertTrue(again["is_empty"])
        self.assertEqual(again["marker_event_id"], done["marker_event_id"])
        self.assertEqual(len(self.house.log_of(root, "promote.applied")), 1)

    def test_a_conflict_is_told_with_exit_status_5_and_nothing_is_done(self):
        root = self.root({**NOTE, "id": "note#1", "data": {"n": 1}})
        fork = self.fork(root)["run_id"]
        for run, n in ((root, 2), (fork, 3)):
            self.house.cli("apply", run, stdin=lines({"op": "patch_object", "id": "note#1", "data": {"n": n}},
                                                     {**NOTE, "id": f"note#{n}", "data": {}}))
        before = self.house.log_of(root)
        for words in (("--dry-run",), ()):
            done = self.house.cli("--json", "promote", fork, *words, check=False)
            self.assertEqual(done.returncode, 5)
            plan = json.loads(done.stdout)
            self.assertFalse(plan["is_promotable"])
            self.assertEqual([c["id"] for c in plan["conflicts"]], ["note#1"])
            self.assertNotIn("marker_event_id", plan)
        self.assertIn("`agsup diff ", self.house.cli("promote", fork, check=False).stderr)
        self.assertEqual(self.house.log_of(root), before)

    def test_a_run_is_called_by_its_label_wherever_it_is_told_of(self):
        made = self.fork("actor", "--no-start", "--label", "called")
        fork = made["run_id"]
        self.house.cli("apply", fork, stdin=lines({**NOTE, "id": "note#called", "data": {}}))
        self.assertTrue(self.house.cli("promote", fork, "--dry-run").stdout.startswith("would promote called -> actor "))
        self.assertTrue(self.house.cli("wait", "greeter").stdout.startswith("greeter  "))
        self.assertTrue(self.house.cli("verify", fork).stdout.startswith("ok   called "))
        [waited] = self.house.ask("wait", runs=[fork])["runs"]
        self.assertEqual((waited["label"], waited["forked_at_event"]), ("called", made["forked_at_event"]))
        self.assertTrue(self.house.cli("kept", fork).stdout.startswith("called "))
        self.house.cli("discard", fork)
        self.assertTrue(self.house.cli("verify", fork).stdout.startswith(f"ok   {fork} "))  # its label is free

    def test_a_root_cannot_be_promoted_nor_a_tip_that_moved(self):
        root = self.root({**NOTE, "id": "note#1", "data": {}})
        before = len(self.house.ask("tree", limit=10000)["runs"])
        self.assertEqual(self.status_of("promote", root), 3)
        self.assertEqual(self.status_of("promote", "nobody"), 3)
        self.assertEqual(len(self.house.ask("tree", limit=10000)["runs"]), before)
        fork = self.fork(root)["run_id"]
        self.house.cli("apply", fork, stdin=lines({**NOTE, "id": "note#2", "data": {}}))
        self.assertEqual(self.status_of("promote", fork, "--expect", "evt_009"), 75)
        self.assertEqual(self.status_of("promote", fork, "--expect", "evt_001"), 0)

    def test_the_parents_behaviours_react_once_to_a_promote_and_its_hearers_get_the_objects(self):
        fork = self.fork("actor", "--no-start")["run_id"]
        self.house.cli("apply", fork, stdin=lines({**NOTE, "id": "note#told", "data": {"a": 1}}))
        before = {run: len(self.house.log_of(run, "behavior.completed")) for run in ("actor", "hearer")}
        done = self.house.json("promote", fork)
        self.house.json("promote", fork)
        for run in ("actor", "hearer"):
            until("its reaction", lambda r=run: len(self.house.log_of(r, "behavior.completed")) > before[r])
            self.house.idle(run)
            self.assertEqual(len(self.house.log_of(run, "behavior.completed")), before[run] + 1)
        self.assertEqual(self.house.log_of("actor", "behavior.completed")[-1]["caused_by"], done["marker_event_id"])
        heard = self.house.log_of("hearer", "message.received")[-1]["payload"]["data"]
        self.assertEqual(heard["objects"], [{"id": "note#told", "type": "note", "data": {"a": 1}}])
        self.assertFalse(heard["truncated"])

    def test_a_request_id_stands_for_one_request(self):
        root = self.root()
        words = ("apply", root, "--request-id", self.name)
        one = self.house.json(*words, stdin=lines({**NOTE, "data": {}}))
        self.assertEqual(self.house.json(*words, stdin=lines({**NOTE, "data": {}})), one)
        self.assertEqual(len(self.house.objects(root)), 1)
        self.assertEqual(self.status_of(*words, stdin=lines({**NOTE, "data": {"n": 1}})), 2)
        self.house.kill("supervisor")
        self.assertEqual(self.house.json(*words, stdin=lines({**NOTE, "data": {}})), one)
        forked = self.house.json("fork", root, "--request-id", self.name + "-f")
        self.assertEqual(self.house.json("fork", root, "--request-id", self.name + "-f"), forked)
        self.assertEqual(len(self.house.objects(root)), 1)

    def test_a_worker_cannot_promote_through_the_client_socket(self):
        fork = self.fork("actor", "--no-start")["run_id"]
        self.house.cli("apply", fork, stdin=lines({**NOTE, "id": "note#stolen", "data": {}}))
        asked = {"do": "promote", "fork": fork, "token": self.house.token(), "id": "stolen"}
        self.house.tell("actor", "tempted", steps=[["client", f"ipc://{self.house.home}/run/client.sock", asked]])
        self.house.idle("actor")
        replies = self.house.objects("actor", "reply")
        self.assertEqual(len(replies), 1, self.house.log_of("actor")[-3:])
        self.assertIn(list(replies.values())[0]["code"], ("silence", "not_allowed"))
        self.assertNotIn("note#stolen", self.house.objects("actor"))

    def test_the_fleets_own_run_is_not_forked_and_unbuilt_shapes_are_refused(self):
        self.assertEqual(self.status_of("fork", "fleet"), 2)
        self.assertEqual(self.status_of("fork", self.root(), "--effects", "some"), 2)
        with self.assertRaises(Refused) as refused:
            self.house.ask("fork", point=self.name, ids="none")
        self.assertIn(refused.exception.code, ("usage", "bad_message"))


if __name__ == "__main__":
    main()
