"""Programs as their authors make them: agsup is installed into a folder of its own, and nothing else of the tree is used.
The reviewer of docs/examples, in C, Python and Node, and its Lua twin tell the same story.
SPDX-License-Identifier: Apache-2.0
"""
import json
import os
import re
import shlex
import shutil
import subprocess
import tempfile
import unittest

from house import BIN, HERE, House, Refused, main

SOURCE = os.path.realpath(os.path.join(HERE, "../.."))
BUILD = os.path.realpath(os.environ.get("AG_BUILD", os.path.join(BIN, "..")))
CFLAGS = shlex.split(os.environ.get("AG_CFLAGS", ""))  # what a sanitized library needs of whoever links it
EXAMPLES = os.path.join(SOURCE, "docs/examples")
GUIDE = os.path.join(SOURCE, "docs/guides/programs.md")
ALONE = {} if os.geteuid() == 0 else {"isolation": "none"}


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def run(*command, **keys):
    """Its output; a failure shows what it said."""
    done = subprocess.run(command, text=True, capture_output=True, check=False, timeout=300, **keys)
    if done.returncode:
        raise AssertionError(f"{command}: exit {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


class Installed:
    """A private prefix, made once."""

    prefix = None

    @classmethod
    def get(cls):
        if not cls.prefix:
            cls.prefix = tempfile.mkdtemp(prefix="agi-", dir="/tmp")
            os.chmod(cls.prefix, 0o755)
            unittest.addModuleCleanup(shutil.rmtree, cls.prefix)
            run("cmake", "--install", BUILD, "--prefix", cls.prefix)
        return cls.prefix

    @classmethod
    def env(cls):
        """As after an installation to where everything is looked for anyway."""
        lib = os.path.dirname(os.path.dirname(cls.find("libagsup.pc")))
        return {**os.environ, "PATH": f"{cls.get()}/bin:/usr/bin:/bin", "LD_RUN_PATH": lib,
                "PKG_CONFIG_PATH": os.path.dirname(cls.find("libagsup.pc"))}

    @classmethod
    def find(cls, name):
        for folder, _, names in os.walk(cls.get()):
            if name in names:
                return os.path.join(folder, name)
        raise AssertionError(f"{name} is not installed")

    @classmethod
    def flags(cls, *words):
        return shlex.split(run("pkg-config", *words, "libagsup", env=cls.env()))


def compile_reviewer(output, *flags):
    run("cc", *CFLAGS, "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-o", output, f"{EXAMPLES}/reviewer.c", *flags,
        cwd="/", env=Installed.env())


class Library(unittest.TestCase):
    """What an author of a program in C gets."""

    def test_what_is_promised_is_what_is_exported(self):
        header = read(Installed.find("agsup.h"))
        code = re.sub(r"/\*.*?\*/|//[^\n]*", "", header, flags=re.S)
        promised = set(re.findall(r"\b(agsup_\w+) \(", code))
        self.assertLessEqual(len(promised), 25)
        for name, words in (("libagsup.so", ["-D"]), ("libagsup.a", [])):
            symbols = run("nm", *words, "--defined-only", "--extern-only", Installed.find(name))
            made = {line.split()[2].split("@")[0] for line in symbols.splitlines() if len(line.split()) == 3}
            made -= {"AGSUP_0"} | {name for name in made if name.startswith("__odr_asan.")}
            self.assertEqual(made, promised)
        self.assertIn("libagsup.so.0", run("readelf", "-d", Installed.find("libagsup.so")))

    def test_the_header_stands_alone_in_old_c_and_in_cxx(self):
        header = Installed.find("agsup.h")
        for compiler in (["cc", "-x", "c", "-std=c99"], ["c++", "-x", "c++", "-std=c++11"]):
            run(*compiler, "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only", "-", input=f'#include "{header}"\n')

    def test_the_example_is_built_by_pkg_config_alone_and_says_what_it_lacks(self):
        with tempfile.TemporaryDirectory() as folder:
            compile_reviewer(f"{folder}/shared", *Installed.flags("--cflags", "--libs"))
            libdir, = Installed.flags("--variable=libdir")
            compile_reviewer(f"{folder}/static", *Installed.flags("--cflags"), f"{libdir}/libagsup.a", "-lzmq")
            self.assertNotIn("libagsup", run("readelf", "-d", f"{folder}/static"))
            for name in ("shared", "static"):
                env = {key: value for key, value in os.environ.items() if key != "AGSUP_WORKER"}
                done = subprocess.run([f"{folder}/{name}"], env=env, text=True, capture_output=True, check=False)
                self.assertEqual((done.returncode, done.stderr), (
                    1, "config: AGSUP_WORKER is not set: agsup sets it for the programs that it starts\n"))

    def test_packs_and_fleets_are_installed_too(self):
        for name in ("agsup", "agsupd", "agsup-supervisor", "agsup-broker", "agsup-worker", "agsup-client.so",
                     "_agsup", "agsup.fish"):
            Installed.find(name)
        for folder in ("packs/licences", "conf/quickstart"):
            for _, _, names in os.walk(os.path.join(SOURCE, folder)):
                for name in names:
                    Installed.find(name)


class Quickstart(unittest.TestCase):
    """The words of conf/quickstart/run, before anything is started."""

    def said(self, *words):
        done = subprocess.run([os.path.join(SOURCE, "conf/quickstart/run"), *words, "--check"], text=True,
                              capture_output=True, check=False)
        return done.returncode, done.stdout + done.stderr

    def test_a_folder_without_what_it_audits_is_refused_with_what_is_wanted(self):
        with tempfile.TemporaryDirectory() as folder:
            os.mkdir(f"{folder}/package")
            status, words = self.said("--folder", folder)
            self.assertEqual(status, 2)
            self.assertIn("one folder a package, each with a file `copyright`", words)
            with open(f"{folder}/package/copyright", "w", encoding="utf-8"):
                self.assertEqual(self.said("--folder", folder), (0, ""))

    def test_help_is_its_usage(self):
        status, words = self.said("--help")
        self.assertEqual((status, "[--folder DIR] [--keep]" in words), (0, True))


class Guide(unittest.TestCase):
    """docs/guides/programs.md is as true as the files that it shows."""

    def blocks(self, language):
        return re.findall(rf"^```{language}\n(.*?)^```$", read(GUIDE), flags=re.S | re.M)

    def test_each_piece_of_code_is_part_of_an_example(self):
        shown = 0
        for language, name in (("c", "reviewer.c"), ("python", "reviewer.py"), ("js", "reviewer.mjs")):
            for block in self.blocks(language):
                self.assertIn(block, read(f"{EXAMPLES}/{name}"))
                shown += 1
        self.assertEqual(shown, 7)

    def test_its_ten_minutes_go_as_it_says(self):
        config, = self.blocks("toml")
        script, = self.blocks("sh")
        config += f'files = ["{os.path.dirname(Installed.find("libagsup.so"))}"]\n'  # it is not where libraries are
        config += 'isolation = "none"\n' if ALONE else ""
        script = script.replace("cc ", shlex.join(["cc", *CFLAGS]) + " ", 1)
        for command in ('["./reviewer"]', '["python3", "reviewer.py"]'):
            with self.subTest(command=command), tempfile.TemporaryDirectory(prefix="agg-", dir="/tmp") as folder:
                os.chmod(folder, 0o755)
                for name in ("reviewer.c", "reviewer.py"):
                    shutil.copy(f"{EXAMPLES}/{name}", folder)
                with open(f"{folder}/agsup.toml", "w", encoding="utf-8") as file:
                    file.write(config.replace('["./reviewer"]', command, 1))
                try:
                    said = run("bash", "-euc", script, cwd=folder, env=Installed.env())
                finally:
                    subprocess.run([f"{Installed.get()}/bin/agsup", "--quiet", "down"], cwd=folder, capture_output=True,
                                   check=False)
                self.assertIn("shorten", said)


def install_node(folder):
    """The packages that the example needs, beside it; false where they cannot be had."""
    packages = os.path.join(BUILD, "examples")
    done = subprocess.run([os.path.join(SOURCE, "tests/peers/install_examples"), packages, "node"], text=True,
                          capture_output=True, check=False, timeout=200)
    if done.returncode == 77:
        print(done.stdout.strip())
        return False
    if done.returncode:
        raise AssertionError(done.stdout + done.stderr)
    shutil.copytree(f"{packages}/node_modules", f"{folder}/node_modules", symlinks=True)
    return True


class Languages(unittest.TestCase):
    """One house, one reviewer in each language."""

    maxDiff = 4000

    def setUp(self):
        self.house = house = House()
        self.addCleanup(house.close)
        for folder, name in (("c", None), ("python", "reviewer.py"), ("node", "reviewer.mjs")):
            os.mkdir(f"{house.dir}/{folder}")
            if name:
                shutil.copy(f"{EXAMPLES}/{name}", f"{house.dir}/{folder}")
        compile_reviewer(f"{house.dir}/c/reviewer", *Installed.flags("--cflags", "--libs"))
        nets = {"nets": {"memory": "2GiB", "wall": "1m"}}
        grant = {"files": [os.path.dirname(Installed.find("libagsup.so"))]}  # it is not where libraries are
        self.agents = {
            "lua": {"packs": [os.path.join(HERE, "reviewer")]},
            "c": {"command": ["c/reviewer"], "dir": "c", **grant, **nets, **ALONE},
            "python": {"command": ["/usr/bin/python3", "python/reviewer.py"], **nets, **ALONE}}
        if install_node(f"{house.dir}/node"):
            self.agents["node"] = {"command": ["node", "node/reviewer.mjs"], **nets, **ALONE}
        house.configure(self.agents)
        house.up()
        house.idle(*self.agents)

    def tell(self, run, **finding):
        """One after the other, so that no log is mixed in another way."""
        self.house.tell(run, "finding.reported", **finding)
        self.house.idle(run)

    def inputs(self, run):
        """Findings of all kinds: short and long, bound to an object, told twice, in words that could break a template."""
        self.tell(run, id="f1", text="short enough")
        self.tell(run, id="f2", text="  far too   many words for such a finding ")
        self.house.ask("apply", run=run, ops=[
            {"op": "add_object", "type": "limit", "id": "limit#words", "data": {"most": 2}},
            {"op": "add_object", "type": "document", "id": "document#1", "data": {}}])
        self.tell(run, id="f3", text="now three words", about="document#1")
        self.tell(run, id="f1", text="the same finding again")
        self.tell(run, id="%s'\"\\", text="ünïcode 'quoted' \"twice\" %s %d \\ {}\u2028", about="nothing#1")
        self.tell(run, id="f4", text="", about="document#1")

    def story(self, run):
        """The log but for times, the run's own name and what a host says of itself. Events are named by their places, and so are calls."""
        events = [e for e in self.house.log_of(run) if e["type"] not in ("worker.registered", "pack.loaded", "runtime.idle")]
        text = json.dumps([{key: e.get(key) for key in ("id", "type", "actor", "caused_by", "payload")} for e in events])
        for place, event in enumerate(events):
            text = text.replace(f'"{event["id"]}"', f'"place {place}"').replace(f'"call_{event["seq"]}_', f'"call at {place}_')
        own = ("timestamp", "latency_seconds", "run_id")
        return json.loads(text, object_hook=lambda fields: {k: v for k, v in fields.items() if k not in own})

    def test_the_same_candidate_in_lua_c_python_and_node_gives_the_same_events(self):
        for agent in self.agents:
            self.inputs(agent)
        told = self.story("lua")
        kinds = [e["type"] for e in told]
        self.assertEqual((kinds.count("behavior.completed"), kinds.count("behavior.failed")), (4, 2))
        self.assertEqual((kinds.count("tool.responded"), kinds.count("verdict.given")), (6, 4))
        for agent in list(self.agents)[1:]:
            with self.subTest(agent=agent):
                self.assertEqual(self.story(agent), told)
                self.assertEqual(self.house.objects(agent), self.house.objects("lua"))
        for agent in self.agents:
            with self.subTest(replayed=agent):
                self.house.cli("replay", agent, "--strict")
        self.house.down()

    def test_a_program_in_c_that_dies_goes_on_where_it_was(self):
        self.tell("c", id="a", text="b")
        self.house.kill("c")
        self.tell("c", id="b", text="b")
        self.assertEqual(sorted(self.house.objects("c")), ["verdict#a", "verdict#b"])
        with self.assertRaises(Refused):
            self.house.ask("show", run="c", entity="verdict#c")
        self.house.down()


if __name__ == "__main__":
    main()
