"""Strict replay: a log's invocations are done again, and the first difference is named.
SPDX-License-Identifier: Apache-2.0
"""
import json
import os
import signal
import subprocess
import time
import unittest

from house import BIN, HERE, House, agent, is_alive, main, until

WORK = {"name": "work", "on": ["on.work", "promote.applied"]}
TASK = {"op": "add_object", "type": "task", "data": {"n": 1}}
SNAPSHOT = """
ag.behavior { name = "plan", on = { "goal.created" }, function (event, graph, ctx)
    graph.add_object ("task", { status = "open", goal = event.payload.goal, lot = ctx.random (1000000) })
end }
ag.behavior { name = "snap", on = { "object.created" }, where = { ["object.type"] = "task" }, function (event, graph)
    graph.add_object ("snapshot", { saw_status = graph.get (event.payload.id).data.status })
end }
"""
PATTERN = """
ag.behavior { name = "count", on = { "object.created" }, pattern = "(t:task {status: 'open'})", activate_after = 1,
    view = { around = "event.payload.id", recent_events = 5 }, function (event, graph, ctx)
    graph.add_object ("count", { n = #ctx.matches, objects = #ctx.view.objects, events = #ctx.view.events })
end }
"""
GREEDY = """
ag.behavior { name = "greedy", on = { "on.greed" }, function (event, graph)
    local all = {}
    while event.payload.more do all[#all + 1] = { #all } end
    graph.add_object ("enough", {})
end }
"""
MORE = '    graph.add_object ("extra", {})\n'


