"""Nets and layers: what holds is reported as it is, what is required and cannot be had stops the start, and who tries gets
nowhere, with each wall off in turn.
SPDX-License-Identifier: Apache-2.0
"""
import contextlib
import ctypes
import errno
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

from house import BIN, HERE, House, agent, is_alive, main, until

WORK = {"name": "work", "on": ["on.work"]}
TRIES = os.path.join(BIN, "../tests/attempts")
SPACES = ("pidns", "netns", "ipcns", "mountns")
EVERY = {"uid": "try", "seccomp": "standard", "landlock": "try", "cgroup": "try", **dict.fromkeys(SPACES, "try")}
SCRIPT = "ag.behavior { name = 'work', on = { 'on.work' }, function (event, graph, ctx) %s end }\n"


def pack(house, name, body="graph.emit ('done', {})"):
    """A folder with a script pack; its path."""
    folder = os.path.join(house.dir, name)
    os.mkdir(folder)
    for file, text in (("manifest.toml", f'[pack]\nname = "{name}"\nversion = "1"\ndescription = "x"\n'),
                       ("main.lua", SCRIPT % body)):
        with open(os.path.join(folder, file), "w", encoding="utf-8") as out:
            out.write(text)
    os.chmod(folder, 0o755)
    return folder


def rows(unit, kind):
    """{name: row} of its nets or layers."""
    return {row["name"]: row for row in unit[kind]}


def ran_of(house, name):
    """What the programs came to that an agent ran, in that order."""
    found = sorted(house.objects(name, "ran").items(), key=lambda item: int(item[0].split("#")[1]))
    return [data["status"] for _, data in found]


def kernel(pid):
    """What the kernel says of a process, beside what is said of it; None: an ordinary user is not told."""
    with open(f"/proc/{pid}/status", encoding="utf-8") as file:
        status = dict(line.split(":\t", 1) for line in file.read().splitlines() if ":\t" in line)

    def differs(name):
        try:
            return os.readlink(f"/proc/{pid}/ns/{name}") != os.readlink(f"/proc/self/ns/{name}")
        except PermissionError:
            return None
    own = {name: differs(kind) for name, kind in
           (("pidns", "pid"), ("netns", "net"), ("ipcns", "ipc"), ("mountns", "mnt"))}
    return {**own, "uid": int(status["Uid"].split()[0]), "seccomp": status["Seccomp"] == "2",
            "no_new_privs": status["NoNewPrivs"] == "1"}


def landlock():
    """The kernel's version of Landlock."""
    return ctypes.CDLL(None).syscall(444, None, 0, 1)


class Tests(unittest.TestCase):
    """A house under a condition."""

    def house(self, condition="", agents=None, **keys):
        house = House({}, **keys)
        self.addCleanup(house.close)
        if condition:
            house.prefix = ["/usr/bin/python3", os.path.join(HERE, "condition.py"), *condition.split(), "--"]
        if "user" in condition:
            if os.geteuid() == 0:
                os.chown(house.dir, 65534, 65534)
            probe = subprocess.run([*house.prefix, "/usr/bin/test", "-x", f"{BIN}/agsup"], check=False)
            if probe.returncode:
                self.skipTest(f"an ordinary user cannot reach {BIN}")
        for name, keys_of in (agents or {}).items():
            if "packs" in keys_of:
                keys_of["packs"] = [pack(house, name)]
        house.configure(agents or {})
        return house

    def work(self, house, name, *steps):
        """Let it work and be idle again; its row of status."""
        house.tell(name, "on.work", **({"steps": list(steps)} if steps else {}))
        house.idle(name)
        return house.unit(name)


