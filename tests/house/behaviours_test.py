"""Patterns, filters, views, delays and priorities, as a pack registers them and a house hands them out.
SPDX-License-Identifier: Apache-2.0
"""
import os
import unittest

from house import HERE, House, agent, main, until

READY = "said.ready"


def task(name, status="open"):
    return {"op": "add_object", "type": "task", "id": name, "data": {"status": status}}


def needs(source, target):
    return {"op": "add_relation", "type": "needs", "id": f"{source}-{target}", "source": source, "target": target}


def patch(name, **data):
    return {"op": "patch_object", "id": name, "data": data}


class Behaviours(unittest.TestCase):
    """A house for each test: what an event means depends on all before it."""

    def setUp(self):
        keys = {"packs": [os.path.join(HERE, "behave")]}
        if os.geteuid() != 0:
            keys["layers"] = {"uid": "off"}
        self.house = House({"worker": keys})
        self.addCleanup(self.house.close)
        self.house.up()
        self.house.idle("worker")

    def apply(self, *operations, run="worker"):
        self.house.ask("apply", run=run, ops=list(operations))
        self.house.idle(run)

    def tell(self, kind, run="worker", **payload):
        seq = self.house.tell(run, kind, **payload)
        self.house.idle(run)
        return seq

    def said(self, kind, run="worker"):
        return [event["payload"] for event in self.house.log_of(run, "said." + kind)]

    def test_a_pattern_fires_once_an_event_with_what_the_event_touches(self):
        self.apply(task("a"), task("b"), needs("a", "b"))
        self.assertEqual(self.said("ready"), [{"tasks": ["b"]}])
        self.apply(task("c"))
        self.apply(patch("b", status="done"))
        self.apply(needs("c", "a"))
        self.apply({"op": "remove_relation", "id": "c-a"})
        self.assertEqual(self.said("ready")[1:], [{"tasks": ["c"]}, {"tasks": ["a"]}, {"tasks": ["c", "a"]}])
        matched = self.house.log_of("worker", "pattern.matched")
        self.assertEqual([event["payload"]["matches_count"] for event in matched], [1, 1, 1, 2])
        self.assertEqual(matched[0]["payload"]["behavior"], "ready")
        started = self.house.log_of("worker", "behavior.started")
        self.assertEqual([event["seq"] + 1 for event in matched], [event["seq"] for event in started])

    def test_a_pattern_without_types_hears_every_event_and_not_what_the_house_notes(self):
        self.apply({"op": "add_object", "type": "alarm", "id": "x", "data": {"on": True}})
        self.tell("whatever", about="x")
        self.apply(patch("x", on=True))
        self.tell("whatever", about="nothing")
        self.assertEqual([said["by"] for said in self.said("rang")], ["object.created", "patch.applied"])

    def test_a_pattern_that_is_too_much_fails_its_invocation_and_says_what_to_add(self):
        for first in range(0, 12000, 3000):
            self.house.ask("apply", run="worker", ops=[
                {"op": "add_object", "type": "task", "data": {"status": "done"}} for _ in range(first, first + 3000)])
        self.house.idle("worker")
        self.tell("count")
        failed = self.house.log_of("worker", "behavior.failed")
        self.assertEqual([event["payload"]["reason"] for event in failed], ["pattern.too_large"])
        self.assertIn("more than 10000 matches: add a property", failed[0]["payload"]["message"])
        self.tell("count", id="task#1")
        self.assertEqual(self.said("all"), [{"n": 1}])

    def test_where_and_priority(self):
        for n, sort in ((1, "x"), (2, "x"), (3, "z"), (3.5, "y"), (4, "x"), ("3", "x"), (True, "x")):
            self.tell("score", a={"n": n}, sort=sort)
        self.assertEqual([said["n"] for said in self.said("score")], [2, 3.5])
        self.tell("rank")
        self.assertEqual([said["who"] for said in self.said("rank")], ["high", "low"])

    def test_a_view_is_what_lies_around_and_the_newest_events(self):
        self.apply(task("a"), task("b"), task("c"), task("d"), {"op": "add_object", "type": "note", "id": "n", "data": {}},
                   needs("a", "b"), needs("n", "b"), needs("n", "c"), needs("c", "d"))
        self.tell("look", id="a")
        self.tell("look", id="b")
        self.tell("look", id="nothing")
        views = self.said("view")
        self.assertEqual([view["objects"] for view in views], [["a", "b"], ["b", "a", "c"], []])
        self.assertEqual([view["relations"] for view in views], [2, 3, 0])
        self.assertEqual([(view["events"], view["last"], view["truncated"]) for view in views], [(3, "look", False)] * 3)
        reads = self.house.log_of("worker", "context.read")
        self.assertIn("b", reads[-2]["payload"]["object_ids"])

    def test_a_view_is_bounded_and_says_so(self):
        self.apply(task("hub"), *[op for i in range(1200) for op in (task(f"t{i}", "done"), needs("hub", f"t{i}"))])
        self.tell("look", id="hub")
        view = self.said("view")[-1]
        self.assertEqual((view["relations"], view["truncated"]), (1000, True))

    def test_a_delay_counts_events_outlives_a_restart_and_lets_the_run_be_idle(self):
        job = self.tell("job", n=1)
        scheduled = self.house.log_of("worker", "behavior.scheduled")[0]["payload"]
        self.assertEqual((scheduled["activate_after"], scheduled["fire_at_tick"] - scheduled["current_tick"]), (2, 2))
        self.tell("noise")
        tip = self.house.log_of("worker")[-1]
        self.assertEqual(tip["type"], "runtime.idle")
        self.house.kill("supervisor")
        self.house.ask("status")
        self.assertEqual(self.house.log_of("worker")[-1]["seq"], tip["seq"])
        self.assertEqual(self.said("late"), [])
        self.tell("noise")
        self.assertEqual(self.said("late"), [{"n": 1}])
        started = self.house.log_of("worker", "behavior.started")[-1]
        self.assertEqual((started["payload"]["event_id"], started["caused_by"]), (f"evt_{job:03}", f"evt_{job:03}"))
        self.tell("noise")
        self.house.kill("supervisor")
        self.tell("noise")
        self.assertEqual(self.said("late"), [{"n": 1}])

    def test_a_fork_has_the_delays_of_its_cut(self):
        self.tell("job", n=1)
        self.tell("noise")
        tip = self.house.log_of("worker")[-1]["id"]
        self.tell("noise")
        fork = self.house.json("fork", f"worker@{tip}")["run_id"]
        self.assertEqual(self.said("late", fork), [])
        self.tell("noise", run=fork)
        until("the delayed one", lambda: self.said("late", fork) == [{"n": 1}])
        later = self.house.json("fork", "worker@tip")["run_id"]
        self.tell("noise", run=later)
        self.tell("noise", run=later)
        self.assertEqual(self.said("late", later), [{"n": 1}])

    def test_what_was_put_off_is_looked_at_again_and_a_miss_is_silent(self):
        self.apply(task("a"))
        self.tell("check", id="a")
        self.apply(patch("a", status="done"))
        self.assertEqual(self.said("open"), [])
        self.apply(patch("a", status="open"))
        self.tell("check", id="a")
        self.tell("noise")
        self.assertEqual(self.said("open"), [{"task": "a"}])
        self.assertEqual(self.house.log_of("worker", "behavior.failed", "behavior.declined"), [])

    def test_a_relation_behaviour_can_be_put_off_and_needs_its_relation_then(self):
        self.apply(task("a", "done"), task("b", "done"), task("c", "done"), needs("a", "b"), needs("a", "c"))
        self.tell("nudge", id="a")
        self.apply({"op": "remove_relation", "id": "a-b"})
        self.assertEqual(self.said("nudge"), [{"relation": "a-c"}])


