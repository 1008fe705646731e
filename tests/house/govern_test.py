"""What behaviours may do and use up, and what an operator decides, through the real commands.
SPDX-License-Identifier: Apache-2.0
"""
import json
import unittest

from house import House, Refused, agent, main, until

WORK = {"name": "work", "on": ["on.work", "goal.created"]}
LATER = {"name": "later", "on": ["object.created", "chain"]}
POLICY = {"work": {"can_create": ["task", "secret", "answer"], "can_propose": ["task"], "can_apply": [],
                   "can_call_tool": ["look"], "requires_approval": ["secret"]}}


def add(kind, **data):
    return {"op": "add_object", "type": kind, "data": data}


class Governed(unittest.TestCase):
    """A house for each test: what is used up stays so."""

    def house_of(self, agents):
        house = House(agents)
        self.addCleanup(house.close)
        house.up()
        return house

    def work(self, house, *steps, run="actor"):
        """Tell and wait; the events that came of it."""
        first = house.tell(run, "on.work", steps=list(steps))
        house.idle(run)
        return [e for e in house.log_of(run) if e["seq"] > first]

    def failed(self, events):
        return [(e["payload"]["reason"], e["payload"]["message"]) for e in events if e["type"] == "behavior.failed"]

    def test_what_a_policy_does_not_list_fails_the_invocation_and_nothing_of_it_lands(self):
        house = self.house_of({"actor": agent(WORK, policy=POLICY)})
        for operation, says in (
                (add("note"), "may not create objects of type `note`; its can_create allows `task`, `secret`, `answer`"),
                ({"op": "patch_object", "id": "t", "data": {"n": 1}}, "its can_apply allows nothing")):
            with self.subTest(says):
                events = self.work(house, ["ops", {**add("task"), "id": "t"}, operation])
                (reason, message), = self.failed(events)
                self.assertEqual(reason, "policy.denied")
                self.assertIn(says, message)
                self.assertEqual(house.objects("actor"), {})
        events = self.work(house, ["effect", "fetch", {}], ["ops", add("task")])
        (reason, message), = self.failed(events)
        self.assertEqual(reason, "policy.denied")
        self.assertIn("may not call the tool `fetch`; its can_call_tool allows `look`", message)
        self.assertNotIn("tool.requested", [e["type"] for e in events])
        self.assertEqual(house.objects("actor"), {})
        self.assertEqual(self.failed(self.work(house, ["effect", "look", {}])), [])
        self.assertNotIn("did fetch", house.cli("output", "actor").stdout)
        self.assertEqual(house.cli("apply", "actor", stdin=json.dumps(add("note"))).returncode, 0)
        fork = house.json("fork", "actor")["run_id"]
        events = self.work(house, ["ops", add("note")], run=fork)
        self.assertEqual([reason for reason, _ in self.failed(events)], ["policy.denied"])
        house.down()

    def test_a_policy_that_names_no_behaviour_is_said_to_be_off(self):
        house = self.house_of({"actor": agent(WORK, policy={"wrok": {"can_create": []}, **POLICY}),
                               "other": agent(WORK, policy=POLICY)})
        said = {"actor": "the policy of `wrok` is not in force: no behaviour has this name", "other": None}
        until("what is off", lambda: {unit["name"]: unit["remark"] for unit in house.ask("status")["agents"]} == said)
        self.assertIn("`wrok`", house.cli("doctor", check=False).stdout)
        house.kill("supervisor")
        rows = {unit["name"]: unit for unit in house.ask("status")["agents"]}
        self.assertEqual({name: row["remark"] for name, row in rows.items()}, said, rows)
        house.down()

    def test_an_approval_waits_over_a_kill_and_is_decided_by_an_operator(self):
        house = self.house_of({"actor": agent(WORK, LATER, policy=POLICY)})
        house.tell("actor", "on.work", steps=[["ops", add("secret", n=1)]])
        done = house.cli("wait", "actor", check=False)
        self.assertEqual(done.returncode, 6, done.stdout + done.stderr)
        self.assertIn("agsup approve actor approval_001", done.stderr)
        house.kill("supervisor")
        waits = house.json("approvals")["approvals"]
        self.assertEqual([(w["label"], w["approval_id"], w["object_type"], w["behavior"], w["data"]) for w in waits],
                         [("actor", "approval_001", "secret", "work", {"n": 1})])
        self.assertEqual(house.cli("wait", "actor", check=False).returncode, 6)
        fork = house.json("fork", "actor")["run_id"]
        self.assertEqual(house.cli("approve", "actor", "approval_001").stdout, "secret#1\n")
        self.assertEqual(house.cli("wait", "actor").returncode, 0)
        self.assertEqual(house.objects("actor"), {"secret#1": {"n": 1}})
        chain = [e["type"] for e in house.json("why", "actor", "secret#1")["chain"]]
        self.assertEqual(chain[:4], ["object.created", "approval.granted", "approval.proposed", "on.work"])
        self.assertIn("later", [e["payload"]["behavior"] for e in house.log_of("actor", "behavior.started")])
        self.assertEqual(house.cli("approve", "actor", "approval_001", check=False).returncode, 1)
        self.assertEqual(house.cli("approve", "actor", "approval_009", check=False).returncode, 3)
        self.assertEqual(house.cli("deny", fork, "approval_001", "--reason", "no").stdout, "approval_001\n")
        house.idle(fork)
        self.assertEqual(house.objects(fork), {})
        self.assertEqual(house.cli("verify", "--state").returncode, 0)
        house.down()

    def test_a_proposed_patch_waits_for_whoever_may_apply_it(self):
        house = self.house_of({"actor": agent(WORK, policy=POLICY)})
        house.cli("apply", "actor", stdin=json.dumps({**add("task", n=1), "id": "t"}))
        self.assertEqual(self.failed(self.work(house, ["ops", *[
            {"op": "propose_patch", "id": "t", "data": {"n": n}, "rationale": "better"} for n in (2, 3)]])), [])
        house.kill("supervisor")
        waits = house.json("approvals", "actor")["patches"]
        self.assertEqual([(w["patch_id"], w["value"], w["expected_version"], w["proposed_by"]) for w in waits],
                         [("patch_001", {"n": 2}, 1, "work"), ("patch_002", {"n": 3}, 1, "work")])
        events = self.work(house, ["ops", {"op": "apply_patch", "patch": "patch_001"}])
        self.assertEqual([reason for reason, _ in self.failed(events)], ["policy.denied"])
        for patch in ("patch_001", "patch_002"):
            house.cli("apply", "actor", stdin=json.dumps({"op": "apply_patch", "patch": patch}))
        self.assertEqual(house.objects("actor"), {"t": {"n": 2}})
        rejected, = house.log_of("actor", "patch.rejected")
        self.assertEqual(rejected["payload"]["reason"], "expected version 1, found 2")
        self.assertEqual(house.cli("verify", "--state").returncode, 0)
        house.down()

    def stopped(self, house, by, run="actor"):
        """It is said once, with exit status 7, and stays so over a kill of the supervisor."""
        for _ in range(2):
            done = house.cli("wait", run, check=False)
            self.assertEqual(done.returncode, 7, done.stdout + done.stderr)
            self.assertIn(f"{by} is used up", done.stderr)
            self.assertEqual(house.json("budget", run)["exhausted_by"], by)
            house.kill("supervisor")
            house.ask("status")
        self.assertEqual([e["payload"]["exhausted_by"] for e in house.log_of(run, "runtime.budget_exhausted")], [by])

    def test_each_count_of_a_budget_stops_the_run_until_it_is_raised(self):
        rows = (
            ({"max_events": 2}, [["ops", add("x")]], 2),
            ({"max_behavior_calls": 2}, [["ops", add("x")]], 2),
            ({"max_tool_calls": 1}, [["effect", "a", {}], ["ops", add("x")]], 1),
            ({"max_patches": 1}, [["ops", {**add("x"), "as": "x"}, {"op": "patch_object", "id": "@x", "data": {}}]], 1),
            ({"max_seconds": 1}, [["sleep", 1.1], ["ops", add("x")]], 1),
            ({"max_cost_usd": "0.0125"}, [["effect", "a", {}, True, {"cost_usd": "0.0125"}], ["ops", add("x")]], 1))
        house = self.house_of({f"a{i}": agent(WORK, budget=budget) for i, (budget, _, _) in enumerate(rows)})
        for i, (_, steps, _) in enumerate(rows):
            emit = json.dumps({"op": "emit", "type": "on.work", "payload": {"steps": steps}})
            house.cli("apply", f"a{i}", stdin="\n".join([emit] * 3))
        for i, (budget, _, made) in enumerate(rows):
            with self.subTest(budget):
                by, = budget
                done = house.cli("wait", f"a{i}", check=False)
                self.assertEqual(done.returncode, 7, done.stdout + done.stderr)
                self.assertIn(f"{by} is used up", done.stderr)
                self.assertEqual(len(house.objects(f"a{i}", "x")), made)
        self.stopped(house, "max_events", "a0")
        self.assertEqual(house.json("budget", "a5")["cost_used_usd"], "0.0125")
        house.down()
        house.configure({f"a{i}": agent(WORK) for i in range(len(rows))})
        house.up()
        for i in range(len(rows)):
            until(f"the rest of a{i}", lambda i=i: len(house.objects(f"a{i}", "x")) == 3)
            self.assertEqual(house.cli("wait", f"a{i}").returncode, 0)
        house.down()

    def test_a_commit_that_would_cross_the_patches_is_refused_whole(self):
        house = self.house_of({"actor": agent(WORK, budget={"max_patches": 1})})
        house.tell("actor", "on.work", steps=[["ops", {**add("x"), "as": "x"}, *[
            {"op": "patch_object", "id": "@x", "data": {"n": n}} for n in (1, 2)]]])
        self.stopped(house, "max_patches")
        (reason, _), = self.failed(house.log_of("actor"))
        self.assertEqual(reason, "budget.patches_exhausted")
        self.assertEqual(house.objects("actor"), {})
        house.down()

    def test_an_effect_beyond_the_budget_is_refused_before_it_is_done(self):
        house = self.house_of({"actor": agent(WORK, budget={"max_llm_calls": 1, "max_cost_usd": "1"})})
        self.work(house, ["effect", "a", {}, True, {}, {"estimate_usd": "1.000001"}],
                  ["effect", "b", {}, True, {"cost_usd": "0.25"}, {"estimate_usd": "0.75", "model": True}],
                  ["effect", "c", {}, True, {}, {"model": True}],
                  ["effect", "d", {}, True, {"cost_usd": "0.75"}], ["effect", "e", {}])
        answers = [o.get("code", "done") for _, o in sorted(house.objects("actor", "answer").items())]
        self.assertEqual(answers, ["budget.cost_exhausted", "done", "budget.llm_calls_exhausted", "done",
                                   "budget.cost_exhausted"])
        self.assertEqual(house.json("budget", "actor")["cost_used_usd"], "1")
        self.assertEqual(house.cli("output", "actor").stdout.count("did "), 2)
        house.down()

    def test_an_answer_is_never_longer_than_a_frame(self):
        house = self.house_of({"a": agent(WORK, policy=POLICY)})
        self.work(house, ["ops", add("task", id="t"), *[add("secret") for _ in range(16)]], run="a")
        for n in range(12):
            for op in ("propose_patch", "patch_object"):
                house.ask("apply", run="a", ops=[{"op": op, "id": "task#1", "data": {"text": str(n) + 320000 * "x"}}])
        for _ in range(12):
            house.ask("apply", run="a", ops=[
                {"op": "propose_patch", "id": "task#1", "data": {"text": 600000 * "y"}}])
        waits = house.json("approvals", "a")
        self.assertEqual((len(waits["approvals"]), len(waits["patches"])), (16, 24))
        for limit in (1, 5, 16):
            found, page = [], {"next": ""}
            while "next" in page:
                page = house.ask("approvals", after=page["next"], limit=limit)
                self.assertLessEqual(len(page["approvals"] + page["patches"]), limit)
                found += page["approvals"] + page["patches"]
            self.assertEqual(found, waits["approvals"] + waits["patches"])
        with self.assertRaises(Refused) as refused:
            house.ask("approvals", after="xr1")
        self.assertEqual(refused.exception.code, "usage")
        why = house.json("why", "a", "task#1")
        self.assertTrue(why["more"] and why["chain"])
        self.assertFalse(house.json("why", "a", "evt_001")["more"])
        with self.assertRaises(Refused) as refused:
            house.ask("wait", runs=["a"] * 1001)
        self.assertEqual(refused.exception.code, "too_large")
        self.assertTrue(house.ask("wait", runs=["a"] * 1000, wait_ms=60000)["done"])
        self.assertNotIn("link=down", house.said())
        house.down()

    def test_a_chain_of_causes_ends_at_its_depth(self):
        house = self.house_of({"actor": agent({"name": "chain", "on": ["chain"]}, budget={"max_depth": 3})})
        step = {"op": "emit", "type": "chain", "payload": {}}
        for _ in range(5):
            step = {"op": "emit", "type": "chain", "payload": {"steps": [["ops", step]]}}
        house.tell("actor", "chain", steps=[["ops", step]])
        self.assertEqual(house.cli("wait", "actor", check=False).returncode, 7)
        self.assertEqual(len(house.log_of("actor", "behavior.completed")), 3)
        house.down()

    def test_a_fork_has_what_is_left_to_its_parent_or_what_it_is_given(self):
        house = self.house_of({"actor": agent(WORK, budget={"max_behavior_calls": 3})})
        for _ in range(2):
            self.work(house, ["ops", add("x")])
        left = house.json("fork", "actor")["run_id"]
        given = house.json("fork", "actor", "--budget", "max_behavior_calls=5")["run_id"]
        for run, most in ((left, 1), (given, 5)):
            self.assertEqual(house.json("budget", run)["limits"]["max_behavior_calls"], most)
            for _ in range(most + 1):
                house.tell(run, "on.work", steps=[["ops", add("y")]])
            self.assertEqual(house.cli("wait", run, check=False).returncode, 7)
            self.assertEqual(len(house.objects(run, "y")), most)
        self.assertEqual(house.cli("fork", "actor", "--budget", "max_evnts=5", check=False).returncode, 2)
        self.assertEqual(house.cli("wait", "actor").returncode, 0)
        house.down()

    def test_everything_that_comes_of_a_goal_with_bounds_carries_its_frame(self):
        house = self.house_of({"actor": agent(WORK, LATER)})
        house.cli("goal", "actor", "plain", "--wait")
        house.cli("goal", "actor", "bounded", "--constraint", "read only", "--constraint", "be quick",
                  "--criterion", "all seen", "--wait")
        goals = house.log_of("actor", "goal.created")
        self.assertEqual([g["frame_id"] for g in goals], [None, "frame_001"])
        frame = {"id": "frame_001", "goal": "bounded", "constraints": ["read only", "be quick"],
                 "success_criteria": ["all seen"], "permissions": []}
        self.assertEqual(goals[1]["payload"]["frame"], frame)
        started = [e for e in house.log_of("actor", "behavior.started") if e["caused_by"] == goals[1]["id"]]
        self.assertEqual([e["frame_id"] for e in started], ["frame_001"])
        house.kill("supervisor")
        fork = house.json("fork", "actor", "--label", "f")["label"]
        house.cli("goal", fork, "again", "--permission", "write", "--wait")
        last = house.log_of(fork, "goal.created")[-1]
        self.assertRegex(last["frame_id"], r"^frame_r[0-9a-z]+\.001$")
        house.down()


if __name__ == "__main__":
    main()