class Conditions(Tests):
    """Four machines: doctor, status and the kernel say the same of each."""

    def check(self, condition, kept, lost):
        user = "user" in condition or os.geteuid() != 0
        house = self.house(condition, {
            "program": agent(WORK, layers=EVERY, isolation="none"),
            "script": {"packs": [], "layers": EVERY}})
        doctor = {c["name"]: c for c in json.loads(house.cli("--json", "doctor", check=False).stdout)["checks"]}
        for name in kept + lost:
            self.assertEqual(doctor[f"layer {name}"]["ok"], name in kept, doctor[f"layer {name}"])
        house.up()
        done = house.cli("-c", house.config, "--json", "doctor", check=False)
        said = json.loads(done.stdout)
        well = all(row["ok"] for row in said["checks"])
        self.assertEqual((done.returncode, said["ok"]), (0 if well else 1, well), said)
        for name in ("program", "script"):
            unit = self.work(house, name)
            layers, facts = rows(unit, "layers"), kernel(unit["pid"])
            sanitized = layers["landlock"]["reason"] == "sanitizer build"
            for layer in SPACES:
                self.assertEqual(layers[layer]["in_force"], layer in kept, (name, layers[layer]))
                if facts[layer] is not None or layer in kept or not os.geteuid():
                    self.assertEqual(facts[layer], layer in kept, (name, layer))
            self.assertTrue(facts["no_new_privs"])
            self.assertEqual(layers["uid"]["in_force"], not user)
            self.assertEqual(facts["uid"] in range(62000, 63000), not user)
            if not sanitized:
                self.assertEqual((layers["seccomp"]["in_force"], facts["seccomp"]), (True, True), name)
                self.assertEqual(layers["landlock"]["in_force"], "landlock" in kept, layers["landlock"])
                if "landlock" in kept:  # what an older version leaves open: common/landlock_test.c
                    self.assertRegex(layers["landlock"]["reason"], rf"^abi {landlock()}\b")
            for layer in layers.values():
                self.assertTrue(layer["in_force"] or layer["reason"], layer)
            floor = not user or "mountns" in kept or (name == "script" and not sanitized)
            self.assertEqual(layers["floor"]["in_force"], floor, layers["floor"])
        said = house.cli("status").stdout
        for layer in lost:
            self.assertIn(f"no {layer} (", said)
        house.down()

    def test_root(self):
        if os.geteuid():
            self.skipTest("needs root")
        self.check("", ["uid", "seccomp", "landlock", *SPACES], [])

    def test_an_ordinary_user(self):
        self.check("user", ["seccomp", "landlock", *SPACES], ["uid"])

    def test_an_ordinary_user_without_user_namespaces(self):
        self.check("user nouserns", ["seccomp", "landlock"], ["uid", *SPACES])

    def test_a_kernel_without_landlock(self):
        if os.geteuid():
            self.skipTest("needs root")
        self.check("nolandlock", ["uid", "seccomp", *SPACES], ["landlock"])


class Required(Tests):
    """Without what it requires a worker does not start."""

    def check(self, condition, layers, reason, script=True, **keys):
        lacks = {"program": agent(WORK, layers=layers, isolation="none", **keys)}
        if script:
            lacks["script"] = {"packs": [], "layers": layers}
        house = self.house(condition, {**lacks, "plain": agent(WORK, isolation="none")})
        house.up()
        for name in lacks:
            unit = until(f"{name} failed", lambda n=name: (u := house.unit(n))["state"] == "failed" and u)
            self.assertIn(reason, unit["reason"])
            self.assertIsNone(unit["pid"])
            gave_up = [e for e in house.log_of("fleet", "agent.gave_up") if e["payload"]["name"] == name]
            self.assertIn(reason, gave_up[0]["payload"]["reason"])
            self.assertEqual(house.log_of(name, "worker.registered"), [])
        self.work(house, "plain")
        self.assertEqual(house.unit("plain")["state"], "ready")
        house.down()

    def test_landlock(self):
        reason = "landlock: " + os.strerror(errno.ENOSYS)
        self.check("nolandlock", {"landlock": "require"}, reason, script=False)

    def test_landlock_of_a_script_host(self):
        house = self.house("nolandlock", {"script": {"packs": [], "layers": {"landlock": "require"}}})
        house.up()
        unit = until("its end", lambda: (u := house.unit("script"))["state"] == "failed" and u)
        self.assertRegex(unit["reason"], f"script requires landlock: ({os.strerror(errno.ENOSYS)}|sanitizer build)")
        house.down()

    def test_namespaces(self):
        for space in SPACES:
            with self.subTest(space):
                self.check("user nouserns", {space: "require"}, "namespaces: Operation not permitted")

    def test_a_uid(self):
        self.check("user", {"uid": "require"}, "requires a uid of its own")

    def test_a_count_of_processes_for_user_0(self):
        if os.geteuid():
            self.skipTest("needs root")
        layers = {"uid": "off", "cgroup": "off"}
        self.check("", layers, "requires a net", script=False, nets={"processes": 8, "require": ["processes"]})

    def test_a_floor_is_a_file_system_and_a_process_table_of_its_own(self):
        keys = agent(WORK, layers={"mountns": "require", "pidns": "require"})
        keys.pop("isolation", None)
        bare = agent(WORK)
        bare.pop("isolation", None)
        house = self.house("user", {"walled": keys, "bare": bare})
        house.up()
        self.assertEqual(rows(self.work(house, "walled"), "layers")["floor"]["reason"], "by mountns and pidns")
        self.assertIn("would run as you", until("its end", lambda: house.unit("bare")["reason"]))
        house.down()


