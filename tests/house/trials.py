"""trials - candidates of trials, and a house to try them in.
SPDX-License-Identifier: Apache-2.0
"""
import hashlib
import json
import os
import shutil
import subprocess
import unittest

from house import House, agent, until

MANIFEST = """[pack]
name = "{name}"
version = "0.1.0"
description = "A candidate of a test"
[pack.provenance]
authored_by = "agent"
[pack.integrity]
content_hash = "{content}"
[dependencies]
activegraph = ">=1.4"
[surface]
object_types = []
relation_types = []
behaviors = [{behaviors}]
tools = []
[fixtures]
entrypoint = "{entry}"
deterministic = true
{more}
"""
LUA = """ag.behavior {{ name = "{name}.work", on = {{ "work.due" }}, function (event, graph, ctx)
{body}
end }}
"""
#  A candidate that is a program: what it does stands in load.py (before it says hello) and in its events.
PROGRAM = """#!/usr/bin/python3
import os, sys, time, signal, subprocess, msgpack, zmq
here = os.path.dirname (os.path.abspath (__file__))
sock = zmq.Context().socket(zmq.REQ)
sock.linger = 0
sock.connect(os.environ["AGSUP_WORKER"])
def ask(do, **fields):
    sock.send(msgpack.packb({"do": do, **fields}))
    answer = msgpack.unpackb(sock.recv())
    if answer["do"] == "error":
        raise SystemExit(answer["message"])
    return answer
exec(open(here + "/load.py").read())
ask("hello", protocol=1, nonce=os.environ["AGSUP_NONCE"], name="candidate",
    behaviors=[{"name": "demo.work", "on": ["work.due"]}])
while (job := ask("next"))["do"] == "invoke":
    ops = []
    exec(job["event"]["payload"].get("code", ""))
    ask("done", ops=ops)
exec(open(here + "/end.py").read())
"""
MADE = [{"op": "emit", "type": "work.due", "payload": {}}]
COMPILER = "/usr/bin/cc"


def bundle_hash(files, content):
    """As the reference has it; of the content: without the root's manifest."""
    sha = hashlib.sha256()
    for path in sorted(files, key=lambda path: path.encode()):
        if content and path == "manifest.toml":
            continue
        sha.update(path.encode() + b"\0" + len(files[path]).to_bytes(8, "big") + files[path])
    return "sha256:" + sha.hexdigest()


class Pack:
    """A folder with a pack in it; its pin is of what it was made of."""

    def __init__(self, folder, files, name="demo", behaviors=("demo.work",), content=None, more=""):
        self.dir = folder
        shutil.rmtree(folder, ignore_errors=True)
        files = {path: text.encode() if isinstance(text, str) else text for path, text in files.items()}
        files["manifest.toml"] = MANIFEST.format(
            name=name, content=content or bundle_hash(files, True), entry=next(iter(files)), more=more,
            behaviors=", ".join(map(json.dumps, behaviors))).encode()
        for path, text in files.items():
            os.makedirs(os.path.dirname(os.path.join(folder, path)), exist_ok=True)
            with open(os.path.join(folder, path), "wb") as file:
                file.write(text)
        self.pin = bundle_hash(files, False)

    def read(self, path):
        with open(os.path.join(self.dir, path), encoding="utf-8") as file:
            return file.read()

    def write(self, path, text, mode="w"):
        with open(os.path.join(self.dir, path), mode, encoding="utf-8") as file:
            file.write(text)


