"""Packs: what they declare holds for everybody, and a pack that is put out of force does nothing any more.
SPDX-License-Identifier: Apache-2.0
"""
import json
import os
import re
import subprocess
import tempfile
import threading
import time
import unittest

from house import BIN, HERE, House, Refused, agent, main, until

MANIFEST = """[pack]
name = "{name}"
version = "{version}"
description = "A pack of a test"
{types}
"""
INSIGHT = """[types.object.insight]
required = ["text"]
properties.text = {{ type = "string" }}
properties.confidence = {{ type = "number", minimum = 0, maximum = {most}, default = 0.5 }}
"""
MAIN = """ag.behavior {{ name = "{name}.note", on = {{ "note.due" }}, function (event, graph, ctx)
    graph.add_object (event.payload.type, event.payload.data)
end }}
"""

RACER = """ag.behavior {{ name = "race", on = {{ "race.due" }}, function (event, graph, ctx)
    graph.add_object ("ran", {{ word = "WORD" }})
end }}
"""


def write(folder, name, version="1", types="", lua=MAIN):
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "manifest.toml"), "w", encoding="utf-8") as file:
        file.write(MANIFEST.format(name=name, version=version, types=types))
    with open(os.path.join(folder, "main.lua"), "w", encoding="utf-8") as file:
        file.write(lua.format(name=name))
    return folder


SPEAKER = """ag.behavior {{{{ name = "hello.say", on = {{{{ "say.due" }}}}, function (event, graph, ctx)
    graph.emit ("said", {{{{ word = "{}", greeting = ctx.settings.greeting, loud = ctx.settings.loud }}}})
end }}}}
"""


def speaker(house, word, settings):
    """A pack that says a word of its source and its settings."""
    folder = write(os.path.join(house.dir, "hello"), "hello", lua=SPEAKER.format(word))
    with open(os.path.join(folder, "settings.toml"), "w", encoding="utf-8") as file:
        file.write(settings)
    return folder