class Profiles(Tests):
    """The profiles that ship: each is valid, and means what it says."""

    PLACE = os.path.join(HERE, "../../conf/profiles")

    def report(self, profile):
        """{name: row} of all nets and layers of a program under a profile; None: under no word of configuration."""
        house = self.house("", {"actor": agent(WORK, isolation="none")})
        if profile:
            shutil.copy(os.path.join(self.PLACE, f"{profile}.toml"), house.dir)
            self.assertEqual(house.cli("-c", os.path.join(self.PLACE, f"{profile}.toml"), "check").returncode, 0)
            house.config = house.dir
        house.up()
        unit = self.work(house, "actor")
        house.down()
        return {**rows(unit, "nets"), **rows(unit, "layers")}

    def test_strict_has_every_wall(self):
        if "sanitizer build" in subprocess.run([f"{BIN}/agsupd", "--probe"], capture_output=True, text=True, check=True).stdout:
            self.skipTest("a sanitizer build cannot have them all")
        report = self.report("strict")
        missing = {name for name, row in report.items() if not row["in_force"]}
        self.assertLessEqual(missing, {"uid", "cgroup", "directory"}, report)
        self.assertEqual(report["seccomp"]["asked"], "strict")

    def test_standard_is_what_holds_without_a_word(self):
        self.assertEqual(self.report("standard"), self.report(None))

    def test_open_says_that_it_can_act_as_you(self):
        report = self.report("open")
        self.assertEqual(report["floor"]["reason"], "it can act as you")
        self.assertFalse(report["network"]["in_force"])
        self.assertTrue(report["no_new_privs"]["in_force"])


class Probe(unittest.TestCase):
    """What `doctor` says where nothing can be tried."""

    def test_walls_that_cannot_be_tried_are_not_well(self):
        with tempfile.TemporaryDirectory(prefix="agh-alone-") as folder:
            for name in ("agsup", "agsup-client.so"):
                shutil.copy(f"{BIN}/{name}", folder)
            done = subprocess.run([f"{folder}/agsup", "--home", f"{folder}/home", "--json", "doctor"], check=False,
                                  capture_output=True, text=True, env={**os.environ, "PATH": "/usr/bin"}, timeout=60)
        checks = {check["name"]: check for check in json.loads(done.stdout)["checks"]}
        self.assertEqual((done.returncode, checks["probe"]["ok"]), (1, False))
        self.assertEqual([name for name in checks if name.startswith(("net ", "layer "))], [])


#  What a candidate tries, and the walls of which each alone keeps it away.
OUT = {
    "reads the token": ("reads", "{home}/run/token", ("uid", "landlock", "mountns")),
    "reads the token by magic links and upwards": ("climbs", "{home}/run/token", ("uid", "landlock", "mountns")),
    "reads the token below the supervisor's root": (
        "reads", "/proc/{supervisor}/root{home}/run/token", ("uid", "landlock", "mountns")),
    "reaches the client socket": ("connects", "{home}/run/client.sock", ("uid", "mountns")),
    "makes a file outside": ("makes", "{outside}/made", ("uid", "landlock", "mountns")),
    "reads what the supervisor was started with": ("reads", "/proc/{supervisor}/environ", ("uid", "landlock", "mountns")),
    "signals the supervisor": ("signals", "{supervisor}", ("uid", "landlock", "pidns")),
    "signals the nursery": ("signals", "{nursery}", ("uid", "landlock", "pidns")),
    "signals another worker": ("signals", "{sibling}", ("uid", "landlock", "pidns")),
    "traces the supervisor": ("traces", "{supervisor}", ("uid", "seccomp", "landlock", "pidns")),
    "reads the supervisor's memory": ("peeks", "{supervisor}", ("uid", "seccomp", "landlock", "pidns")),
    "takes a descriptor of the supervisor": ("steals", "{supervisor}", ("uid", "seccomp", "landlock", "pidns")),
    "reaches a port": ("dials", "{port}", ("seccomp", "netns")),
    "reaches a port as a program that is no file": ("embodies", "{port}", ("seccomp", "netns")),
    "makes a socket by code that it wrote": ("codes", "b829000000bf02000000be0100000031d20f05c3", ("seccomp",)),
    "calls by int 0x80, by code that it wrote": ("codes", "b814000000cd80c3", ("seccomp",)),
    "sets the clock": ("clock", "", ("uid", "seccomp")),
    "attaches shared memory": ("attaches", "{segment}", ("uid", "ipcns")),
    "makes namespaces": ("unshares", "", ("seccomp",)),
    "sets up io_uring": ("rings", "", ("seccomp",)),
    "calls by x32": ("x32", "", ("seccomp",)),
    "takes a real-time priority": ("hurries", "", ("uid",)),
    "raises its limits": ("limits", "", ("uid",)),
    "holds a descriptor of the house": ("inherits", "", ("descriptors",)),
}
#  Of an ordinary user the home lies in the folder of its configuration, which landlock leaves to it; but the house's
#  processes let nobody look into them, and what only root may do nobody may.
USERS = {**OUT, **{attempt: (*OUT[attempt][:2], ("mountns",)) for attempt in (
    "reads the token", "reads the token by magic links and upwards")},
         **{attempt: (*OUT[attempt][:2], ("house",)) for attempt in (
             "reads the token below the supervisor's root", "sets the clock",
             "reads what the supervisor was started with", "traces the supervisor", "reads the supervisor's memory",
             "takes a descriptor of the supervisor", "takes a real-time priority", "raises its limits")}}
