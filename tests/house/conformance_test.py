"""The reference's cases that need processes; tests/conformance/README has the table.
SPDX-License-Identifier: Apache-2.0
"""
import unittest

from house import House, agent, main, until

CHAIN = {"name": "step", "on": [f"on.{n}" for n in range(1, 7)]}
BOOKKEEPING = ("worker.registered", "runtime.budget_exhausted")


def add(kind, **data):
    """An operation."""
    return {"op": "add_object", "type": kind, "data": data}


def chain(n, pause=0):
    """Steps of on.N: an object, and the next event with its own steps."""
    follow = [{"op": "emit", "type": f"on.{n + 1}", "payload": {"steps": chain(n + 1, pause)}}] if n < 6 else []
    return [["sleep", pause], ["ops", add("link", n=n), *follow]]


def story(events):
    """What happened, without the house's notes and the repeats of an attempt."""
    return [(e["type"], e["actor"], e["payload"].get("behavior"), e["payload"].get("id"))
            for e in events if e["type"] not in BOOKKEEPING and e["payload"].get("attempt", 1) == 1]


class Conformance(unittest.TestCase):
    """A house for each test: it is killed, or started anew with another configuration."""

    def house_of(self, agents):
        """Closed with the test."""
        house = House(agents)
        self.addCleanup(house.close)
        house.up()
        return house

    def test_r_02_a_run_that_its_budget_stopped_goes_on_after_a_restart_with_the_same_ids(self):
        house = self.house_of({"counted": agent(CHAIN, budget={"max_behavior_calls": 1}), "plain": agent(CHAIN)})
        for run in ("counted", "plain"):
            house.tell(run, "on.1", steps=chain(1))
        house.idle("plain")
        self.assertEqual(house.cli("wait", "counted", check=False).returncode, 7)
        self.assertEqual(list(house.objects("counted")), ["link#1"])
        house.down()
        house.configure({name: agent(CHAIN) for name in ("counted", "plain")})
        house.up()
        until("the rest", lambda: len(house.objects("counted")) == 6)
        house.idle("counted")
        self.assertEqual(house.objects("counted"), house.objects("plain"))
        self.assertEqual(story(house.log_of("counted")), story(house.log_of("plain")))
        house.down()

    def test_r_03_a_body_that_raises_leaves_its_failure_and_is_not_run_again(self):
        house = self.house_of({"actor": agent(CHAIN, attempts=1)})
        house.tell("actor", "on.1", steps=[["ops", add("ghost")], ["raise", "the sky fell"]])
        house.idle("actor")
        before = house.log_of("actor")
        self.assertEqual([e["payload"]["reason"] for e in before if e["type"] == "behavior.failed"], ["worker.crashed"])
        house.kill("supervisor")
        house.ask("status")
        house.tell("actor", "on.2", steps=[["ops", add("next")]])
        house.idle("actor")
        after = house.log_of("actor")
        self.assertEqual(after[:len(before)], before)
        self.assertEqual([e["payload"]["event_id"] for e in after if e["type"] == "behavior.started"][1:],
                         [next(e["id"] for e in after if e["type"] == "on.2")])
        self.assertEqual([o for o in house.objects("actor")], ["next#1"])
        house.down()

    def test_r_14_a_chain_that_is_interrupted_gives_the_log_of_one_that_is_not(self):
        house = self.house_of({"cut": agent(CHAIN), "plain": agent(CHAIN)})
        house.tell("plain", "on.1", steps=chain(1))
        house.tell("cut", "on.1", steps=chain(1, 0.15))
        for n in (2, 4):
            until(f"link {n}", lambda n=n: len(house.objects("cut")) >= n, pause=0.01)
            house.kill("supervisor")
        house.idle("cut", "plain")
        self.assertEqual(story(house.log_of("cut")), story(house.log_of("plain")))
        self.assertEqual([e["type"] for e in house.log_of("cut")].count("runtime.idle"), 1)
        self.assertEqual(house.log_of("cut")[-1]["type"], "runtime.idle")
        house.down()


if __name__ == "__main__":
    main()
