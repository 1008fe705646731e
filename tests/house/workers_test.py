"""What a program that speaks the worker protocol meets: invocations, crashes, refusals, restarts.
SPDX-License-Identifier: Apache-2.0
"""
import itertools
import os
import socket
import unittest

from house import House, Refused, agent, kill, main, until

WORK = {"name": "work", "on": ["on.work"]}


def kinds(events):
    """Their types."""
    return [e["type"] for e in events]


class Invocations(unittest.TestCase):
    """One house for everything that leaves it as it was."""

    @classmethod
    def setUpClass(cls):
        only = {"name": "only", "on": ["on.some"], "where": {"level": "high"}}
        cls.house = House({
            "actor": agent(WORK, {"name": "second", "on": ["on.work"]}, only),
            "other": agent(WORK),
            "wide": agent({"name": "spokes", "on": ["on.hub"], "relation_type": "spoke"},
                          {"name": "after", "on": ["on.hub"]}),
            "slow": agent(WORK, nets={"wall": "700ms"}, attempts=1)})
        cls.addClassCleanup(cls.house.close)
        cls.house.up()

    def after(self, run, since, *types):
        return [e for e in self.house.log_of(run, *types) if e["seq"] > since]

    def work(self, *steps, run="other", kind="on.work"):
        """Tell and wait; the events that came of it, the told one first."""
        first = self.house.tell(run, kind, steps=list(steps))
        self.house.idle(run)
        return self.after(run, first - 1)

    def test_an_invocation_lands_between_started_and_completed_and_names_its_cause(self):
        events = self.work(["ops", {"op": "add_object", "type": "task", "data": {"n": 1}, "as": "t"},
                            {"op": "add_relation", "source": "@t", "target": "@t", "type": "self"},
                            {"op": "emit", "type": "task.made", "payload": {"a": 1}}])
        events = [e for e in events if e["type"] != "worker.registered"]
        self.assertEqual(kinds(events), ["on.work", "behavior.started", "object.created", "relation.created",
                                         "task.made", "behavior.completed", "runtime.idle"])
        told = events[0]["id"]
        self.assertEqual({e["caused_by"] for e in events[1:-1]}, {told})
        self.assertEqual([e["actor"] for e in events[1:6]], ["runtime", "work", "work", "work", "runtime"])
        done = events[5]["payload"]
        self.assertEqual((done["objects_created"], done["relations_created"], done["events_emitted"]), (1, 1, 1))
        made = events[2]["payload"]["object"]
        self.assertRegex(made["id"], r"^task#\d+$")
        relation = events[3]["payload"]["relation"]
        self.assertEqual((relation["source"], relation["target"]), (made["id"], made["id"]))

    def test_where_lets_only_equal_payloads_through(self):
        first = self.house.tell("actor", "on.some", level="low")
        high = self.house.tell("actor", "on.some", level="high")
        self.house.idle("actor")
        started = self.after("actor", first, "behavior.started")
        self.assertEqual([(e["payload"]["behavior"], e["caused_by"]) for e in started],
                         [("only", f"evt_{high:03}")])

    def test_events_come_first_in_first_out_and_behaviours_in_the_order_of_their_registration(self):
        told = [self.house.tell("actor", "on.work", n=n) for n in range(8)]
        self.house.idle("actor")
        started = [(e["payload"]["behavior"], int(e["caused_by"][4:]))
                   for e in self.after("actor", told[0], "behavior.started")]
        self.assertEqual(started, [(name, seq) for seq in told for name in ("work", "second")])

    def test_effects_of_an_attempt_that_died_are_served_from_the_record(self):
        for again in (True, False):
            with self.subTest(idempotent=again):
                events = self.work(["effect", "look", {"at": again}, again], ["kill", 1])
                self.assertEqual([e["payload"]["attempt"] for e in events if e["type"] == "behavior.started"], [1, 2])
                self.assertEqual(kinds(events).count("tool.requested"), 1)
                self.assertEqual(kinds(events).count("tool.responded"), 1)
                answer = [e for e in events if e["type"] == "object.created"][0]["payload"]["object"]["data"]
                self.assertEqual(answer, {"do": "result", "tool": "look", "attempt": 1})
                self.assertEqual(kinds(events).count("behavior.completed"), 1)

    def test_an_output_that_no_event_holds_is_told_so_and_the_worker_goes_on(self):
        for sizes, code in (((60000,) * 10, None), ((7 << 20,), None), ((60000,) * 20, "too_large")):
            with self.subTest(sizes=sizes):
                events = self.work(["give", *sizes])
                answer = [e["payload"] for e in events if e["type"] == "tool.responded"]
                self.assertEqual([(a["error"] or {}).get("type") for a in answer], [code])
                self.assertEqual(kinds(events).count("behavior.started"), 1)
                self.assertEqual(kinds(events).count("behavior.completed"), 1)
                self.assertNotIn("worker.refused", kinds(events))

    def test_the_third_death_fails_the_invocation_and_the_queue_moves_on(self):
        first = self.house.tell("other", "on.work", steps=[
            ["ops", {"op": "add_object", "type": "ghost", "data": {}}], ["kill", 1, 2, 3]])
        self.house.tell("other", "on.work", steps=[["ops", {"op": "add_object", "type": "next", "data": {}}]])
        self.house.idle("other")
        events = self.after("other", first)
        failed = [e["payload"] for e in events if e["type"] == "behavior.failed"]
        self.assertEqual(len(failed), 1)
        self.assertEqual((failed[0]["reason"], failed[0]["message"]), ("worker.crashed", "signal 9"))
        self.assertIn("dying in attempt 3", failed[0]["traceback"])
        self.assertEqual([e["payload"]["attempt"] for e in events if e["type"] == "behavior.started"], [1, 2, 3, 1])
        made = [e["payload"]["object"]["type"] for e in events if e["type"] == "object.created"]
        self.assertEqual(made, ["next"])

    def test_an_exception_is_a_crash_with_its_traceback(self):
        events = self.work(["raise", "the sky fell"])
        failed = [e["payload"] for e in events if e["type"] == "behavior.failed"]
        self.assertEqual(failed[0]["message"], "exit status 1")
        self.assertIn("RuntimeError: the sky fell", failed[0]["traceback"])

    def test_fail_gives_the_invocation_up_at_once_and_the_worker_goes_on(self):
        self.work()
        pid = self.house.pid("other")
        events = self.work(["fail", {"type": "Sorry", "message": "no", "traceback": "line 1"}])
        failed = [e["payload"] for e in events if e["type"] == "behavior.failed"]
        self.assertEqual([(f["exception_type"], f["message"], f["traceback"]) for f in failed],
                         [("Sorry", "no", "line 1")])
        self.assertEqual(kinds(events).count("behavior.started"), 1)
        self.assertEqual(self.house.pid("other"), pid)

    def test_refused_operations_fail_the_invocation_and_the_worker_goes_on(self):
        self.work()
        pid = self.house.pid("other")
        for code, operation in (("not_found", {"op": "patch_object", "id": "task#99999", "data": {}}),
                                ("reserved", {"op": "emit", "type": "behavior.completed", "payload": {}}),
                                ("bad_operation", {"op": "explode"})):
            with self.subTest(code=code):
                events = self.work(["ops", {"op": "add_object", "type": "half", "data": {}}, operation])
                self.assertEqual([e["payload"]["reason"] for e in events if e["type"] == "behavior.failed"], [code])
                self.assertNotIn("object.created", kinds(events))
        self.assertEqual(self.house.pid("other"), pid)

    def test_what_somebody_else_changed_meanwhile_is_read_again(self):
        made = self.house.ask("apply", run="other", ops=[{"op": "add_object", "type": "shared", "data": {"n": 0}}])
        shared = made["ids"][0]
        first = self.house.tell("other", "on.work", steps=[
            ["get", {"id": shared}], ["sleep", 2, 1], ["ops", {"op": "patch_object", "id": shared, "data": {"by": 1}}]])
        until("its start", lambda: self.after("other", first, "behavior.started"))
        self.house.ask("apply", run="other", ops=[{"op": "patch_object", "id": shared, "data": {"n": 1}}])
        self.house.idle("other")
        events = self.after("other", first)
        self.assertEqual([e["payload"]["attempt"] for e in events if e["type"] == "behavior.started"], [1, 2])
        self.assertEqual(self.house.objects("other")[shared], {"n": 1, "by": 1})
        self.assertNotIn("behavior.failed", kinds(events))

    def test_an_invocation_whose_reads_change_each_time_is_given_up(self):
        made = self.house.ask("apply", run="other", ops=[{"op": "add_object", "type": "hot", "data": {"n": 0}}])
        shared = made["ids"][0]
        first = self.house.tell("other", "on.work", steps=[
            ["get", {"id": shared}], ["sleep", 0.5], ["ops", {"op": "patch_object", "id": shared, "data": {"by": 1}}]])
        number = itertools.count()

        def given_up():
            self.house.ask("apply", run="other", ops=[{"op": "patch_object", "id": shared, "data": {"n": next(number)}}])
            return self.after("other", first, "behavior.failed")

        until("it is given up", given_up)
        events = self.after("other", first)
        self.assertEqual([e["payload"]["reason"] for e in events if e["type"] == "behavior.failed"], ["contention"])
        self.assertEqual(kinds(events).count("behavior.started"), 6)
        self.assertNotIn("by", self.house.objects("other")[shared])

    def test_a_behaviour_with_too_many_relations_fails_for_that_event_and_nothing_stands_still(self):
        def add(kind, *more):
            return {"op": "add_relation", "source": "@hub", "target": "@hub", "type": kind, **dict(more)}
        hub = {"op": "add_object", "type": "hub", "data": {}, "as": "hub"}
        made = self.house.ask("apply", run="wide", ops=[hub] + [add("spoke")] * 10001)
        first = self.house.tell("wide", "on.hub", hub=made["ids"][0])
        self.house.tell("wide", "on.hub", hub="nobody")
        self.house.idle("wide", seconds=120)
        events = self.after("wide", first - 1)
        told = [e["id"] for e in events if e["type"] == "on.hub"]
        failed = [(e["payload"]["behavior"], e["payload"]["reason"], e["caused_by"]) for e in events
                  if e["type"] == "behavior.failed"]
        self.assertEqual(failed, [("spokes", "queue.too_many", told[0])])
        done = [(e["payload"]["behavior"], e["caused_by"]) for e in events if e["type"] == "behavior.completed"]
        self.assertEqual(done, [("after", seq) for seq in told])
        self.assertIn("10000 invocations", self.house.cli("failures", "wide", check=False).stdout)

    def test_an_outsider_steps_over_the_ids_of_an_open_invocation(self):
        first = self.house.tell("other", "on.work", steps=[
            ["sleep", 2], ["ops", {"op": "add_object", "type": "inside", "data": {}}]])
        until("its start", lambda: self.after("other", first, "behavior.started"))
        outside = self.house.ask("apply", run="other", ops=[{"op": "add_object", "type": "outside", "data": {}}])
        self.house.idle("other")
        inside = [e["payload"]["id"] for e in self.after("other", first, "object.created")
                  if e["payload"]["object"]["type"] == "inside"]
        number = [int(i.split("#")[1]) for i in (outside["ids"][0], inside[0])]
        self.assertEqual(number[0] - number[1], 4096)

    def refused(self, *step):
        """The worker ends with a reason in its run's log, the invocation fails at last, nobody else notices."""
        self.work(run="actor")
        bystander = self.house.pid("actor")
        supervisor = self.house.pid("supervisor")
        events = self.work(list(step) if len(step) > 1 or isinstance(step[0], str) else step[0])
        reasons = [e["payload"]["reason"] for e in events if e["type"] == "worker.refused"]
        failed = [e["payload"]["reason"] for e in events if e["type"] == "behavior.failed"]
        self.assertEqual(failed, ["worker.crashed"])
        self.assertEqual(len(reasons), 3)
        self.assertEqual(self.house.pid("actor"), bystander)
        self.assertEqual(self.house.pid("supervisor"), supervisor)
        self.house.ask("start", run="other")  # forgets the deaths
        return reasons[0]

    def test_a_message_out_of_turn_ends_its_worker(self):
        self.assertIn("outcome came without an effect", self.refused("send", {"do": "outcome", "output": 1}))
        self.assertIn("next came out of turn", self.refused("send", {"do": "next"}))
        self.assertIn("register came out of turn", self.refused("send", {"do": "register", "behaviors": []}))
        self.assertIn("done came while the outcome", self.refused(
            "send", {"do": "effect", "tool": "look", "args": {}, "idempotent": True}))

    def test_a_second_hello_ends_its_worker(self):
        hello = {"do": "hello", "protocol": 1, "nonce": "0" * 32, "name": "x", "behaviors": []}
        self.assertIn("hello came out of turn", self.refused("send", hello))
        self.assertIn("has said hello already", self.refused("stranger", None))

    def test_a_wrong_nonce_ends_the_worker_whose_process_sent_it(self):
        self.assertIn("AGSUP_NONCE", self.refused("stranger", "f" * 32))

    def test_what_is_no_message_ends_its_worker(self):
        self.assertTrue(self.refused("bytes", "c1ff00"))
        self.assertTrue(self.refused("send", {"do": "promote", "fork": "other"}))
        self.assertTrue(self.refused("huge", 24))

    def test_status_names_what_an_agent_has_in_hand(self):
        told = self.house.tell("other", "on.work", steps=[["sleep", 1]])
        row = until("that it is busy", lambda: (row := self.house.unit("other"))["state"] == "busy" and row)
        self.assertEqual(row["invocation"], {"behavior": "work", "event_id": f"evt_{told:03}", "attempt": 1})
        self.assertIn(f"work on evt_{told:03}, attempt 1", self.house.cli("status").stdout)
        self.house.idle("other")
        until("that it has nothing in hand", lambda: not self.house.unit("other")["invocation"])

    def test_an_endless_invocation_is_ended_by_its_wall_clock(self):
        events = self.work(["sleep", 60], run="slow")
        failed = [e["payload"] for e in events if e["type"] == "behavior.failed"]
        self.assertEqual(failed[0]["reason"], "worker.crashed")
        self.assertIn("wall clock of 700 ms", failed[0]["message"])
        events = self.work(["ops", {"op": "add_object", "type": "x", "data": {}}], run="slow")
        self.assertIn("object.created", kinds(events))