class Replays(unittest.TestCase):
    """Each test has agents of its own in one house."""

    def setUp(self):
        pack = {"packs": ["planner"], "goal": "world", "nets": {"memory": "64MiB"}}
        if os.geteuid() != 0:
            pack["layers"] = {"uid": "off"}
        self.house = House({"actor": agent(WORK), "planner": pack})
        self.addCleanup(self.house.close)
        self.pack(SNAPSHOT + PATTERN)
        self.house.up()

    def pack(self, text):
        folder = os.path.join(self.house.dir, "planner")
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, "manifest.toml"), "w", encoding="utf-8") as file:
            file.write('[pack]\nname = "planner"\nversion = "1.0.0"\ndescription = "Plans."\n')
        with open(os.path.join(folder, "main.lua"), "w", encoding="utf-8") as file:
            file.write(text)

    def change_actor(self, old, new):
        path = os.path.join(self.house.dir, "actor", "actor.py")
        with open(path, encoding="utf-8") as file:
            text = file.read()
        self.assertIn(old, text)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text.replace(old, new))

    def work(self, run, *steps):
        self.house.tell(run, "on.work", steps=list(steps))
        self.house.idle(run)

    def replay(self, run, expect=0):
        """Its document; the log is as before, and nothing of it is left."""
        before = self.seen(run)
        done = self.house.cli("--json", "replay", run, "--strict", check=False)
        self.assertEqual(done.returncode, expect, done.stdout + done.stderr)
        self.assertEqual(before, self.seen(run))
        self.ended(run)
        return json.loads(done.stdout)

    def seen(self, run):
        return (self.house.log_of(run), [r["run"] for r in self.house.ask("tree", limit=1000)["runs"]],
                [unit["name"] for unit in self.house.ask("status")["agents"]])

    def ended(self, run):
        """Every process of a replay of this run has ended with proof."""
        name = {r["run"]: r["label"] for r in self.house.ask("tree", limit=1000)["runs"]}.get(run) or run
        told = [e for e in self.house.log_of("fleet") if e["payload"].get("name", "").startswith(f"{name}.replay")]
        started = [e["payload"]["pid"] for e in told if e["type"] == "agent.started"]
        stopped = {e["payload"]["pid"]: e["payload"] for e in told if e["type"] == "agent.stopped"}
        self.assertEqual(sorted(started), sorted(stopped))
        for pid, end in stopped.items():
            self.assertIn(end["proof"], ("cgroup", "pidns", "walk"), end)
            self.assertFalse(is_alive(pid))

    def rich(self):
        """A log with effects, a crash, contention, a failure, a fork that came back, and events from outside."""
        self.work("actor", ["ops", TASK, {**TASK, "as": "t"}, {"op": "remove_object", "id": "@t"}],
                  ["call", "look", {"a": 1}, True], ["call", "send", {"b": 2}, False])
        self.work("actor", ["call", "look", {"a": 3}, False], ["kill", 1], ["ops", TASK])
        self.work("actor", ["fail", {"type": "E", "message": "no"}])
        self.work("actor", ["kill", 1, 2, 3])
        self.house.tell("actor", "on.work", steps=[["get", {"type": "task"}], ["sleep", 1.5, 1], ["ops", TASK]])
        until("its start", lambda: self.house.unit("actor")["state"] == "busy")
        time.sleep(0.5)
        self.house.ask("apply", run="actor", ops=[TASK])
        self.house.idle("actor")
        fork = self.house.json("fork", "actor", "--label", "branch", "--effects", "live")["run_id"]
        self.work("branch", ["ops", TASK], ["call", "look", {"a": 9}, False])
        self.house.json("promote", fork)
        self.house.idle("actor")
        self.work("actor", ["get", {"type": "task"}])

    def test_a_log_with_all_that_happens_is_as_recorded_and_one_changed_constant_is_named(self):
        self.rich()
        completed = self.house.log_of("actor", "behavior.completed")
        said = self.replay("actor")
        self.assertIsNone(said["divergence"])
        self.assertEqual(said["invocations"], len(completed) + 1)  # and one that failed by itself
        self.assertEqual(said["skipped"], 1)
        again = [e["payload"]["attempt"] for e in self.house.log_of("actor", "behavior.started")]
        self.assertGreaterEqual(again.count(2), 3)  # the crash, the deaths, the contention
        self.assertIsNone(self.replay("branch")["divergence"])
        self.assertEqual(self.house.cli("replay", "actor", "--strict").stdout.count("as recorded"), 1)
        self.change_actor('{"objects": len(found["objects"])}', '{"objects": 1 + len(found["objects"])}')
        seen = next(e for e in self.house.log_of("actor", "object.created")
                    if e["payload"]["object"]["type"] == "seen")
        count = seen["payload"]["object"]["data"]["objects"]
        self.assertEqual(self.replay("actor", expect=5)["divergence"], {
            "event_id": seen["id"], "path": "payload.object.data.objects", "recorded": count, "found": count + 1})
        self.assertIn(f"{seen['id']} payload.object.data.objects: recorded {count}, found {count + 1}",
                      self.house.cli("replay", "actor", "--strict", check=False).stdout)

    def test_a_changed_effect_and_a_death_are_named(self):
        self.work("actor", ["call", "look", {"a": 1}, True])
        asked = self.house.log_of("actor", "tool.requested")[0]["id"]
        self.change_actor("args=args, idempotent", "args={**args, 'a': 2}, idempotent")
        self.assertEqual(self.replay("actor", expect=5)["divergence"], {
            "event_id": asked, "path": "payload.args.a", "recorded": 1, "found": 2})
        self.change_actor("def effect(job", "def effect(job, *rest):\n    os.kill(os.getpid(), 9)\n\n\ndef other(job")
        divergence = self.replay("actor", expect=5)["divergence"]
        self.assertEqual((divergence["path"], divergence["recorded"]), ("type", "behavior.completed"))
        self.assertIn("signal 9", divergence["found"])
        self.change_actor("import json", "raise SystemExit('these are my last words')\nimport json")
        done = self.house.cli("replay", "actor", "--strict", check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("exit status 1; its last words: these are my last words", done.stderr)

    def test_p_35_to_37_a_promoted_log_is_as_recorded_until_its_behaviour_changes(self):
        self.house.idle("planner")
        fork = self.house.json("fork", "planner", "--no-start")["run_id"]
        task = next(iter(self.house.objects(fork, "task")))
        self.house.ask("apply", run=fork, ops=[{"op": "patch_object", "id": task, "data": {"status": "done"}},
                                               {"op": "add_object", "type": "note", "data": {}}])
        self.house.json("promote", fork)
        self.house.idle("planner")
        self.assertEqual(self.house.objects("planner", "task")[task]["status"], "done")
        self.assertIsNone(self.replay("planner")["divergence"])
        snapshot = list(self.house.objects("planner", "snapshot").values())
        self.assertEqual(snapshot, [{"saw_status": "open"}])
        self.assertEqual([c["n"] for c in self.house.objects("planner", "count").values()], [1])
        self.house.down()
        self.pack(SNAPSHOT.replace("end }", MORE + MORE + "end }", 1) + PATTERN)
        self.house.up()
        self.house.idle("planner")
        completed = self.house.log_of("planner", "behavior.completed")[0]["id"]
        self.assertEqual(self.replay("planner", expect=5)["divergence"], {
            "event_id": completed, "path": "type", "recorded": "behavior.completed", "found": "object.created"})
        again = self.again("rerun", "planner@start")  # a fork has the pack as it was at its cut
        self.assertIn("pack.loaded", [one["type"] for one in again["left_out"]])
        self.assertEqual(self.house.objects(again["fork_run_id"], "extra"), {})

    def test_k_02_an_archived_past_is_as_recorded_too(self):
        self.house.idle("planner")
        self.house.tell("planner", "later")
        self.house.cli("snapshot", "planner")
        self.house.cli("archive", "planner")
        said = self.replay("planner")
        self.assertEqual((said["invocations"], said["divergence"]), (3, None))

    def test_a_behaviour_that_is_new_is_a_difference_of_the_registration(self):
        self.work("actor", ["ops", TASK])
        self.change_actor("behaviors=json.loads(sys.argv[1])",
                          "behaviors=json.loads(sys.argv[1]) + [{'name': 'new', 'on': ['never']}]")
        divergence = self.replay("actor", expect=5)["divergence"]
        self.assertEqual((divergence["path"], divergence["recorded"]), ("payload.behaviors[1]", None))

    def test_a_pack_that_changed_is_registered_when_its_fleet_comes_up(self):
        self.house.idle("planner")
        self.house.down()
        self.pack(SNAPSHOT + PATTERN + 'ag.behavior { name = "new", on = { "never" }, function () end }\n')
        self.house.up()
        until("its registration",
              lambda: self.house.cli("replay", "planner", "--strict", check=False).returncode == 0)
        self.assertEqual(len(self.house.log_of("planner", "pack.loaded")), 2)

    def test_a_script_that_met_its_memory_limit_meets_it_again_and_the_rest_is_compared(self):
        self.house.down()
        self.pack(SNAPSHOT + PATTERN + GREEDY)
        self.house.up()
        until("its registration", lambda: "greedy" in str(self.house.log_of("planner", "worker.registered")[-1:]))
        for more in (True, False, True):
            self.house.tell("planner", "on.greed", more=more)
            self.house.idle("planner")
        failed = [e["payload"]["exception_type"] for e in self.house.log_of("planner", "behavior.failed")]
        self.assertEqual(failed, ["net.memory"] * 2)
        said = self.replay("planner")
        self.assertEqual((said["invocations"], said["skipped"], said["divergence"]), (6, 0, None))

    def test_what_nobody_waits_for_ends_and_a_timeout_holds(self):
        self.house.tell("actor", "on.work", steps=[["sleep", 20, 1]])
        until("its start", lambda: self.house.unit("actor")["state"] == "busy")
        self.house.cli("restart", "actor")  # the second attempt is fast
        self.house.idle("actor")
        self.change_actor("if not attempts or job[\"attempt\"] in attempts:", "if True:")
        done = self.house.cli("replay", "actor", "--strict", "--timeout", "1", check=False)
        self.assertEqual(done.returncode, 75, done.stderr)
        until("the end of its processes", lambda: self.count("agent.started") == self.count("agent.stopped") > 0)
        asked = subprocess.Popen([f"{BIN}/agsup", "--home", self.house.home, "replay", "actor", "--strict"],
                                 stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        until("another process", lambda: self.count("agent.started") > self.count("agent.stopped"))
        with self.assertRaisesRegex(AssertionError, "being replayed for somebody else"):
            self.house.client.ask("replay", seconds=1, run="actor", ticket="other")
        self.house.ask("status")
        asked.send_signal(signal.SIGINT)
        asked.wait(20)
        until("its end", lambda: self.count("agent.started") == self.count("agent.stopped"))

    def test_a_supervisor_that_dies_over_a_replay_leaves_nothing_and_the_next_one_does_it_again(self):
        self.work("actor", ["sleep", 0.1], ["ops", TASK])
        self.change_actor("time.sleep(seconds)", "time.sleep(3)")
        before = self.house.log_of("actor")
        with subprocess.Popen([f"{BIN}/agsup", "--home", self.house.home, "replay", "actor", "--strict"],
                              stdout=subprocess.PIPE, text=True) as asked:
            until("its process", lambda: self.count("agent.ready"))
            pid = [e["payload"]["pid"] for e in self.house.log_of("fleet", "agent.started")
                   if e["payload"]["name"] == "actor.replay"][0]
            self.house.kill("supervisor")
            until("the end of its process", lambda: not is_alive(pid))
            self.assertIn("as recorded: 1 invocation,", asked.communicate(timeout=60)[0])
        self.assertEqual(self.house.log_of("actor"), before)

    def test_a_worker_that_breaks_the_protocol_in_a_replay_is_not_in_the_runs_log(self):
        self.work("actor", ["sleep", 0.1])
        self.change_actor("time.sleep(seconds)", "ask('next')")
        divergence = self.replay("actor", expect=5)["divergence"]
        self.assertIn("next came out of turn", divergence["found"])

    def count(self, kind):
        return sum(e["payload"].get("name") == "actor.replay" for e in self.house.log_of("fleet", kind))

    def test_a_run_without_invocations_is_as_recorded_and_the_house_answers_for_the_rest(self):
        self.house.cli("create", "--label", "notes")
        said = self.house.json("replay", "notes", "--strict")
        self.assertEqual((said["invocations"], said["divergence"]), (0, None))
        self.assertEqual(self.house.cli("replay", "nobody", "--strict", check=False).returncode, 3)
        self.assertEqual(self.house.cli("replay", "notes@1", "--strict", check=False).returncode, 2)

    # As a fork: replay without --strict, and rerun.

    def again(self, verb, run, expect=0):
        """Its document; the run is as before."""
        before = self.house.log_of(run.partition("@")[0])
        done = self.house.cli("--json", verb, run, check=False)
        self.assertEqual(done.returncode, expect, done.stdout + done.stderr)
        self.assertEqual(before, self.house.log_of(run.partition("@")[0]))
        return json.loads(done.stdout)

    def done_calls(self, run):
        """Of the effects, those that were done by its process."""
        return [e["payload"]["args"] for e in self.house.log_of(run, "tool.requested") if not e["payload"]["cache_hit"]]

    def test_a_run_is_done_again_as_a_fork_from_the_record_or_live(self):
        self.work("actor", ["ops", {**TASK, "as": "t"}, {"op": "patch_object", "id": "@t", "data": {"n": 2}}],
                  ["call", "look", {"a": 1}, True], ["call", "send", {"b": 2}, False])
        self.house.ask("apply", run="actor", ops=[
            {"op": "add_object", "type": "note", "as": "a"}, {"op": "add_object", "type": "note", "id": "mine"},
            {"op": "add_relation", "source": "@a", "target": "mine", "type": "of"},
            {"op": "replace_object", "id": "mine", "data": {"x": 1}}, {"op": "remove_object", "id": "@a"}])
        self.work("actor", ["ops", TASK])
        said = self.again("replay", "actor")
        self.assertEqual((said["left_out"], said["diff"]["divergent_objects"]), ([], []))
        self.assertEqual(said["put_in"], 6)  # the first trigger is inherited
        fork = said["fork_run_id"]
        self.assertEqual(self.house.objects(fork), self.house.objects("actor"))
        kinds = ("behavior.started", "behavior.completed", "behavior.failed")
        self.assertEqual(*[[e["type"] for e in self.house.log_of(run, *kinds)] for run in ("actor", fork)])
        self.assertEqual(self.done_calls(fork), [])
        live = self.again("rerun", "actor")
        self.assertEqual(self.done_calls(live["fork_run_id"]), [{"a": 1}, {"b": 2}])
        self.assertIsNone(self.replay(fork)["divergence"])
        of_fork = self.again("replay", fork)  # a fork too is done again from its own start
        self.assertEqual((of_fork["put_in"], of_fork["diff"]["divergent_objects"]), (6, []))

    def test_what_another_program_does_is_a_difference_of_the_replay_and_not_of_the_rerun(self):
        self.work("actor", ["ops", TASK], ["call", "look", {"a": 1}, True])
        self.change_actor('args=args, idempotent', 'args={**args, "a": 2}, idempotent')
        said = self.again("replay", "actor", expect=5)
        self.assertNotEqual(said["diff"]["divergent_objects"], [])
        self.assertIn("not_recorded", json.dumps(self.house.log_of(said["fork_run_id"])))
        self.again("rerun", "actor")
        self.assertIn("again as", self.house.cli("rerun", "actor").stdout)

    def test_a_promote_is_left_out_by_name_and_a_point_says_where_to_begin(self):
        self.work("actor", ["ops", TASK])
        fork = self.house.json("fork", "actor", "--no-start")["run_id"]
        self.house.ask("apply", run=fork, ops=[{"op": "add_object", "type": "note"}])
        marker = self.house.json("promote", fork)["marker_event_id"]
        self.house.idle("actor")
        tip = self.house.log_of("actor")[-1]["seq"]
        self.work("actor", ["ops", TASK])
        said = self.again("replay", "actor", expect=5)
        self.assertEqual([(one["event_id"], one["type"]) for one in said["left_out"]], [(marker, "promote.applied")])
        self.assertEqual((self.again("replay", f"actor@{tip}")["put_in"]), 1)
        self.assertEqual(self.house.cli("replay", "nobody", check=False).returncode, 3)

    def test_chance_is_the_same_for_what_was_inherited_and_another_for_what_was_put_in(self):
        self.house.idle("planner")
        self.house.tell("planner", "later")
        self.house.idle("planner")
        self.assertEqual(self.again("replay", "planner")["put_in"], 1)
        self.house.ask("goal", run="planner", text="more")
        self.house.idle("planner")
        said = self.again("replay", "planner", expect=5)
        self.assertEqual((said["put_in"], said["left_out"]), (2, []))
        task, = said["diff"]["divergent_objects"]
        differs = [key for key in task["a"]["data"] if task["a"]["data"][key] != task["b"]["data"][key]]
        self.assertEqual(differs, ["lot"])

    def test_a_named_request_is_one_fork_however_often_it_is_asked(self):
        self.work("actor", ["ops", TASK])
        self.work("actor", ["ops", TASK])
        first, again = [self.house.json("replay", "actor", "--request-id", "once") for _ in range(2)]
        self.assertEqual(first, again)
        self.work("actor", ["ops", TASK])  # the run goes on, and so does its fork
        more = self.house.json("replay", "actor", "--request-id", "once")
        self.assertEqual(more["fork_run_id"], first["fork_run_id"])
        self.assertEqual((more["put_in"], more["left_out"]), (first["put_in"] + 1, []))
        self.assertEqual(self.house.objects(more["fork_run_id"]), self.house.objects("actor"))

    def test_of_what_came_together_only_what_the_fork_refuses_is_left_out(self):
        self.work("actor", ["ops", TASK])
        fork = self.house.json("fork", "actor", "--no-start")["run_id"]
        self.house.ask("apply", run=fork, ops=[{"op": "add_object", "type": "note", "id": "theirs"}])
        marker = self.house.json("promote", fork)["marker_event_id"]
        self.house.idle("actor")
        self.house.ask("apply", run="actor", ops=[{"op": "add_object", "type": "note", "id": "mine"},
                                                  {"op": "remove_object", "id": "theirs"}])
        removed = self.house.log_of("actor", "object.removed")[-1]["id"]
        said = self.again("replay", "actor")
        self.assertEqual([one["event_id"] for one in said["left_out"]], [marker, removed])
        self.assertIn("theirs", said["left_out"][1]["reason"])
        self.assertEqual(said["put_in"], 1)
        self.assertEqual(self.house.objects(said["fork_run_id"]), self.house.objects("actor"))


if __name__ == "__main__":
    main()