ALWAYS = ("descriptors", "house")
#  Comes to nothing without a wall too where the machine is so: no such table or call, or a root that may not.
NEVER = {"calls by x32": (errno.ENOSYS,), "calls by int 0x80, by code that it wrote": (errno.ENOSYS, -signal.SIGSEGV),
         "sets the clock": (errno.EPERM,), "sets up io_uring": (errno.ENOSYS, errno.EPERM),
         "raises its limits": (errno.EPERM,), "takes a real-time priority": (errno.EPERM,)}
if subprocess.run(["unshare", "--user", "true"], stderr=subprocess.DEVNULL, check=False).returncode:  # as in a chroot
    NEVER["makes namespaces"] = (errno.EPERM, errno.ENOSPC)
#  How the kernel says no; anything else is an attempt that was not made.
NO = (errno.EPERM, errno.EACCES, errno.ENOENT, errno.ESRCH, errno.ENOSYS, errno.EBADF, errno.ENETUNREACH, -signal.SIGSYS)


class Escapes(Tests):
    """Each attempt against all walls, against all but one, and against none: it is held by the next wall, or the report says
    that none is left."""

    def test_as_root(self):
        if os.geteuid():
            self.skipTest("needs root")
        self.escape("", ("uid", "seccomp", "landlock", *SPACES), OUT)

    def test_as_an_ordinary_user(self):
        self.escape("user", ("seccomp", "landlock", *SPACES), USERS)

    def escape(self, condition, walls, table):
        agents = {"all": agent(WORK, layers=EVERY, isolation="none"), "sibling": agent(WORK, isolation="none"),
                  "none": agent(WORK, layers={"uid": "off", **{wall: "off" for wall in walls}}, isolation="none")}
        for wall in walls:
            agents[f"no_{wall}"] = agent(WORK, layers={**EVERY, wall: "off"}, isolation="none")
        house = self.house(condition, agents)
        shutil.copy(TRIES, os.path.join(house.dir, "actor", "attempts"))
        house.up()
        outside = tempfile.mkdtemp(prefix="agh-outside-", dir="/tmp")
        self.addCleanup(shutil.rmtree, outside)
        os.chown(outside, os.stat(house.home).st_uid, -1)
        self.work(house, "sibling")
        known = {"home": house.home, "outside": outside, "supervisor": house.pid("supervisor"), "port": self.listen(),
                 "nursery": house.pid("agsupd"), "sibling": house.unit("sibling")["pid"], "segment": self.segment(house)}
        for name in (n for n in agents if n != "sibling"):
            steps = [["run", ["actor/attempts", word, argument.format(**known)]] for word, argument, _ in table.values()]
            unit = self.work(house, name, *steps)
            ran = ran_of(house, name)
            self.assertEqual(len(ran), len(table), house.log_of(name, "behavior.failed"))
            self.judge(name, table, dict(zip(table, ran)), rows(unit, "layers"))
        self.assertEqual(house.pid("supervisor"), known["supervisor"])
        self.assertEqual(house.unit("sibling")["pid"], known["sibling"])
        house.down()

    def judge(self, name, table, results, layers):
        for attempt, status in results.items():
            stands = [wall for wall in table[attempt][2] if wall in ALWAYS or layers[wall]["in_force"]]
            with self.subTest(agent=name, attempt=attempt, status=status, stands=stands):
                if stands:
                    self.assertIn(status, NO)
                else:
                    self.assertIn(status, (0, *NEVER.get(attempt, ())))
                    for wall in table[attempt][2]:
                        self.assertTrue(layers[wall]["reason"], wall)

    def listen(self):
        text = "import socket,time; s=socket.create_server(('127.0.0.1',0)); print(s.getsockname()[1],flush=True); time.sleep(600)"
        server = subprocess.Popen([sys.executable, "-c", text], stdout=subprocess.PIPE, text=True)
        self.addCleanup(server.wait)
        self.addCleanup(server.kill)
        self.addCleanup(server.stdout.close)
        return int(server.stdout.readline())

    def segment(self, house):
        key = os.getpid()
        made = subprocess.run([*house.prefix, "/usr/bin/python3", "-c",
                               f"import ctypes; print(ctypes.CDLL(None).shmget({key}, 4096, 0o1600))"],
                              capture_output=True, text=True, check=True).stdout
        self.addCleanup(subprocess.run, ["/usr/bin/ipcrm", "-m", made.strip()], check=False)
        return key