class Fleet(unittest.TestCase):
    """Starts, stops, restarts."""

    def house_of(self, agents, **keys):
        house = House(agents, **keys)
        self.addCleanup(house.close)
        house.up()
        return house

    def state(self, house, name, state):
        return until(f"{name} {state}", lambda: (row := house.unit(name))["state"] == state and row)

    def test_a_script_that_meets_its_limit_of_memory_again_and_again_is_started_again_and_again(self):
        house = House()
        self.addCleanup(house.close)
        folder = os.path.join(house.dir, "greedy")
        os.mkdir(folder)
        for name, text in (("manifest.toml", '[pack]\nname = "greedy"\nversion = "1"\ndescription = "x"\n'),
                           ("main.lua", 'ag.behavior { name = "eat", on = { "on.food" }, function ()\n'
                                        "    local all = {}\n    while true do all[#all + 1] = { #all } end\nend }\n")):
            with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                file.write(text)
        layers = {"layers": {"uid": "off"}} if os.geteuid() != 0 else {}
        house.configure({"script": {"packs": [folder], "nets": {"memory": "64MiB"}, "restart": {"at_most": 2}, **layers}})
        house.up()
        for _ in range(5):
            house.tell("script", "on.food")
        house.idle("script")
        failed = [e["payload"]["exception_type"] for e in house.log_of("script", "behavior.failed")]
        self.assertEqual(failed, ["net.memory"] * 5)
        self.assertNotEqual(house.unit("script")["state"], "failed")
        house.down()

    def test_a_message_is_heard_once_also_over_the_death_of_the_supervisor(self):
        house = self.house_of({
            "source": agent(WORK),
            "hearer": agent({"name": "hear", "on": ["message.received"]}, hears=[{"from": "source", "on": "news"}])})
        for n in range(30):
            house.ask("apply", run="source", ops=[{"op": "emit", "type": "news", "payload": {"n": n}}])
            if n % 10 == 5:
                house.kill("supervisor")
        until("30 messages", lambda: len(house.log_of("hearer", "message.received")) >= 30)
        house.idle("hearer")
        heard = house.log_of("hearer", "message.received")
        self.assertEqual([e["payload"]["data"]["n"] for e in heard], list(range(30)))
        done = house.log_of("hearer", "behavior.completed")
        self.assertEqual([e["caused_by"] for e in done], [e["id"] for e in heard])
        house.down()

    def test_what_comes_into_a_run_whose_agent_is_gone_is_remarked_and_waited_for_in_vain(self):
        house = self.house_of({"gone": agent(WORK), "stays": agent(WORK)})
        house.tell("gone", "on.work", steps=[])
        house.idle("gone")
        house.down()
        house.configure({"stays": agent(WORK)})
        house.up()
        self.assertEqual(house.cli("wait", "gone").returncode, 0)
        self.assertIn("nobody works on gone", house.cli("goal", "gone", "x").stderr)
        self.assertIn("nobody works on gone", house.json("tell", "gone", "note", "{}")["remark"])
        self.assertIn("remark", house.json("apply", "gone", stdin='{"op": "emit", "type": "on.work", "payload": {}}'))
        waited = house.cli("goal", "gone", "y", "--wait", check=False)
        self.assertEqual(waited.returncode, 1)
        self.assertIn("is in the run, but: nobody works on gone", waited.stderr)
        self.assertNotIn("remark", house.json("tell", "stays", "on.work", '{"steps": []}'))
        house.down()

    def test_a_service_is_ready_when_it_listens(self):
        for address in "127.0.0.1", "[::1]":
            with self.subTest(address), socket.socket(socket.AF_INET6 if "[" in address else socket.AF_INET) as free:
                free.bind((address.strip("[]"), 0))
                port = free.getsockname()[1]
                listen = ("import socket,time; s = socket.socket(socket.%s); time.sleep(1); s.bind(('%s', %d)); "
                          "s.listen(); time.sleep(60)" % (free.family.name, address.strip("[]"), port))
                free.close()
                house = self.house_of({}, services={
                    "server": {"command": ["/usr/bin/python3", "-c", listen],
                               "ready": {"tcp": f"{address}:{port}", "within": "20s"}}})
                self.assertEqual(house.unit("server")["state"], "starting")
                self.state(house, "server", "ready")
                house.down()

    def test_a_service_that_says_nothing_of_it_is_ready_at_once(self):
        house = self.house_of({}, services={"plain": {"command": ["/bin/sleep", "60"]}})
        self.state(house, "plain", "ready")
        house.down()

    def test_a_hello_without_behaviours_is_told_what_it_lacks(self):
        code = ("import os, time, zmq, msgpack; s = zmq.Context().socket(zmq.REQ); s.connect(os.environ['AGSUP_WORKER'])\n"
                "for ask in {'do': 'hello', 'protocol': 1, 'nonce': os.environ['AGSUP_NONCE'], 'name': 'x', 'bahaviors': []}, "
                "{'do': 'next'}:\n    s.send(msgpack.packb(ask)); s.recv()\n")
        free = {"isolation": "none"} if os.geteuid() else {}
        house = self.house_of({"misspelled": {"command": ["/usr/bin/python3", "-c", code], **free}})
        first = until("a refusal", lambda: house.log_of("misspelled", "worker.refused"))[0]
        self.assertIn("hello had no `behaviors`", first["payload"]["reason"])
        house.down()

    def test_a_service_works_in_its_dir_and_without_one_in_the_folder_of_the_configuration(self):
        where = {"command": ["/bin/sh", "-c", "pwd; exec sleep 60"]}
        house = self.house_of({}, services={"plain": where, "given": {**where, "dir": "actor"}})
        for name, folder, said in (("plain", "", "it works in the folder of the configuration"),
                                   ("given", "actor", "it works in its dir")):
            until("what it said", lambda name=name: house.cli("output", name).stdout)
            self.assertEqual(house.cli("output", name).stdout.split()[-1], os.path.join(house.dir, folder).rstrip("/"))
            layer = next(one for one in house.unit(name)["layers"] if one["name"] == "directory")
            self.assertEqual(layer["reason"], said)
        house.down()

    def test_what_python_prints_is_kept_while_it_runs_and_a_configuration_has_the_last_word_on_its_environment(self):
        code = "import os, time; print(os.environ['LANG'], os.environ['PYTHONUNBUFFERED'], sep='/'); time.sleep(60)"
        plain = {"command": ["/usr/bin/python3", "-c", code], **({"isolation": "none"} if os.geteuid() else {})}
        own = {**plain, "command": ["/usr/bin/python3", "-u", "-c", code], "env": {"LANG": "C", "PYTHONUNBUFFERED": "0"}}
        house = self.house_of({"plain": plain, "own": own}, services={"service": {"command": plain["command"]}})
        for name, said in ("plain", "C.UTF-8/1"), ("service", "C.UTF-8/1"), ("own", "C/0"):
            until(f"what {name} says", lambda name=name: house.cli("output", name).stdout)
            self.assertEqual(house.cli("output", name).stdout.split()[-1], said)
        house.down()

    def test_what_is_too_large_to_be_heard_whole_is_heard_without_its_data(self):
        house = self.house_of({
            "source": agent(WORK),
            "hearer": agent({"name": "hear", "on": ["message.received"]}, hears=[{"from": "source", "on": "news"}])})
        for payload in {"text": "x" * ((1 << 20) - 80)}, {"n": 1}:
            house.ask("apply", run="source", ops=[{"op": "emit", "type": "news", "payload": payload}])
        until("2 messages", lambda: len(house.log_of("hearer", "message.received")) >= 2)
        heard = [(e["payload"]["data"], e["payload"].get("truncated")) for e in house.log_of("hearer", "message.received")]
        self.assertEqual(heard, [(None, True), ({"n": 1}, None)])
        house.down()

    def test_an_invocation_survives_the_supervisor_and_its_death_does_not_count(self):
        house = self.house_of({"actor": agent(WORK, attempts=1)})
        house.idle("actor")
        first = house.tell("actor", "on.work", steps=[["effect", "look", {}, True], ["sleep", 3, 1],
                                                      ["ops", {"op": "add_object", "type": "x", "data": {}}]])
        until("the effect", lambda: house.log_of("actor", "tool.responded"))
        house.kill("supervisor")
        house.idle("actor")
        events = [e for e in house.log_of("actor") if e["seq"] > first]
        self.assertEqual([e["payload"]["attempt"] for e in events if e["type"] == "behavior.started"], [1, 2])
        self.assertEqual(kinds(events).count("tool.responded"), 1)
        self.assertNotIn("behavior.failed", kinds(events))
        self.assertEqual(kinds(events).count("behavior.completed"), 1)
        house.down()

    def test_an_effect_that_may_have_happened_is_not_done_twice(self):
        house = self.house_of({"actor": agent(WORK)})
        house.idle("actor")
        house.tell("actor", "on.work", steps=[["effect", "pay", {"sum": 5}, False]])
        house.idle("actor")
        house.tell("actor", "on.work", steps=[["send", {"do": "effect", "tool": "pay", "args": {"sum": 6}}],
                                              ["kill", 1]])
        house.idle("actor")
        # the second attempt is told `unknown`, sends its operations, and goes on
        self.assertEqual(len(house.log_of("actor", "tool.requested")), 2)
        self.assertEqual(len(house.log_of("actor", "tool.responded")), 1)
        house.down()

    def test_too_many_deaths_are_given_up_and_start_tries_again(self):
        flag = {"command": ["/bin/sh", "-c", "echo no luck >&2; exit 7"], "restart": {"at_most": 2, "within": "1m"}}
        if os.geteuid() != 0:
            flag["isolation"] = "none"
        house = self.house_of({"broken": flag})
        row = self.state(house, "broken", "failed")
        self.assertIn("more than 2 deaths", row["reason"])
        self.assertIn("exit status 7", row["reason"])
        stopped = house.log_of("fleet", "agent.stopped")
        self.assertEqual(len(stopped), 3)
        self.assertEqual({e["payload"]["stderr_tail"] for e in stopped}, {"no luck\n"})
        failures = house.cli("failures", "broken", check=False)
        self.assertEqual(failures.returncode, 1)
        self.assertIn("broken is failed: more than 2 deaths", failures.stdout)
        self.assertIn("agsup output broken", failures.stderr)
        house.cli("start", "broken")
        until("three more", lambda: len(house.log_of("fleet", "agent.stopped")) == 6)
        self.state(house, "broken", "failed")
        self.assertEqual(len(house.log_of("fleet", "agent.gave_up")), 2)
        house.down()

    def test_a_wait_is_not_for_a_host_whose_service_has_failed(self):
        house = self.house_of({"after": agent(WORK, after=["gone"])}, services={"gone": {"command": ["/bin/false"],
                                                                                         "restart": {"at_most": 1}}})
        self.state(house, "gone", "failed")
        self.assertTrue(house.cli("wait", "after", "--timeout", "10").stdout.startswith("after  waiting"))
        house.down()

    def test_a_program_that_is_not_there_is_named(self):
        lost, long = {"command": ["agsup-not-there", "x"]}, {"command": ["x" + 60 * "é"]}
        house = self.house_of({"lost": lost if os.geteuid() == 0 else {**lost, "isolation": "none"}},
                              services={"gone": lost, "long": long})
        for name in "lost", "gone":
            row = self.state(house, name, "failed")
            self.assertIn("cannot be started: agsup-not-there: No such file", row["reason"])
        self.assertIn(f"cannot be started: x{49 * 'é'}?: No such file", self.state(house, "long", "failed")["reason"])
        doctor = house.cli("doctor", check=False)
        self.assertEqual(doctor.returncode, 1)
        self.assertRegex(doctor.stdout, "BAD +agents +failed: ")
        house.down()

    def test_a_program_that_says_no_hello_is_told_of_while_it_is_silent(self):
        dumb = {"command": ["/bin/sleep", "100"]}
        house = self.house_of({"dumb": dumb if os.geteuid() == 0 else {**dumb, "isolation": "none"}})
        row = until("that it is silent", lambda: (row := house.unit("dumb"))["reason"] and row)
        self.assertEqual(row["state"], "starting")
        self.assertRegex(row["reason"], "^it has not said hello for [0-9]+ s; it is given 60$")
        house.down()

    def test_a_pipe_that_took_the_place_of_a_secret_is_refused_by_name_and_the_house_goes_on(self):
        house = House()
        self.addCleanup(house.close)
        secret = os.path.join(house.dir, "secret")
        with open(secret, "w", encoding="ascii") as file:
            file.write("x\n")
        os.chmod(secret, 0o600)
        house.configure({"piped": agent(WORK, env={"KEY": {"file": secret}})},
                        {"dumb": {"command": ["/bin/sleep", "100"], "env": {"KEY": {"file": secret}}}})
        house.up()
        for name in "piped", "dumb":
            self.state(house, name, "ready")
        os.unlink(secret)
        os.mkfifo(secret)
        for name in "piped", "dumb":
            house.cli("restart", name)
            row = self.state(house, name, "failed")
            self.assertIn(f"env KEY: {secret} exists and is not a file", row["reason"])
        house.down()

    def test_a_program_that_may_end_is_ended_and_can_be_started_again(self):
        once = {"command": ["/bin/sh", "-c", "exit 0"], "restart": {"policy": "transient"}}
        house = self.house_of({}, services={"once": once})
        self.state(house, "once", "ended")
        house.cli("start", "once")
        until("the second end", lambda: len(house.log_of("fleet", "agent.stopped")) == 2)
        self.state(house, "once", "ended")
        house.down()

    def test_stop_proves_the_end_and_is_remembered_over_down_and_up(self):
        house = self.house_of({"actor": agent(WORK)})
        pid = until("a process", lambda: house.pid("actor"))
        house.cli("stop", "actor")
        self.assertFalse(os.path.exists(f"/proc/{pid}"))
        proof = house.log_of("fleet", "agent.stopped")[-1]["payload"]
        self.assertEqual((proof["pid"], proof["reason"]), (pid, "stopped"))
        self.assertIn(proof["proof"], ("walk", "cgroup"))
        house.tell("actor", "on.work", steps=[["ops", {"op": "add_object", "type": "late", "data": {}}]])
        house.kill("supervisor")
        self.assertEqual(self.state(house, "actor", "stopped")["queue"], 1)
        house.down()
        house.up()
        self.state(house, "actor", "stopped")
        self.assertEqual(house.objects("actor"), {})
        house.cli("start", "actor")
        until("the late work", lambda: house.objects("actor"))
        house.cli("restart", "actor")
        until("another process", lambda: house.pid("actor"))
        house.down()

    def test_the_answer_to_stop_is_on_disk_when_it_comes(self):
        house = self.house_of({"actor": agent(WORK)})
        for n in range(3):
            until("a process", lambda: house.pid("actor"))
            supervisor = house.pid("supervisor")
            house.ask("stop", run="actor", id=f"stop/{n}")
            self.assertEqual(house.pid("supervisor"), supervisor)  # it ends rather than say what is not written
            kill(supervisor)
            with self.assertRaises(Refused) as refused:
                house.ask("start", run="actor", id=f"stop/{n}")
            self.assertEqual(refused.exception.code, "reused")
            house.ask("start", run="actor")
        house.down()

    def test_a_stopped_agent_finishes_its_invocation_when_it_is_started(self):
        house = self.house_of({"actor": agent(WORK, attempts=1)})
        first = house.tell("actor", "on.work", steps=[["sleep", 30, 1],
                                                      ["ops", {"op": "add_object", "type": "x", "data": {}}]])
        until("its start", lambda: house.log_of("actor", "behavior.started"))
        house.cli("stop", "actor")
        house.cli("start", "actor")
        house.idle("actor")
        events = [e for e in house.log_of("actor") if e["seq"] > first]
        self.assertEqual([e["payload"]["attempt"] for e in events if e["type"] == "behavior.started"], [1, 2])
        self.assertEqual(len(house.objects("actor")), 1)
        house.down()

    def test_a_net_of_memory_holds_or_status_says_that_it_does_not(self):
        house = self.house_of({"actor": agent(WORK, nets={"memory": "900MiB"})})
        house.tell("actor", "on.work", steps=[])
        house.idle("actor")
        row = self.state(house, "actor", "ready")
        with open(f"/proc/{row['pid']}/limits", encoding="utf-8") as file:
            holds = str(900 << 20) in file.read()
        net = next(net for net in row["nets"] if net["name"] == "memory")
        self.assertEqual((net["asked"], net["in_force"]), (900 << 20, holds))
        self.assertEqual(net["reason"], "address space of each process" if holds else "sanitizer build")
        house.down()

    def test_a_run_that_used_up_its_events_stops_until_its_net_is_raised_and_a_fork_has_its_own(self):
        def nets(events):
            return {"actor": agent(WORK, nets={"events": events})}
        add = [["ops", {"op": "add_object", "type": "x", "data": {}}]]
        house = self.house_of(nets(12))
        for _ in range(4):
            house.tell("actor", "on.work", steps=add)
        until("its end", lambda: house.log_of("actor", "runtime.budget_exhausted"))
        failed = house.log_of("actor", "behavior.failed")
        self.assertEqual([e["payload"]["reason"] for e in failed], ["budget.events_exhausted"])
        made = len(house.objects("actor"))
        house.kill("supervisor")
        house.tell("actor", "on.work", steps=add)
        house.idle("actor")
        self.assertEqual(len(house.objects("actor")), made)
        fork = house.json("fork", "actor")["run_id"]
        until("the fork's work", lambda: len(house.objects(fork)) > made)
        self.assertEqual(len(house.objects("actor")), made)
        house.down()
        house.configure(nets(1000))
        house.up()
        until("the rest", lambda: house.log_of("actor", "runtime.idle"))
        self.assertEqual(len(house.objects("actor")), 4)  # of five, one failed
        house.down()

    def test_a_run_without_processes_cannot_be_stopped(self):
        house = self.house_of({})
        house.ask("create", label="notes")
        with self.assertRaises(Refused) as refused:
            house.ask("stop", run="notes")
        self.assertEqual(refused.exception.code, "not_found")
        self.assertEqual(house.cli("stop", "nobody", check=False).returncode, 3)
        house.down()


if __name__ == "__main__":
    main()