class TrialCase(unittest.TestCase):
    """One house; a run whose own pack would react too, if it were in force in a trial."""

    @classmethod
    def setUpClass(cls):
        os.environ["FOO_API_KEY"] = "not for the candidate"
        cls.house = house = House()
        cls.addClassCleanup(house.close)
        base = Pack(os.path.join(house.dir, "base"), {"main.lua": LUA.format(
            name="base", body='graph.add_object ("note", { by = "base" })')}, name="base", behaviors=["base.work"])
        house.configure({"base": {"packs": [base.dir], "goal": "Look at it",
                                  "env": {"GRANTED": "x"}, "nets": {"memory": "64MiB", "wall": "10s"}},
                         "asks": agent({"name": "work", "on": ["on.work"]})})
        house.up()
        house.idle("base")

    def setUp(self):
        self.before = self.house.log_of("base")
        self.private = self.folders()

    def folders(self):
        """Private ones of living processes: a house of root has them in its folder of sockets."""
        places = f"{self.house.home}/run/w", f"/run/agsup/{self.house.home_id.decode()}/w"
        return {name for place in places if os.path.isdir(place) for name in os.listdir(place)}

    def tearDown(self):
        """97: the parent's log has a report for each trial and nothing else; 3.7: nothing of a trial is left."""
        after = self.house.log_of("base")
        self.assertEqual(after[:len(self.before)], self.before)
        self.assertEqual({e["type"] for e in after[len(self.before):]} - {"trial.finished"}, set())
        self.assertEqual(self.house.ask("status")["forks"], [])
        until("no folder of a trial is left", lambda: not self.folders() - self.private)
        names = [name for name in os.listdir(f"{self.house.home}/log") if not name.startswith("base")]
        self.assertEqual([name for name in names if name.startswith("r")], [])

    def lua(self, body="", text=None, **keys):
        """A script pack whose one behaviour has this body."""
        text = LUA.format(name="demo", body=body) if text is None else text
        return Pack(os.path.join(self.house.dir, "candidate"), {"main.lua": text}, **keys)

    def program(self, load="", end="", **keys):
        if os.geteuid() != 0:
            self.skipTest("a program is only tried with a uid of its own, in a house of root")
        return Pack(os.path.join(self.house.dir, "candidate"),
                    {"run.py": PROGRAM, "load.py": load, "end.py": end}, **keys)

    def compiled(self, name, source, *flags):
        """Where a program or a library of C stands."""
        if os.geteuid() != 0 or not os.path.exists(COMPILER):
            self.skipTest("needs root and a C compiler")
        where = os.path.join(self.house.dir, "compiled", name)
        os.makedirs(os.path.dirname(where), exist_ok=True)
        subprocess.run([COMPILER, "-w", "-O1", "-x", "c", "-", "-o", where, *flags], input=source, text=True, check=True)
        return where

    def native(self, source, *flags, **beside):
        """A program in C that is run as it is; beside: files that lie in the same folder."""
        where = self.compiled("run", "#include <signal.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n"
                              "#include <unistd.h>\nint main (void)\n{\n" + source + "\nreturn 0;\n}\n", *flags)
        files = {"bin/run": where, **beside}
        for path, place in files.items():
            with open(place, "rb") as file:
                files[path] = file.read()
        return Pack(os.path.join(self.house.dir, "candidate"), files)

    def words(self, pack, *words, pin=None, scenario=MADE, run="base"):
        made = ["trial", run, "--pack", pack.dir, "--pin", pin or pack.pin, *words]
        if scenario is not None:
            path = os.path.join(self.house.dir, "scenario")
            with open(path, "w", encoding="utf-8") as file:
                file.writelines(json.dumps(step) + "\n" for step in scenario)
            made += ["--scenario", path]
        return made

    def trial(self, pack, *words, outcome="completed", **keys):
        """Its report, which has to be of that outcome, with the exit status that goes with it."""
        done = self.house.cli("--json", *self.words(pack, *words, **keys), check=False)
        report = json.loads(done.stdout)
        self.assertEqual(report.get("outcome"), outcome, report)
        self.assertEqual(done.returncode, {"completed": 0, "limits_exceeded": 7}.get(outcome, 1))
        told = self.house.log_of(keys.get("run", "base"), "trial.finished")[-1]["payload"]
        self.assertEqual(told, report)
        self.assertEqual(report["net"] is not None, outcome == "limits_exceeded")
        self.assertEqual(report["stderr_tail"] is not None and outcome == "completed", False)
        return report

    def run_program(self, pack, *words, **keys):
        return self.trial(pack, "--program", "run.py", *words, **keys)

    def code(self, text):
        return [{"op": "emit", "type": "work.due", "payload": {"code": text}}]

    def own(self, report, *kinds):
        """Events of the trial itself."""
        seq = self.house.ask("tree")["runs"]
        cut = next(run["forked_at_event"] for run in seq if run["run"] == report["fork_run_id"])
        return [e for e in self.house.log_of(report["fork_run_id"], *kinds) if e["seq"] > int(cut[4:])]

    def count(self):
        return len(self.house.ask("tree", all=True)["runs"])