NETS = {"memory": "300MiB", "wall": "3s", "cpu": "2s", "open_files": 64, "processes": 24, "file_size": "1MiB", "output": "64KiB"}
#  Of its own doing: the errno that a native candidate meets.
MORE = {"allocates": (errno.ENOMEM,), "forks": (errno.EAGAIN,), "threads": (errno.EAGAIN, errno.ENOMEM),
        "opens": (errno.EMFILE,), "file": (errno.EFBIG,), "memfd": (errno.EFBIG,)}
#  What ends the worker: steps, and what its failure names.
ENDS = {
    "an endless loop that hears no signal": (["spin", signal.SIGTERM, signal.SIGXCPU], "signal 9|wall clock"),
    "an endless loop": (["spin"], "CPU limit|signal 9|wall clock"),
    "a sleep for ever": (["sleep", 600], "wall clock"),
    "a native loop that hears no signal": (["run", ["actor/attempts", "spins"]], "wall clock|signal"),
    "children in sessions of their own": (
        ["python", "import os,time\nfor i in range(3):\n  if not os.fork():\n    os.setsid()\n    os.fork()\n    time.sleep(600)\n"
                   "time.sleep(600)"], "wall clock"),
    "a flood of output": (["python", "while True: print('x' * 100000, flush=True)"], "wall clock|CPU limit|signal"),
    "a flood without lines": (["python", "import os\nwhile True: os.write(2, b'x' * 65536)"], "wall clock|CPU limit|signal"),
    "a signal to all": (["python", "import os,time\nos.kill(-1, 9)\ntime.sleep(600)"], "wall clock|signal|exit status 1"),
    "a stop of its own group": (["python", "import os,time\nos.killpg(0, 19)\ntime.sleep(600)"], "wall clock|signal"),
}


class Starvation(Tests):
    """Who takes more than it was given: a defined end within its wall clock and 2 s, the house alive, nothing left."""

    def test_a_candidate_that_wants_more_than_it_has_gets_an_error(self):
        house = self.house("", {"actor": agent(WORK, layers=EVERY, nets=NETS)})
        shutil.copy(TRIES, os.path.join(house.dir, "actor", "attempts"))
        house.up()
        for word, numbers in MORE.items():
            begin = time.monotonic()
            unit = self.work(house, "actor", ["run", ["actor/attempts", word]])
            self.assertLess(time.monotonic() - begin, 5.5, word)
            ran = ran_of(house, "actor")
            with self.subTest(word, nets=unit["nets"]):
                memory = rows(unit, "nets")["memory"]
                self.assertTrue(memory["in_force"] or memory["reason"] == "sanitizer build")
                if word != "allocates" or memory["in_force"]:
                    self.assertIn(ran[-1], numbers)
        house.down()

    def test_a_candidate_that_does_not_end_is_ended_and_nothing_is_left_of_it(self):
        for layers in (EVERY, {**EVERY, "pidns": "off", "mountns": "off", "cgroup": "off"}):
            house = self.house("", {"actor": agent(WORK, layers=layers, nets=NETS, attempts=1, isolation="none",
                                                   restart={"at_most": 100, "within": "1m"})})
            shutil.copy(TRIES, os.path.join(house.dir, "actor", "attempts"))
            house.up()
            self.work(house, "actor", ["sleep", 0])
            supervisor = house.pid("supervisor")
            shared = rows(house.unit("actor"), "layers")
            shared = not shared["uid"]["in_force"] and not shared["pidns"]["in_force"]
            for attempt, (step, reason) in ENDS.items():
                if shared and attempt == "a signal to all":  # it would reach whoever runs this test
                    continue
                with self.subTest(attempt, layers=layers):
                    until("it is back", lambda: house.unit("actor")["state"] in ("ready", "parked"))
                    failures = len(house.log_of("actor", "behavior.failed"))
                    house.tell("actor", "on.work", steps=[step])
                    started = until("its start", lambda: house.unit("actor")["state"] == "busy" and time.monotonic())
                    failed = until("its end", lambda n=failures: house.log_of("actor", "behavior.failed")[n:])
                    self.assertLess(time.monotonic() - started, 3 + 2, attempt)
                    self.assertRegex(failed[0]["payload"]["message"], reason)
                    self.assertEqual(house.pid("supervisor"), supervisor)
            house.down()  # says what is left, and nothing is


