"""Trials: a candidate in a fork, under nets. Tests are named by the reference's cases that they stand for.
SPDX-License-Identifier: Apache-2.0
"""
import glob
import json
import os
import subprocess
import time
import unittest

from house import BIN, House, Refused, agent, is_alive, main, until
from trials import LUA, MADE, Pack, TrialCase


class Trials(TrialCase):
    """What a trial comes to."""

    # Outcomes

    def test_68_what_completes_changes_its_fork_alone(self):
        report = self.trial(self.lua('graph.add_object ("note", { by = "demo" })'))
        self.assertEqual((report["exit_code"], report["signal"], report["behavior_failures"], report["detail"]),
                         (0, None, 0, ""))
        events = self.own(report)
        self.assertEqual(report["events_appended"], len(events))
        self.house.idle("base", seconds=5)  # the report gives it nothing to do
        self.assertEqual(list(self.house.objects(report["fork_run_id"]).values()), [{"by": "demo"}])
        self.assertEqual(self.house.objects("base"), {})
        self.assertEqual([e["payload"]["name"] for e in events if e["type"] == "pack.loaded"], ["demo"])
        self.assertEqual([e["payload"]["name"] for e in events if e["type"] == "pack.disabled"], ["base"])
        rows = {run["run"]: run for run in self.house.ask("tree")["runs"]}
        self.assertEqual((rows[report["fork_run_id"]]["kind"], rows[report["fork_run_id"]]["state"]),
                         ("trial", "ended"))
        plan = self.house.json("promote", report["fork_run_id"], "--dry-run")
        self.assertEqual([len(plan["object_creates"]), plan["is_promotable"]], [1, True])
        with self.assertRaises(Refused):
            self.house.ask("start", run=report["fork_run_id"])

    def test_68_with_a_program_and_without_a_scenario_the_goal_is_put_in(self):
        pack = self.program()
        report = self.run_program(pack, scenario=self.code("ops.append({'op': 'add_object', 'type': 'n', 'data': {}})"))
        self.assertEqual(len(self.house.objects(report["fork_run_id"])), 1)
        body = LUA.format(name="demo", body='graph.add_object ("goal", { text = event.payload.goal })')
        report = self.trial(self.lua(text=body.replace("work.due", "goal.created")), scenario=None)
        self.assertEqual(list(self.house.objects(report["fork_run_id"]).values()), [{"text": "Look at it"}])

    def test_a_trial_of_a_run_without_an_agent_is_promoted_like_any_fork(self):
        self.house.ask("create", label="plain")
        report = self.trial(self.lua('graph.add_object ("note", { by = "demo" })'), run="plain")
        self.house.cli("promote", report["fork_run_id"])
        self.assertEqual(list(self.house.objects("plain").values()), [{"by": "demo"}])
        self.assertTrue(self.house.json("verify", "--state")["ok"])

    def test_69_a_wrong_pin_is_refused_before_anything_is_loaded(self):
        pack = self.lua()
        pin = pack.pin[:-1] + ("0" if pack.pin[-1] != "0" else "1")
        report = self.trial(pack, pin=pin, outcome="materialization_failed")
        self.assertIn("bundle hash mismatch", report["detail"])
        self.assertEqual((report["events_appended"], report["exit_code"], report["bundle_hash"]), (0, None, pack.pin))
        self.assertEqual(self.own(report), [])

    def test_69_a_manifest_or_a_file_that_was_changed_since_is_refused(self):
        pack = self.lua()
        pack.write("manifest.toml", "# a comment\n", "a")
        self.assertIn("bundle hash mismatch", self.trial(pack, outcome="materialization_failed")["detail"])
        pack = self.lua()
        pack.write("main.lua", " ", "a")
        self.assertIn("bundle hash mismatch", self.trial(pack, outcome="materialization_failed")["detail"])

    def test_70_without_a_pin_there_is_no_fork(self):
        pack, before = self.lua(), self.count()
        for pin in ("md5:abcd", "sha256:" + "0" * 63, "sha256:" + "0" * 65, pack.pin.upper(), "sha256:" + "g" * 64):
            done = self.house.cli("--json", *self.words(pack, pin=pin), check=False)
            self.assertEqual((done.returncode, json.loads(done.stdout)["error"]["code"]), (2, "usage"), pin)
        self.assertEqual(self.house.cli("trial", "base", "--pack", pack.dir, check=False).returncode, 2)
        self.assertEqual(self.count(), before)

    def test_71_a_manifest_with_another_content_hash_is_refused(self):
        report = self.trial(self.lua(content="sha256:" + "0" * 64), outcome="materialization_failed")
        self.assertIn("content_hash", report["detail"])

    def test_57_and_58_code_that_is_not_what_its_manifest_says_loads_nothing(self):
        report = self.trial(self.lua(behaviors=[]), outcome="materialization_failed")
        self.assertIn("`demo.work` is found and not declared", report["detail"])
        self.assertEqual(report["events_appended"], 0)
        report = self.trial(self.lua(behaviors=["demo.work", "demo.ghost"]), outcome="materialization_failed")
        self.assertIn("`demo.ghost` is declared and not found", report["detail"])
        report = self.run_program(self.program(behaviors=["demo.other"]), outcome="materialization_failed")
        self.assertIn("`demo.work` is found and not declared", report["detail"])
        self.assertEqual(self.own(report), [])

    def test_63_a_pack_that_cannot_be_loaded(self):
        for text, words in (("ag.behavior {", "main.lua"), ("error ('no')", "no"), ("x = nil + 1", "main.lua")):
            report = self.trial(self.lua(text=text), outcome="materialization_failed")
            self.assertIn(words, report["detail"])
            self.assertEqual(report["events_appended"], 0)

    def test_72_a_scenario_that_is_refused(self):
        steps = MADE + [{"op": "patch_object", "id": "no#1", "data": {}}] + MADE
        report = self.trial(self.lua(), scenario=steps, outcome="scenario_failed")
        self.assertIn("step 2 of the scenario", report["detail"])
        self.assertIn("no#1", report["detail"])
        self.assertEqual(len(self.own(report, "work.due")), 1)
        steps = [{"op": "goal", "text": "x"}, [{"op": "add_object", "type": "a", "data": {}}] * 2]
        report = self.trial(self.lua(), scenario=steps)
        self.assertEqual(len(self.house.objects(report["fork_run_id"])), 2)

    def test_73_and_74_a_scenario_is_a_file_of_the_operator(self):
        pack, before = self.lua(), self.count()
        words = self.words(pack, scenario=None)
        for path in ("no such file", "../../x"):
            done = self.house.cli(*words, "--scenario", path, check=False)
            self.assertEqual(done.returncode, 2)
        path = os.path.join(self.house.dir, "scenario")
        with open(path, "w", encoding="utf-8") as file:
            file.write('{"op": "emit"\n')
        self.assertEqual(self.house.cli(*words, "--scenario", path, check=False).returncode, 2)
        self.assertEqual(self.count(), before)

    # Nets

    def bounded(self, report, limit):
        events = self.own(report)
        self.assertEqual(len(events) - 1, report["events_appended"])
        self.assertLessEqual(report["events_appended"], limit)
        self.assertEqual(events[-1]["type"], "runtime.budget_exhausted")
        self.assertIn("budget of events", report["detail"])

    def test_75_events_are_bounded_exactly(self):
        pack = self.lua('graph.add_object ("note", {})')
        for limit in (3, 4, 15, 16, 17, 18, 19):
            report = self.trial(pack, "--events", str(limit), scenario=MADE * 100, outcome="limits_exceeded")
            self.assertEqual(report["net"], "events")
            self.bounded(report, limit)
        exact = self.trial(pack)["events_appended"]
        self.trial(pack, "--events", str(exact))
        self.bounded(self.trial(pack, "--events", str(exact - 1), outcome="limits_exceeded"), exact - 1)
        many = self.lua('for i = 1, 100 do graph.add_object ("note", {}) end')
        self.bounded(self.trial(many, "--events", "50", outcome="limits_exceeded"), 50)

    def test_76_effects_in_a_loop_are_events_too(self):
        self.house.tell("asks", "on.work", steps=[["effect", "t", {"n": 1}]])
        self.house.idle("asks")
        loop = "while True: assert ask('effect', tool='t', args={'n': 1}, idempotent=True)['do'] == 'result'"
        for limit in (40, 41):
            report = self.run_program(self.program(), "--events", str(limit), scenario=self.code(loop), run="asks",
                                      outcome="limits_exceeded")
            self.assertEqual(report["net"], "events")
            self.bounded(report, limit)
        many = self.code("ops += [{'op': 'emit', 'type': 'x', 'payload': {}}] * 15") * 9
        report = self.run_program(self.program(), "--events", "40", scenario=many, outcome="limits_exceeded")
        self.bounded(report, 40)

    def test_77_and_78_the_wall_clock_ends_what_sleeps_and_what_spins(self):
        for keys in ({"body": "while true do end"}, {"text": "while true do end"}):
            begin = time.monotonic()
            report = self.trial(self.lua(**keys), "--wall", "1.5", outcome="limits_exceeded")
            self.assertLess(time.monotonic() - begin, 30)
            self.assertEqual(report["net"], "wall")
            self.assertIn("wall clock", report["detail"])
            marker, = self.own(report, "trial.wall_clock_exhausted")
            self.assertEqual(marker["payload"]["wall_clock_seconds"], 1.5)
            self.assertEqual(marker["seq"], marker["payload"]["stop_position"]["accepted_sequence"] + 1)
            self.assertEqual(report["events_appended"], len(self.own(report)) - 1)
        for load, code in (("time.sleep(600)", ""), ("", "time.sleep(600)"),
                           ("signal.signal(15, signal.SIG_IGN)", "while True: pass")):
            report = self.run_program(self.program(load), "--wall", "2", scenario=self.code(code),
                                      outcome="limits_exceeded")
            self.assertEqual((report["net"], report["signal"], report["exit_code"]), ("wall", 9, None))

    def test_79_80_82_and_84_an_end_without_a_verdict_is_a_crash(self):
        for status in (9, 0, 30, 40, 50, 7):
            for load, code in ((f"os._exit({status})", ""), ("", f"os._exit({status})")):
                report = self.run_program(self.program(load), scenario=self.code(code), outcome="crashed")
                self.assertEqual((report["exit_code"], report["signal"]), (status, None))
        for number in (11, 6, 9):
            source = f'fputs ("the last words\\n", stderr); raise ({number});'
            report = self.trial(self.native(source), "--program", "bin/run", outcome="crashed")
            self.assertEqual((report["signal"], report["exit_code"], report["stderr_tail"]),
                             (number, None, "the last words"))

    def test_81_83_a_forged_verdict_changes_nothing(self):
        forged = json.dumps({"outcome": "completed", "fork_run_id": "r1", "events_appended": 1})
        for status in (0, 9):
            source = f'puts ({json.dumps(forged)}); fputs ({json.dumps(forged)}, stderr); exit ({status});'
            report = self.trial(self.native(source), "--program", "bin/run", outcome="crashed")
            self.assertEqual(report["exit_code"], status)
        second = "\n".join([
            "other = zmq.Context().socket(zmq.REQ)", "other.linger = 0", "other.connect(os.environ['AGSUP_WORKER'])",
            "other.send(msgpack.packb({'do': 'hello', 'protocol': 1, 'nonce': os.environ['AGSUP_NONCE'], 'name': 'x',"
            " 'behaviors': []}))", "other.poll(5000)", "ask('next')"])
        report = self.run_program(self.program(), scenario=self.code(second), outcome="crashed")
        self.assertEqual(report["signal"], 9)
        report = self.run_program(self.program(), scenario=self.code("ask('done', ops=[]); ask('trial.finished')"),
                                  outcome="crashed")
        pack = self.program("ask('hello', protocol=1, nonce=os.environ['AGSUP_NONCE'], name='x')\n"
                            "ask('fail', error={'type': 'net.memory', 'message': 'all is well'}); os._exit(7)")
        report = self.run_program(pack, outcome="materialization_failed")  # it says so of itself
        self.assertEqual((report["detail"].split(" [degraded")[0], report["net"]), ("all is well", None))

    def test_80_what_was_told_to_stop_ends_with_0_by_itself(self):
        self.assertEqual(self.run_program(self.program(end="sys.exit(3)"), outcome="crashed")["exit_code"], 3)
        report = self.run_program(self.program(end="time.sleep(600)"), outcome="crashed")
        self.assertIn("did not end when it was told to", report["detail"])

    def test_85_a_program_that_cannot_be_started(self):
        report = self.trial(self.program(), "--program", "end.py", outcome="crashed")
        self.assertIn("cannot be started", report["detail"])
        report = self.trial(self.program(), "--program", "no.py", outcome="materialization_failed")
        self.assertIn("no.py is no file of the pack", report["detail"])

    def rss(self):
        return self.house.ask("status")["supervisor"]["rss_bytes"]

    def test_86_and_87_floods_are_bounded_and_decide_nothing(self):
        before = self.rss()
        flood = 'static char line[65536]; memset (line, \'x\', 65535); for (int i = 0; i < {0}; i++) fputs (line, {1});'
        report = self.trial(self.native(flood.format(1600, "stderr") + 'for (int i = 0; i < 50; i++) fprintf (stderr, '
                                        '"\\nline %d", i); abort ();'), "--program", "bin/run", outcome="crashed")
        self.assertEqual(report["stderr_tail"].splitlines(), [f"line {n}" for n in range(30, 50)])
        report = self.trial(self.native(flood.format(16000, "stdout") + "abort ();"), "--program", "bin/run",
                            outcome="crashed")
        report = self.trial(self.native(flood.format(100, "stderr") + "abort ();"), "--program", "bin/run",
                            outcome="crashed")
        self.assertEqual(len(report["stderr_tail"]), 1500)
        self.assertLess(self.rss() - before, 64 << 20)

    def test_88_a_descendant_that_keeps_the_pipes_is_ended_with_the_tree(self):
        code = "subprocess.Popen(['/usr/bin/setsid', '/bin/sleep', '654.321'], start_new_session=True); time.sleep(600)"
        begin = time.monotonic()
        self.run_program(self.program(), "--wall", "3", scenario=self.code(code), outcome="limits_exceeded")
        self.assertLess(time.monotonic() - begin, 3 + 2 + 8)  # and what a sanitizer takes to start everything
        with os.popen("ps -eo args") as listed:
            self.assertNotIn("654.321", listed.read())

    def test_89_memory_is_a_net_wherever_it_is_met(self):
        eats = 'local t = {} for i = 1, 1e9 do t[i] = ("x"):rep (1000) .. i end'
        report = self.trial(self.lua(eats), "--memory", str(32 << 20), outcome="limits_exceeded")
        self.assertEqual((report["net"], report["exit_code"]), ("memory", 7))
        report = self.trial(self.lua(text=eats), "--memory", str(32 << 20), outcome="limits_exceeded")
        self.assertEqual((report["net"], report["events_appended"]), ("memory", 0))

    def test_90_a_net_that_is_off_is_named(self):
        report = self.run_program(self.program())
        nets = {net["name"]: net for net in report["nets"]}
        self.assertEqual((nets["wall"]["asked"], nets["events"]["asked"], nets["memory"]["asked"]),
                         (120000, 2000, 512 << 20))
        off = not nets["memory"]["in_force"]
        self.assertEqual(off, "[degraded: the memory net is off: " in report["detail"])
        self.assertTrue(not off or nets["memory"]["reason"])
        layers = {layer["name"]: layer["in_force"] for layer in report["layers"]}
        self.assertTrue(layers["uid"])
        self.assertTrue(layers["seccomp"])

    def test_91_a_cap_above_what_can_be_had_is_no_error(self):
        self.trial(self.lua(), "--memory", str(1 << 50))

    def test_92_the_wall_clock_goes_before_the_events(self):
        report = self.run_program(self.program(), "--events", "8", "--wall", "2", outcome="limits_exceeded",
                                  scenario=self.code("time.sleep(600)"))
        self.assertEqual(report["net"], "wall")

    def test_a_person_is_told_what_to_look_at_next(self):
        for body, pin, status, says, does_not in (
                ('graph.add_object ("note", {})', None, 0, "--dry-run` shows", "agsup failures"),
                ('error ("a failure of its own")', None, 0, "`agsup failures r", "agsup discard"),
                ("", "sha256:" + "0" * 64, 1, "`agsup pack hash /", "agsup log")):
            done = self.house.cli(*self.words(self.lua(body), pin=pin), check=False)
            self.assertEqual(done.returncode, status, done.stdout)
            self.assertIn(says, done.stderr)
            self.assertNotIn(does_not, done.stderr)

    def test_93_failures_of_behaviours_are_counted_and_decide_nothing(self):
        report = self.trial(self.lua('error ("a failure of its own")'), scenario=MADE * 3)
        self.assertEqual((report["invocations"], report["behavior_failures"]), (3, 3))

    def test_a_scenario_that_nothing_waits_for_invokes_nothing_and_is_over_soon(self):
        began = time.monotonic()
        step = [{"op": "emit", "type": "unheard", "payload": {}}]
        report = self.trial(self.lua(), "--events", "60000", scenario=step * 6000)
        self.assertEqual((report["invocations"], report["events_appended"] > 6000), (0, True))
        self.assertLess(time.monotonic() - began, 10)

    def test_94_secrets_and_grants_of_the_parent_are_not_the_candidates(self):
        code = ("with open('/proc/self/environ', 'rb') as file: seen = sorted(v.split(b'=')[0].decode() for v in"
                " file.read().split(b'\\0') if v)\n"
                "ops.append({'op': 'add_object', 'type': 'env', 'data': {'seen': seen}})")
        report = self.run_program(self.program(), scenario=self.code(code))
        (seen,) = self.house.objects(report["fork_run_id"]).values()
        self.assertEqual(set(seen["seen"]), {"PATH", "LANG", "HOME", "PYTHONUNBUFFERED", "AGSUP_WORKER", "AGSUP_NONCE",
                                             "AGSUP_HOME_ID"})

    def test_95_and_96_extra_packs_are_loaded_before_the_candidate_or_nothing_is(self):
        pack = self.lua()
        extra = Pack(os.path.join(self.house.dir, "extra"), {"main.lua": LUA.format(
            name="extra", body='graph.add_object ("by", { pack = "extra" })')}, name="extra", behaviors=["extra.work"])
        report = self.trial(pack, "--extra", f"{extra.dir}={extra.pin}")
        self.assertEqual([e["payload"]["name"] for e in self.own(report, "pack.loaded")], ["extra", "demo"])
        self.assertEqual(len(self.house.objects(report["fork_run_id"])), 1)
        report = self.trial(pack, "--extra", f"{extra.dir}={pack.pin}", outcome="materialization_failed")
        self.assertIn("extra pack 1: bundle hash mismatch", report["detail"])
        self.assertEqual((self.own(report), report["bundle_hash"]), ([], None))
        report = self.trial(pack, "--extra", f"{pack.dir}={pack.pin}", outcome="materialization_failed")
        self.assertIn("two packs are called demo", report["detail"])

    def test_99_the_same_twice_is_two_forks_and_with_one_request_id_one(self):
        pack = self.lua()
        first, second = self.trial(pack), self.trial(pack)
        self.assertNotEqual(first["fork_run_id"], second["fork_run_id"])
        named = [self.trial(pack, "--request-id", "one-trial") for _ in range(2)]
        self.assertEqual(named[0], named[1])

    # Specification

    def test_101_102_and_104_what_is_no_specification_is_refused_before_work(self):
        pack, before = self.lua(), self.count()
        for words in (["--wall", "0"], ["--wall", "-1"], ["--wall", "nan"], ["--wall", "1e308"], ["--wall", "true"],
                      ["--events", "true"], ["--events", "-1"], ["--events", "1e9"], ["--memory", "1.5"],
                      ["--extra", "nothing"]):
            self.assertEqual(self.house.cli(*self.words(pack), *words, check=False).returncode, 2, words)
        packs = [{"pin": pack.pin, "files": []}]
        for fields in ({}, {"packs": []}, {"packs": [1]}, {"packs": [{}]}, {"packs": [{"pin": pack.pin}]},
                       {"packs": {}}, {"packs": packs, "events": True}, {"packs": packs, "wall_ms": "1"},
                       {"packs": packs, "scenario": [1]}, {"packs": packs, "scenario": {}},
                       {"packs": packs, "events": 1 << 40},
                       {"packs": packs * 2, "program": "run.py"}, {"packs": packs * 65}):
            with self.assertRaises(Refused, msg=str(fields)):
                self.house.ask("trial", point="base", **fields)
        with self.assertRaises(Refused):
            self.house.ask("tried", run="base")
        self.assertEqual(self.count(), before)

    # The bytes

    def test_55_what_runs_is_what_was_hashed(self):
        pack = self.program("open(here + '/load.py').read()")
        code = ("time.sleep(1.5)\nops.append({'op': 'add_object', 'type': 'file', 'data': {'text':"
                " open(here + '/load.py').read(), 'names': sorted(os.listdir(here)), 'real': here}})")
        pack.write(".hidden", "x")
        os.makedirs(os.path.join(pack.dir, "__pycache__"))
        pack.write("__pycache__/x.pyc", "x")
        os.mkfifo(os.path.join(pack.dir, "fifo"))
        watched = subprocess.Popen(  # pylint: disable=consider-using-with
            [BIN + "/agsup", "--home", self.house.home, "--json",
             *self.words(pack, "--program", "run.py", scenario=self.code(code))], stdout=subprocess.PIPE, text=True)
        run = until("the trial", lambda: self.house.ask("status")["forks"])[0]["name"]
        pack.write("load.py", "raise SystemExit (3)")
        pack.write("new.py", "x")
        report = json.loads(watched.communicate(timeout=60)[0])
        self.assertEqual((report["outcome"], report["fork_run_id"]), ("completed", run))
        (seen,) = self.house.objects(run).values()
        self.assertEqual(seen["text"], "open(here + '/load.py').read()")
        self.assertEqual(seen["names"], ["end.py", "load.py", "manifest.toml", "run.py"])
        self.assertNotIn("candidate", seen["real"])

    # Whoever interferes

    def live(self, pack, *words, **keys):
        """A trial whose client has gone; its run."""
        before = {row["name"] for row in self.house.ask("status")["forks"]}
        with subprocess.Popen([BIN + "/agsup", "--home", self.house.home,
                               *self.words(pack, *words, **keys)], stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL) as client:
            def look():
                return [row for row in self.house.ask("status")["forks"] if row["name"] not in before and row["pid"]]
            run = until("the trial", look)[0]["name"]
            client.kill()
        return run

    def report(self, run):
        return until("a report", lambda: (a := self.house.ask("tried", run=run, wait_ms=1000))["done"] and a)

    def test_a_trial_whose_client_went_away_ends_and_is_reported(self):
        run = self.live(self.program(), "--program", "run.py", scenario=self.code("time.sleep(1)"))
        self.assertEqual(self.report(run)["outcome"], "completed")

    def test_a_trial_that_is_stopped_or_discarded_is_a_crash(self):
        for do, name in (("stop", "run"), ("discard", "fork")):
            run = self.live(self.program(), "--program", "run.py", scenario=self.code("time.sleep(600)"))
            self.house.ask(do, **{name: run})
            report = self.report(run)
            self.assertEqual(report["outcome"], "crashed")
            self.assertIn("the house ended it", report["detail"])

    def test_a_thousand_trials_in_a_row_leave_nothing_behind(self):
        """AG_TRIALS of them; the first ones warm everything up."""
        many = int(os.environ.get("AG_TRIALS", "20"))
        pack = self.lua('graph.add_object ("note", {})')
        pid = self.house.pid("supervisor")
        for run in ("base", "asks"):  # whose processes would be parked meanwhile
            self.house.ask("stop", run=run)
            self.addCleanup(self.house.ask, "start", run=run)

        def look():
            seen = os.geteuid() == 0  # an ordinary user is not shown the descriptors
            return len(os.listdir(f"/proc/{pid}/fd")) if seen else None, len(self.house.left())

        def written():
            return sum(os.path.getsize(path) for path in glob.glob(f"{self.house.home}/data/*.log"))
        for number in range(many):
            if number == min(10, many // 2):
                first, rss, log = look(), self.rss(), written()
            self.house.cli("-q", *self.words(pack))
        self.assertEqual(look(), first)
        kept = 2 * (written() - log)  # by the store, until it goes to its tables
        self.assertLess(self.rss() - rss, kept + ((4 if many > 100 else 8) << 20))


class Restarts(unittest.TestCase):
    """A house that dies or ends meanwhile."""

    def setUp(self):
        self.house = house = House({"base": agent("x.y")})
        self.addCleanup(house.close)
        house.up()
        text = LUA.format(name="demo", body="print ('here') while true do end")
        pack = Pack(os.path.join(house.dir, "candidate"), {"main.lua": text})
        files = [{"path": path, "bytes": pack.read(path)} for path in ("main.lua", "manifest.toml")]
        self.run_id = house.ask("trial", point="base", packs=[{"pin": pack.pin, "files": files}],
                                scenario=MADE)["run_id"]
        self.pid = until("its process", lambda: [r for r in house.ask("status")["forks"] if r["pid"]])[0]["pid"]
        until("what it prints", self.printed)

    def printed(self):
        return [name for name in os.listdir(f"{self.house.home}/log") if name.startswith(f"{self.run_id}.")]

    def test_a_trial_that_is_open_at_a_restart_is_closed_as_crashed(self):
        house = self.house
        house.kill("supervisor")
        report = until("a report", lambda: (a := house.ask("tried", run=self.run_id, wait_ms=500))["done"] and a)
        self.assertEqual((report["outcome"], report["exit_code"], report["net"]), ("crashed", None, None))
        self.assertIn("the house ended while it ran", report["detail"])
        self.assertFalse(is_alive(self.pid))
        self.assertEqual((house.ask("status")["forks"], self.printed()), ([], []))
        self.assertEqual([e["payload"]["fork_run_id"] for e in house.log_of("base", "trial.finished")], [self.run_id])
        house.kill("supervisor")  # and told once
        house.idle("base")
        self.assertEqual(len(house.log_of("base", "trial.finished")), 1)
        self.assertTrue(house.json("verify", "--state")["ok"])
        house.down()

    def test_a_house_that_goes_down_ends_its_trials(self):
        self.house.down()
        self.house.up()
        told = self.house.log_of("base", "trial.finished")
        self.assertEqual(([e["payload"]["outcome"] for e in told], self.printed()), (["crashed"], []))
        self.house.down()


if __name__ == "__main__":
    main()