class TwoHosts(unittest.TestCase):
    """A run whose behaviours are those of a pack and of a program."""

    def house_of_both(self, of_pack, of_program):
        """An agent of two hosts, and how to say anew which behaviours each has."""
        house = House()
        self.addCleanup(house.close)
        folder = os.path.join(house.dir, "pack")
        os.mkdir(folder)

        def configure(of_pack, of_program):
            for name, text in (("manifest.toml", '[pack]\nname = "twice"\nversion = "1"\ndescription = "x"\n'),
                               ("main.lua", f'ag.behavior {{ name = "{of_pack}", on = {{ "on.work" }}, '
                                            'function () end }\n')):
                with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                    file.write(text)
            house.configure({"both": agent({"name": of_program, "on": ["on.other"]}, packs=[folder],
                                           restart={"at_most": 1})})
        configure(of_pack, of_program)
        house.up()
        return house, configure

    def test_a_behaviour_of_the_other_host_is_no_name_for_one(self):
        house, _ = self.house_of_both("work", "work")
        both = ("both", "both.program")
        row = until("that one fails", lambda: next((row for name in both if (row := house.unit(name))["state"] == "failed"),
                                                   None))
        self.assertIn("behavior `work` is one of the run's other host already", row["reason"])
        house.down()

    def test_names_of_behaviours_may_change_hosts_with_the_next_start(self):
        house, configure = self.house_of_both("work", "other")
        house.idle("both")
        house.down()
        configure("other", "work")
        house.up()
        until("both said what they do now", lambda: len(house.log_of("both", "worker.registered")
                                                        + house.log_of("both", "worker.refused")) >= 4)
        self.assertEqual(house.log_of("both", "worker.refused"), [])
        house.down()


class Refusals(unittest.TestCase):
    """A worker whose registration cannot be ends, and its run says why."""

    def test_a_pattern_that_cannot_be_is_refused_when_it_is_registered(self):
        bad = agent({"name": "bad", "on": ["x"], "pattern": "(a)-[:x*]->(b)"}, restart={"at_most": 1})
        with House({"bad": bad}) as house:
            refused = until("the refusal", lambda: house.log_of("bad", "worker.refused"))
            self.assertIn("behavior 1 (`bad`): `pattern`: `*` at 8 (a path of variable length)", refused[0]["payload"]["reason"])


if __name__ == "__main__":
    main()