class Strict(Tests):
    """Who is walled strictly and reaches out ends, and the reason says by what."""

    def test_a_denied_call_is_named_as_the_reason(self):
        house = self.house("", {"actor": agent(WORK, layers={"seccomp": "strict"}, attempts=1)})
        house.up()
        self.work(house, "actor", ["python", "import ctypes; ctypes.CDLL(None).ptrace(16, 1, 0, 0)"])
        failed = house.log_of("actor", "behavior.failed")
        self.assertEqual(failed[0]["payload"]["message"], "signal 31 (a system call that is denied)")
        house.down()


class Scripts(Tests):
    """The same for Lua, whose nets are its host's."""

    def test_a_script_that_takes_more_than_it_was_given_fails_and_the_house_goes_on(self):
        bodies = {"loop": "while true do end", "memory": "local t = {} while true do t[#t + 1] = ('x'):rep (1e6) end",
                  "long": "return ('x'):rep (1e9)", "pattern": "return (('a'):rep (30)):find (('a?'):rep (30) .. ('a'):rep (30))",
                  "recursion": "local function f () return 1 + f () end f ()"}
        agents = {name: {"packs": [], "layers": {**EVERY, "seccomp": "strict"}, "attempts": 1,
                         "nets": {"wall": "3s", "memory": "64MiB"}} for name in bodies}
        house = self.house("", {})
        for name, keys in agents.items():
            keys["packs"] = [pack(house, name, bodies[name])]
        house.configure(agents)
        house.up()
        for name in bodies:
            with self.subTest(name):
                first = house.tell(name, "on.work")
                begin = time.monotonic()
                house.idle(name)
                self.assertLess(time.monotonic() - begin, 3 + 2 + 2, name)
                ends = [e["type"] for e in house.log_of(name) if e["seq"] > first]
                self.assertTrue({"behavior.failed", "behavior.completed"} & set(ends), ends)
                if name in ("loop", "memory", "recursion"):
                    self.assertIn("behavior.failed", ends)
        house.down()


class Trees(Tests):
    """A worker in a pid namespace dies whole with its first process."""

    def test_a_tree_ends_with_its_first_process(self):
        layers = {"pidns": "require", "cgroup": "off", "mountns": "off"}
        house = self.house("", {"actor": agent(WORK, layers=layers, isolation="none")})
        house.up()
        self.work(house, "actor", ["python", "import os,time\nfor i in range(5):\n  if not os.fork():\n    os.setsid()\n"
                                             "    if os.fork(): os._exit(0)\n    time.sleep(600)\n"])
        pid = house.unit("actor")["pid"]
        inside = os.readlink(f"/proc/{pid}/ns/pid")
        tree = []
        for one in house.left():
            with contextlib.suppress(PermissionError):  # the house's own, of an ordinary user
                tree += [one] if os.readlink(f"/proc/{one}/ns/pid") == inside else []
        self.assertEqual(len(tree), 6)
        os.kill(pid, signal.SIGKILL)
        until("its whole tree", lambda: not any(map(is_alive, tree)), seconds=2)
        stopped = until("news of it", lambda: house.log_of("fleet", "agent.stopped"))
        self.assertEqual(stopped[0]["payload"]["proof"], "pidns")
        house.down()


if __name__ == "__main__":
    main()
