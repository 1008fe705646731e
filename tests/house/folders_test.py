"""What a program finds in the folder it works in, and what becomes of that folder.
SPDX-License-Identifier: Apache-2.0
"""
import os
import unittest

from house import House, agent, main, until

LOOK = """import os, time
print(*sorted(os.path.relpath(os.path.join(at, name)) for at, _, names in os.walk(".") for name in names), sep=",")
print(os.environ.get("KEY"), flush=True)
time.sleep(60)
"""
PYTHON = "/usr/bin/python3"
OPEN = {"isolation": "none", "layers": {"uid": "off"}}


class Copies(unittest.TestCase):
    """The folder of the configuration, as a worker with a uid of its own sees it."""

    def setUp(self):
        if os.geteuid():
            self.skipTest("needs root")
        self.house = House()
        self.addCleanup(self.house.close)

    def put(self, path, text="x", mode=0o644):
        path = os.path.join(self.house.dir, path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(path, mode)

    def up(self, **agents):
        self.house.configure(agents)
        self.house.up()

    def said(self, name):
        """The lines of look.py."""
        return until(f"what {name} found", lambda: len(lines := self.house.cli("output", name).stdout.splitlines()) > 1
                     and [line.split()[-1] for line in lines])

    def refusal(self, name):
        return until("a refusal", lambda: (row := self.house.unit(name))["state"] == "failed" and row)["reason"]

    def test_what_others_may_not_read_is_in_no_copy(self):
        self.put("app/look.py", LOOK)
        for path, mode in (("key", 0o600), ("group", 0o640), (".hidden", 0o644), ("open/fine", 0o604), ("open/key", 0o600),
                           ("closed/in", 0o644), ("half/in", 0o644)):
            self.put(f"app/{path}", "secret", mode)
        os.chmod(f"{self.house.dir}/app/closed", 0o750)
        os.chmod(f"{self.house.dir}/app/half", 0o754)
        os.symlink("/etc/hostname", f"{self.house.dir}/app/link")
        look = {"command": [PYTHON, "app/look.py"]}
        self.up(granted={**look, "env": {"KEY": {"file": "app/key"}}}, other=look)
        for name, key in ("granted", "secret"), ("other", "None"):
            with self.subTest(name):
                self.assertEqual(self.said(name), ["app/look.py,app/open/fine", key])

    def test_a_program_that_others_may_not_read_is_refused_in_words(self):
        self.put("app/look.py", LOOK, 0o600)
        self.up(own={"command": [PYTHON, "app/look.py"]})
        self.assertIn("app/look.py is not readable by others (mode 0600)", self.refusal("own"))

    def test_a_folder_that_is_too_large_is_refused_for_that(self):
        self.put("app/look.py", LOOK)
        self.put("app/big")
        os.truncate(f"{self.house.dir}/app/big", (64 << 20) + 1)
        self.up(large={"command": [PYTHON, "app/look.py"]})
        self.assertIn("with big there are more than 64 MiB to copy", self.refusal("large"))

    def test_paths_of_a_command_start_at_the_folder_of_the_configuration_also_with_a_dir(self):
        self.put("src/look.py", LOOK)
        within, without = ({"command": [PYTHON, path], "dir": "src"} for path in ("look.py", "src/look.py"))
        self.up(within=within, without=without, open_within={**within, **OPEN}, open_without={**without, **OPEN})
        for name in "within", "open_within":
            self.assertIn("not at dir: write src/look.py", self.refusal(name))
        self.assertEqual(self.said("without")[0], "src/look.py")
        self.assertIn("src/look.py", self.said("open_without")[0])


DEEP = """import os
for i in range(20000):
    open(f"f{i}", "w").close()
for i in range(%d):
    os.mkdir("d")
    os.chdir("d")
"""


class Remains(unittest.TestCase):
    """A program that leaves more than is taken away at once, deeper than a path can name."""

    def leave(self, levels):
        """A house whose agent left that much and has ended; its supervisor, and what there is of the folder."""
        house = House({"actor": agent({"name": "work", "on": ["on.work"]}, attempts=1, nets={"wall": "0"})})
        self.addCleanup(house.close)
        house.up()
        house.tell("actor", "on.work", steps=[])
        house.idle("actor")
        with open(f"/proc/{house.pid('actor')}/environ", "rb") as file:
            own = next(one[5:].decode() for one in file.read().split(b"\0") if one.startswith(b"HOME="))
        supervisor = house.pid("supervisor")
        house.tell("actor", "on.work", steps=[["python", f"import os; os.chdir({own!r})\n" + DEEP % levels], ["exit", 1]])
        until("its end", lambda: not os.path.exists(own), pause=0.01)
        return house, supervisor, os.path.dirname(own) + ".gone"

    def test_the_house_answers_while_it_goes_and_all_of_it_goes(self):
        house, supervisor, gone = self.leave(3000)
        self.assertTrue(os.listdir(gone))
        answers = 0
        while os.listdir(gone):
            house.ask("status")
            answers += 1
        self.assertGreater(answers, 20)
        self.assertEqual(house.pid("supervisor"), supervisor)
        house.down()
        self.assertFalse(os.path.exists(gone))

    def test_the_next_supervisor_goes_on_with_it(self):
        house, _, gone = self.leave(9000)
        house.kill("supervisor")
        self.assertTrue(os.listdir(gone))
        until("an empty folder", lambda: house.ask("status") and not os.listdir(gone))
        house.down()


if __name__ == "__main__":
    main()