class Packs(unittest.TestCase):
    """Two packs in one agent; the first one declares a type."""

    def setUp(self):
        self.house = house = House()
        self.addCleanup(house.close)
        self.typed = write(os.path.join(house.dir, "typed"), "typed", types=INSIGHT.format(most=1))
        self.plain = write(os.path.join(house.dir, "plain"), "plain")
        self.configure(self.typed, self.plain)
        house.up()

    def configure(self, *packs):
        self.house.configure({"script": {"packs": list(packs)}, "program": agent("on.a")})

    def tell(self, data, kind="insight", run="script"):
        """Both behaviours make one object of it; the failures, by behaviour."""
        first = self.house.tell(run, "note.due", type=kind, data=data)
        self.house.idle(run)
        events = [e for e in self.house.log_of(run, "behavior.failed") if e["seq"] > first]
        return {e["payload"]["behavior"]: e["payload"] for e in events}

    def registered(self, run, behavior, there=True):
        """What is told from now on is matched with a list that has the behaviour, or has it not."""
        def look():
            found = self.house.log_of(run, "worker.registered")
            return found and there == (behavior in [b["name"] for b in found[-1]["payload"]["behaviors"]])
        until(f"a registration, {behavior}: {there}", look)

    def test_what_a_pack_declares_holds_for_each_behaviour_and_for_people(self):
        house = self.house
        failed = self.tell({"confidence": 2})
        self.assertEqual(set(failed), {"typed.note", "plain.note"})
        self.assertEqual({one["reason"] for one in failed.values()}, {"type"})
        self.assertIn("`insight` as pack typed declares it: text is missing, and 1 more", failed["plain.note"]["message"])
        self.assertEqual(house.objects("script"), {})
        self.assertEqual(self.tell({"text": "x"}), {})
        self.assertEqual(list(house.objects("script").values()), [{"text": "x", "confidence": 0.5}] * 2)
        operation = {"op": "add_object", "type": "insight", "data": {"text": 1}}
        done = house.cli("apply", "script", stdin=json.dumps(operation), check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn("text is 1, not string", done.stderr)
        loaded, = [e["payload"] for e in house.log_of("script", "pack.loaded") if e["payload"]["name"] == "typed"]
        self.assertEqual((loaded["object_types"], loaded["relation_types"]), (["insight"], []))
        self.assertTrue(house.json("verify", "script", "--state")["ok"])
        house.down()

    def test_a_promote_is_held_against_the_types_of_the_parent(self):
        house = self.house
        looser = write(os.path.join(house.dir, "looser"), "typed", "2", INSIGHT.format(most=10))
        house.cli("fork", "script", "--label", "loose", "--pack", looser)
        self.assertEqual(self.tell({"text": "x", "confidence": 5}, run="loose"), {})
        before = len(house.log_of("script"))
        for words in ([], ["--dry-run"]):
            done = house.cli("--json", "promote", "loose", *words, check=False)
            plan = json.loads(done.stdout)
            self.assertEqual((done.returncode, plan["is_promotable"], plan["conflicts"]), (5, False, []))
            self.assertEqual([(v["type"], v["path"], v["detail"]) for v in plan["violations"]],
                             [("insight", "confidence", "is 5, not at most 1")] * 2)
        self.assertIn("schema", house.cli("promote", "loose", check=False).stdout)
        self.assertEqual(len(house.log_of("script")), before)
        house.down()

    def test_i_14_a_disabled_pack_stops_at_once_and_leaves_its_state(self):
        house = self.house
        self.assertEqual(self.tell({"text": "x"}), {})
        state, pid = house.objects("script"), house.pid("script")
        done = house.json("pack", "disable", "script", "typed")
        self.assertTrue(done["disabled"])
        until("another process", lambda: house.pid("script") != pid)
        self.assertEqual(house.objects("script"), state)
        self.assertEqual(self.tell({"confidence": 2}), {})
        new = {id: data for id, data in house.objects("script").items() if id not in state}
        self.assertEqual(list(new.values()), [{"confidence": 2}])  # of plain alone, and untyped
        self.assertFalse(house.json("pack", "disable", "script", "typed")["disabled"])
        disabled = house.log_of("script", "pack.disabled")[0]
        self.assertEqual(disabled["payload"], {"name": "typed", "version": "1", "behaviors": ["typed.note"],
                                               "object_types": ["insight"], "relation_types": []})
        self.assertEqual(house.cli("pack", "disable", "script", "unknown", check=False).returncode, 3)
        self.registered("script", "typed.note", False)
        house.idle("script")
        before = len(house.log_of("script"))
        done = house.json("pack", "load", "script", self.typed)
        self.assertEqual((done["pack"], done["version"], done["event_id"]), ("typed", "1", f"evt_{before + 1:03}"))
        self.assertIsNone(house.json("pack", "load", "script", self.typed)["event_id"])
        self.registered("script", "typed.note")
        self.assertEqual(set(self.tell({"confidence": 2})), {"typed.note", "plain.note"})
        house.cli("pack", "disable", "script", "typed")
        self.registered("script", "typed.note", False)
        self.assertEqual(house.cli("pack", "load", "program", self.typed, check=False).returncode, 2)
        self.assertEqual([p["name"] for p in house.json("pack", "list", "script")["packs"]], ["plain"])
        house.kill("supervisor")
        self.assertEqual(self.tell({"confidence": 3}), {})
        self.assertTrue(house.json("verify", "script", "--state")["ok"])
        house.down()
        house.up()
        self.registered("script", "typed.note")
        self.assertEqual(set(self.tell({"confidence": 2})), {"typed.note", "plain.note"})
        house.down()
        self.configure(self.plain)
        house.up()
        self.assertEqual(self.tell({"confidence": 4}), {})
        self.assertEqual(len(house.log_of("script", "pack.disabled")), 3)
        house.down()

    def test_what_a_disabled_pack_had_in_hand_is_declined_and_what_was_due_is_not_run(self):
        house = self.house
        slow = "ag.behavior {{ name = \"slow\", on = {{ \"note.due\" }}, priority = 9, function () while true do end end }}\n"
        fork = house.json("fork", "script", "--pack", write(os.path.join(house.dir, "slow"), "slow", lua=slow))["run_id"]
        house.cli("start", fork)
        self.registered(fork, "slow")
        first = house.tell(fork, "note.due", type="free", data={})
        house.tell(fork, "note.due", type="free", data={})
        until("that it runs", lambda: [e for e in house.log_of(fork, "behavior.started")
                                       if e["payload"]["behavior"] == "slow"])
        house.cli("pack", "disable", fork, "slow")
        house.idle(fork)
        events = [e for e in house.log_of(fork) if e["seq"] > first]
        ended = [(e["type"], e["payload"]["behavior"]) for e in events
                 if e["type"] in ("behavior.completed", "behavior.failed", "behavior.declined")]
        self.assertEqual(ended, [("behavior.declined", "slow")] + 2 * [
            ("behavior.completed", "typed.note"), ("behavior.completed", "plain.note")])
        house.down()

    def test_what_is_told_after_a_load_and_a_wait_is_the_pack_s_too(self):
        house = self.house
        self.registered("script", "typed.note")
        slow = "for i = 1, 2e7 do end\n" + MAIN
        house.cli("pack", "load", "script", write(os.path.join(house.dir, "slow"), "slow", lua=slow))
        house.cli("wait", "script", "--idle")
        self.assertIn("slow.note", str(house.log_of("script", "worker.registered")[-1]))
        house.down()

    def test_a_wait_behind_a_load_is_for_the_worker_that_comes_not_for_the_one_that_goes(self):
        house = self.house
        self.registered("script", "typed.note")
        files = [{"path": "manifest.toml", "bytes": MANIFEST.format(name="late", version="1", types="").encode()},
                 {"path": "main.lua", "bytes": MAIN.format(name="late").encode()}]
        house.client.send("pack_load", id="load", run="script", packs=[{"files": files}])
        house.idle("script")
        self.assertIn("late.note", str(house.log_of("script", "worker.registered")[-1]))
        house.down()

    def test_a_run_has_64_packs_at_most(self):
        house = self.house

        def packs(first, count):
            manifest = [MANIFEST.format(name=f"p{n}", version="1", types="").encode() for n in range(first, first + count)]
            return [{"name": "p", "files": [{"path": "manifest.toml", "bytes": text},
                                            {"path": "main.lua", "bytes": b"--\n"}]} for text in manifest]
        for brought, fits in ((5000, False), (65, False), (63, False), (62, True)):
            begin = time.monotonic()
            try:
                house.ask("fork", point="script", packs=packs(0, brought), no_start=True)
                self.assertTrue(fits, brought)
            except Refused as refused:
                self.assertEqual((fits, refused.code), (False, "pack"))
            self.assertLess(time.monotonic() - begin, 10)
        house.down()

    def test_what_many_forks_bring_at_once_is_bounded(self):
        files = [{"path": "manifest.toml", "bytes": MANIFEST.format(name="wide", version="1", types="").encode()},
                 {"path": "main.lua", "bytes": b"--\n"}]
        files += [{"path": f"{n}.txt", "bytes": b"x" * 60000} for n in range(10)]
        with self.assertRaises(Refused) as refused:
            self.house.ask("fork", point="script", packs=[{"name": "wide", "files": files}], count=200, no_start=True)
        self.assertEqual(refused.exception.code, "too_large")
        made = self.house.ask("fork", point="script", packs=[{"name": "wide", "files": files}], count=20, no_start=True)
        self.assertEqual(len(made["forks"]), 20)
        self.house.down()

    def no_up(self, why):
        done = self.house.cli("-c", self.house.config, "up", check=False)
        self.assertEqual(done.returncode, 78, done.stderr)
        self.assertIn(why, done.stderr)

    def mismatches(self):
        return [e["payload"] for e in self.house.log_of("script", "pack.mismatched")]

    def test_m_57_a_pack_at_odds_with_its_manifest_works_and_is_told_of_once(self):
        house = self.house
        odd = "[surface]\nbehaviors = [\"ghost\"]\n"
        lines = ["behavior `ghost` is declared and not found", "behavior `odd.note` is found and not declared"]
        self.assertEqual(self.mismatches(), [])
        house.cli("pack", "load", "script", write(os.path.join(house.dir, "odd"), "odd", types=odd))
        self.registered("script", "odd.note")
        told, = self.mismatches()
        self.assertEqual((told["name"], told["version"], told["mismatches"]), ("odd", "1", lines))
        self.assertIn("the manifest of pack odd 1 is not what it does: " + lines[0], house.unit("script")["remark"])
        self.assertIn("odd 1 is not what it does", house.cli("doctor", check=False).stdout)
        self.tell({"text": "x"})
        self.assertEqual(len(house.objects("script")), 3)  # of all three packs
        house.kill("supervisor")
        self.assertEqual(self.tell({"text": "y"}), {})
        house.cli("restart", "script")
        until("the remark again", lambda: house.unit("script")["remark"])
        self.assertEqual(len(self.mismatches()), 1)
        even = "[surface]\nbehaviors = [\"odd.note\"]\n"
        house.cli("pack", "load", "script", write(os.path.join(house.dir, "odd"), "odd", "2", types=even))
        until("no remark", lambda: not house.unit("script")["remark"])
        self.assertEqual(len(self.mismatches()), 1)
        self.assertEqual(house.cli("failures", "script").returncode, 0)
        house.down()

    def test_what_a_pack_needs_is_there_before_any_code_runs(self):
        house = self.house
        needs = "[dependencies.packs]\ntyped = \">=2\"\nnobody = \"==1\"\n"
        needy = write(os.path.join(house.dir, "needy"), "needy", types=needs, lua="error (\"it ran\")\n")
        self.registered("script", "typed.note")
        before = house.log_of("script")
        for words in (("pack", "load", "script", needy), ("fork", "script", "--pack", needy)):
            done = house.cli(*words, check=False)
            self.assertEqual(done.returncode, 2)
            self.assertIn("pack needy needs typed >=2, and there is 1; pack needy needs nobody ==1, and it is not there",
                          done.stderr)
        self.assertEqual(house.log_of("script"), before)
        house.down()
        self.configure(self.typed, self.plain, needy)
        self.assertEqual(house.cli("-c", house.config, "check", check=False).returncode, 78)
        self.no_up("pack needy needs typed >=2, and there is 1")

    def test_a_pin_of_the_configuration_is_the_bundle_hash(self):
        house = self.house
        house.down()
        pin = house.json("pack", "hash", self.plain)["bundle_hash"]
        agents = {"script": {"packs": [self.typed, self.plain], "pins": {"plain": pin}}, "program": agent("on.a")}
        house.configure(agents)
        house.up()
        house.down()
        with open(os.path.join(self.plain, "manifest.toml"), "a", encoding="utf-8") as file:
            file.write("# no more than this\n")
        self.no_up("bundle hash mismatch: pack plain is ")

    def test_m_55_what_runs_is_what_was_pinned_whoever_swaps_files_meanwhile(self):
        house = self.house
        folder, end = os.path.join(house.dir, "racer"), threading.Event()
        write(folder, "racer", lua=RACER.replace("WORD", "one"))
        pin = house.json("pack", "hash", folder)["bundle_hash"]

        def swap():
            while not end.is_set():
                for word in ("another", "one"):
                    path = os.path.join(folder, ".new")
                    with open(path, "w", encoding="utf-8") as file:
                        file.write(RACER.replace("WORD", word).format())
                    os.replace(path, os.path.join(folder, "main.lua"))
        racer = threading.Thread(target=swap)
        racer.start()
        refused = loaded = 0
        try:
            for _ in range(60):
                done = house.cli("pack", "load", "script", folder, "--pin", pin, check=False)
                if done.returncode:
                    self.assertRegex(done.stderr, "bundle hash mismatch|it changed while|cannot be opened")
                    refused += 1
                    continue
                loaded += 1
                self.registered("script", "race")
                house.tell("script", "race.due")
                house.idle("script")
                house.cli("pack", "disable", "script", "racer")
                if refused and loaded > 2:
                    break
        finally:
            end.set()
            racer.join()
        self.assertTrue(refused and loaded)
        words = [one["word"] for one in house.objects("script", "ran").values()]
        self.assertEqual(words, ["one"] * loaded)
        house.down()

    def test_an_agent_s_source_is_refused_before_it_runs_wherever_it_comes_in(self):
        house, lua = self.house, MAIN + "count = io.open\n"
        by = "[pack.provenance]\nauthored_by = \"{}\""
        written = write(os.path.join(house.dir, "written"), "written", types=by.format("agent"), lua=lua)
        for words in (("pack", "load", "script", written), ("fork", "script", "--pack", written)):
            done = house.cli(*words, check=False)
            self.assertEqual(done.returncode, 2)
            self.assertIn("main.lua:4:1: assign: count", done.stderr)
            self.assertIn("and 1 more; `agsup pack check` lists them", done.stderr)
        done = house.cli("pack", "check", written, "--json", check=False)
        told = [line for line in json.loads(done.stdout)["problems"] if line.startswith("main.lua:")]
        self.assertEqual([line.split(" (")[0] for line in told], ["main.lua:4:1: assign: count", "main.lua:4:9: absent: io"])
        loaded = [e["payload"]["name"] for e in house.log_of("script", "pack.loaded")]
        self.assertEqual(loaded, ["typed", "plain"])
        house.cli("pack", "load", "script", write(written, "written", types=by.format("agent")))
        self.registered("script", "written.note")
        house.down()
        write(written, "written", types=by.format("agent"), lua=lua)
        self.configure(written)
        house.start(house.token_or_none())
        until("that it is said", lambda: "main.lua:4:1: assign: count" in house.said())

    def in_force(self, run, pack):
        """The settings of a pack that a run's process was started with, asked of the pack itself."""
        self.house.idle(run)  # it has registered
        seen = self.house.tell(run, "say.due", pack=pack)
        self.house.idle(run)
        said, = [e["payload"] for e in self.house.log_of(run, "said") if e["seq"] > seen]
        return said

    def test_what_was_set_stays_set_when_a_changed_pack_is_loaded(self):
        house = self.house
        house.down()
        greet = speaker(house, "one", 'greeting = "default"\nloud = 1\nold = 1\n')
        house.configure({"script": {"packs": [greet], "settings": {"hello": {"greeting": "A", "old": 2}}}})
        house.up()
        self.registered("script", "hello.say")
        house.cli("fork", "script", "--label", "f", "--set", "hello.greeting=F")
        speaker(house, "two", 'greeting = "default"\nloud = 2\nold = "text"\n')
        house.cli("fork", "f", "--label", "late", "--pack", greet, "--set", "hello.loud=3")
        for run, greeting in (("script", "A"), ("f", "F")):
            done = house.cli("pack", "load", run, greet)
            self.assertIn("What was set is not kept: setting old of pack hello is 2", done.stderr)
            self.assertEqual(run == "script", f"The next `agsup up` loads the packs that agsup.toml names, as they are then: {greet}" in done.stderr)
            self.assertEqual(house.log_of(run, "pack.loaded")[-1]["payload"]["settings"],
                             {"greeting": greeting, "loud": 2, "old": "text"})
            self.assertEqual(self.in_force(run, "hello"), {"word": "two", "greeting": greeting, "loud": 2})
        self.assertEqual(self.in_force("late", "hello"), {"word": "two", "greeting": "F", "loud": 3})
        speaker(house, "three", 'loud = 5\n')
        done = house.cli("pack", "load", "f", greet)
        self.assertIn("pack hello has no setting greeting: its settings.toml declares loud", done.stderr)
        self.assertEqual(house.json("pack", "load", "script", greet)["not_kept"],
                         ["pack hello has no setting greeting: its settings.toml declares loud"])
        house.down()

    def test_a_setting_that_the_configuration_changes_is_told_and_holds_from_there_on(self):
        house = self.house
        house.down()
        greet = speaker(house, "one", 'greeting = "default"\nloud = 1\n')
        for greeting in ("A", "B", "B"):
            house.configure({"script": {"packs": [greet, self.plain], "settings": {"hello": {"greeting": greeting}}}})
            house.up()
            self.registered("script", "hello.say")
            self.assertEqual(self.in_force("script", "hello"), {"word": "one", "greeting": greeting, "loud": 1})
            house.down()
        house.up()
        told, = house.log_of("script", "pack.settings_overridden")
        self.assertEqual(told["payload"], {"pack": "hello", "overrides": {"greeting": "B"}, "assignments": ['hello.greeting="B"'],
                                           "was": {"greeting": "A"}, "cause": "configuration"})
        done = house.cli("replay", "script", "--strict", check=False)
        self.assertEqual(done.returncode, 5)
        self.assertIn(f"Since then evt_{told['seq']:03} (pack.settings_overridden) has changed what is in force", done.stdout)
        for label, seq, greeting in (("before", told["seq"] - 1, "A"), ("after", told["seq"], "B")):
            house.cli("fork", f"script@evt_{seq:03}", "--label", label)
            self.assertEqual(self.in_force(label, "hello")["greeting"], greeting)
        house.cli("fork", "script", "--label", "set", "--set", "hello.loud=2")
        self.assertEqual(house.log_of("set", "pack.settings_overridden")[-1]["payload"],
                         {"pack": "hello", "overrides": {"loud": 2}, "assignments": ["hello.loud=2"], "was": {"loud": 1}, "cause": "fork"})
        house.down()

    def test_what_could_never_load_is_refused_and_the_old_pack_stays(self):
        house = self.house
        house.down()
        greet = speaker(house, "one", 'greeting = "A"\nloud = 1\n')
        house.configure({"script": {"packs": [greet]}})
        house.up()
        self.registered("script", "hello.say")
        for name, source in (("part", "return return\n"), ("main", "this is no Lua\n")):
            write(greet, "hello", lua="local part = require 'part'\n")
            with open(os.path.join(greet, f"{name}.lua"), "w", encoding="utf-8") as file:
                file.write(source)
            for words in (("pack", "load", "script", greet), ("fork", "script", "--pack", greet)):
                done = house.cli(*words, check=False)
                self.assertEqual(done.returncode, 2)
                self.assertRegex(done.stderr, name + r"\.lua:1:\d+: syntax: ")
        self.assertEqual(self.in_force("script", "hello")["word"], "one")
        house.down()
        for words in (("check",), ("up", "-d")):
            done = house.cli("-c", house.config, *words, check=False)
            self.assertEqual(done.returncode, 78)
            self.assertIn("main.lua:1:6: syntax: ", done.stdout + done.stderr)

    def test_a_start_says_which_packs_have_changed_since_they_were_loaded(self):
        house = self.house
        house.down()
        greet = speaker(house, "one", "")
        house.configure({"script": {"packs": [greet, self.plain]}})
        house.up()
        self.assertNotIn("pack load", house.cli("start", "script").stderr)
        speaker(house, "two", "")
        for order in ("start", "restart"):
            self.assertIn(f"`agsup pack load script {greet}`", house.cli(order, "script").stderr)
            self.assertEqual(house.json(order, house.log_of("script")[0].get("run_id", "script")).get("changed"), [greet])
        house.cli("pack", "load", "script", greet)
        self.assertNotIn("pack load", house.cli("start", "script").stderr)
        house.down()

    def test_a_type_is_declared_by_one_pack(self):
        house = self.house
        other = write(os.path.join(house.dir, "other"), "other", types=INSIGHT.format(most=1))
        done = house.cli("fork", "script", "--pack", other, check=False)
        self.assertIn("object type `insight` is declared by pack other and by pack typed", done.stderr)
        with self.assertRaises(Refused):
            house.ask("packs", run="nobody")
        house.down()


class Guide(unittest.TestCase):
    """docs/guides/packs.md, as a reader would do it."""

    def test_the_steps_of_the_guide_lead_to_a_pinned_pack(self):
        with open(os.path.join(HERE, "../../docs/guides/packs.md"), encoding="utf-8") as page:
            steps = "".join(re.findall(r"```sh\n(.*?)```", page.read(), re.S))
        with tempfile.TemporaryDirectory(prefix="agsup-guide-") as folder:
            env = {**os.environ, "PATH": f"{os.path.abspath(BIN)}:{os.environ['PATH']}", "EDITOR": "true"}
            try:
                done = subprocess.run(["bash", "-e", "-c", steps], cwd=folder, env=env, text=True, stdout=subprocess.PIPE,
                                      stderr=subprocess.STDOUT, timeout=120, check=False)
            finally:
                subprocess.run([f"{os.path.abspath(BIN)}/agsup", "--home", f"{folder}/hello/.agsup", "down"], check=False, timeout=60,
                               stderr=subprocess.DEVNULL)
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertEqual(done.stdout.count("completed  r"), 2, done.stdout)
        self.assertIn('notes_greeting#3 notes_greeting       1 {"goal":"Say it again"', done.stdout)


if __name__ == "__main__":
    main()
