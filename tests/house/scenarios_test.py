"""Scenarios whose results come from a naive model (a file that AG_CASES names), against the real house.

All of them over one client; some with the supervisor killed between two steps, a few through the command line (with
AG_ALL=1 all of them, and killed between any two steps). AG_SEED repeats a draw.
SPDX-License-Identifier: Apache-2.0
"""
import json
import os
import random
import sys
import unittest

from house import House, kill, main

CASES = os.environ.get("AG_CASES")
LISTS = ("object_creates", "object_patches", "object_removes", "relation_creates", "relation_removes")
SEED = int(os.environ.get("AG_SEED", random.randrange(1 << 32)))
ALL = bool(os.environ.get("AG_ALL"))
KILLED, THROUGH_CLI = 16, 4


def scenarios():
    """Every line of the file."""
    with open(CASES, encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def text(value):
    """1 and 1.0 are not the same."""
    return json.dumps(value, sort_keys=True)


class BySocket:
    """What a step is when a program asks."""

    def __init__(self, house):
        self.house = house

    def create(self):
        return self.house.ask("create")["run_id"]

    def fork(self, run):
        return self.house.ask("fork", point=run)["run_id"]

    def apply(self, run, ops):
        self.house.ask("apply", run=run, ops=ops)

    def promote(self, run):
        return self.house.ask("promote", fork=run)

    def state(self, run):
        return self.house.ask("objects", run=run)


class ByCommand:
    """And when a person does."""

    def __init__(self, house):
        self.house = house

    def create(self):
        return self.house.json("create")["run_id"]

    def fork(self, run):
        return self.house.json("fork", run)["run_id"]

    def apply(self, run, ops):
        self.house.cli("apply", run, stdin="\n".join(map(json.dumps, ops)) + "\n")

    def promote(self, run):
        done = self.house.cli("--json", "promote", run, check=False)
        plan = json.loads(done.stdout)
        assert done.returncode == (5 if plan["conflicts"] else 0), done
        return plan

    def state(self, run):
        return self.house.json("objects", run)


class Scenarios(unittest.TestCase):
    """In one house, one root a scenario."""

    @classmethod
    def setUpClass(cls):
        print(f"AG_SEED={SEED}", flush=True)
        cls.random = random.Random(SEED)
        cls.house = House()
        cls.addClassCleanup(cls.house.close)
        cls.house.up()

    def same(self, got, wanted, place):
        self.assertEqual(text(got), text(wanted), place)

    def step(self, hand, runs, step, place):
        if step["do"] == "fork":
            runs[step["as"]] = hand.fork(runs[step["of"]])
        elif step["do"] == "apply":
            hand.apply(runs[step["run"]], step["ops"])
        elif step["do"] == "promote":
            plan = hand.promote(runs[step["fork"]])
            for name in LISTS:
                self.same(plan[name], step["expect"][name], f"{place} {name}")
            conflicts = [{key: c[key] for key in ("kind", "entity", "id")} for c in plan["conflicts"]]
            self.same(conflicts, step["expect"]["conflicts"], place)
        else:
            state = hand.state(runs[step["run"]])
            for name, keys in (("objects", ("id", "type", "data")),
                               ("relations", ("id", "type", "source", "target", "data"))):
                self.same([{key: one[key] for key in keys} for one in state[name]], step["expect"][name], place)

    def play(self, hand, scenario, between=lambda: None):
        runs = {"p": hand.create()}
        for number, step in enumerate(scenario["steps"]):
            self.step(hand, runs, step, f"seed {scenario['seed']} step {number}")
            between()
        return len(scenario["steps"])

    def test_all_scenarios_over_one_client(self):
        for scenario in scenarios():
            self.play(BySocket(self.house), scenario)
        self.assertTrue(self.house.json("verify", "--state")["ok"])

    def test_some_scenarios_through_the_command_line(self):
        for scenario in scenarios() if ALL else self.random.sample(scenarios(), THROUGH_CLI):
            self.play(ByCommand(self.house), scenario)

    def maybe_kill(self):
        """Between two steps; without AG_ALL in one gap of three."""
        if ALL or self.random.random() < 1 / 3:
            pid = self.house.pid("supervisor")
            if pid:
                kill(pid)
                self.kills += 1

    def test_the_supervisor_may_die_between_any_two_steps(self):
        drawn = scenarios() if ALL else self.random.sample(scenarios(), KILLED)
        before, self.kills = self.house.ask("status")["epoch"], 0
        for scenario in drawn:
            self.play(BySocket(self.house), scenario, self.maybe_kill)
        self.assertGreater(self.house.ask("status")["epoch"] - before, self.kills // 2)
        self.assertTrue(self.house.json("verify", "--state")["ok"])


if __name__ == "__main__":
    if not CASES:
        print("skipped: AG_CASES names no file of scenarios")
        sys.exit(77)
    main()
