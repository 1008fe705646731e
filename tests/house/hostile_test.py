"""What must not shake the house: requests that fail half way, and peers that break the rules.
SPDX-License-Identifier: Apache-2.0
"""
import contextlib
import ctypes
import functools
import os
import re
import resource
import signal
import subprocess
import sys
import time
import unittest

from house import BIN, HERE, PATIENCE, Client, House, Refused, agent, kill, main, msgpack, until

WORK = {"name": "work", "on": ["on.work"]}


class Clients(unittest.TestCase):
    """What a client may ask for, and what is left when it fails."""

    @classmethod
    def setUpClass(cls):
        cls.house = House({"actor": agent(WORK)}, services={"sleeper": {"command": ["/bin/sleep", "1000"]}})
        cls.addClassCleanup(cls.house.close)
        cls.house.up()
        cls.house.idle("actor")

    def forks(self):
        return [row["name"] for row in self.house.ask("status")["forks"]]

    def test_forks_of_a_refused_request_leave_no_units_behind(self):
        house, before = self.house, self.forks()
        house.ask("create", label="many-3")
        with self.assertRaises(Refused) as refused:
            house.ask("fork", point="actor", label="many", count=4)
        self.assertEqual(refused.exception.code, "exists")
        self.assertEqual(self.forks(), before)
        # the numbers of the runs that never were are given again, with units of their own
        for label in ("one", "two"):
            house.ask("fork", point="actor", label=label)
            house.tell(label, "on.work", steps=[["ops", {"op": "add_object", "type": "done", "data": {}}]])
        house.idle("one", "two")
        self.assertEqual(self.forks(), before + ["one", "two"])
        self.assertEqual([len(house.objects(label)) for label in ("one", "two")], [1, 1])

    def test_a_run_of_a_refused_request_leaves_no_queue_behind(self):
        house = self.house
        house.ask("create", label="plain")
        house.ask("create", label="twin-2")
        with self.assertRaises(Refused):
            house.ask("fork", point="plain", label="twin", goal="never", count=2)
        house.ask("fork", point="actor", label="works")
        house.tell("works", "on.work", steps=[["ops", {"op": "add_object", "type": "done", "data": {}}]])
        house.idle("works")
        self.assertEqual(len(house.objects("works")), 1)


    def test_no_text_that_a_request_may_carry_ends_the_house(self):
        """Each text field of each request of a client, as long as it may be, in forms that mean something somewhere."""
        with open(os.path.join(HERE, "..", "..", "schemas", "messages.def"), encoding="utf-8") as file:
            rows = [re.match(r"(MSG|FIELD)\s*\((\w+), (.*)\)$", line.strip()) for line in file]
        does, fields = {}, {}
        for row in filter(None, rows):
            words = [word.strip() for word in row[3].split(",")]
            if row[1] == "MSG" and words[1] == "CLIENT":
                does[row[2]] = words[0].strip('"')
            elif row[1] == "FIELD":
                fields.setdefault(row[2], []).append((words[0], words[1], words[2] == "1", words[3], words[4]))
        plain = {"UINT": 0, "BOOL": False, "LIST": [], "MAP": {}, "VAL": None, "STR": "actor"}
        before, sent = self.house.ask("status")["supervisor"]["pid"], 0
        for name, do in does.items():
            if do in ("down", "stop", "restart", "discard", "import", "import_end", "replay"):
                continue
            needed = {field: plain[kind] for field, kind, must, *_ in fields.get(name, []) if must}
            for field, kind, _, _, most in fields.get(name, []):
                if kind != "STR" or not most.isdigit() or int(most) > 1000:
                    continue
                for form in ("o", "r", "ar1/", "pr1/", "r1@", "t#", "\u00e9"):
                    text = form + "z" * (int(most) - len(form.encode()))
                    with contextlib.suppress(Refused):
                        self.house.ask(do, **{**needed, field: text})
                    sent += 1
        self.assertGreater(sent, 100)
        self.assertEqual(self.house.ask("status")["supervisor"]["pid"], before)

    def test_a_label_is_not_the_name_of_a_service(self):
        for do, fields in (("create", {}), ("fork", {"point": "actor"})):
            with self.assertRaises(Refused) as refused:
                self.house.ask(do, label="sleeper", **fields)
            self.assertEqual(refused.exception.code, "exists")

    def test_long_polls_of_clients_that_left_keep_nobody_from_waiting(self):
        house, honest = self.house, Client(self.house)
        self.addCleanup(honest.close)
        for _ in range(3):  # each time what one process may have, nearly half of what the house keeps
            crowd = [Client(house) for _ in range(40)]
            for client in crowd:
                for number in range(50):
                    client.send("events", run="actor", after=100000, wait_ms=60000, id=f"poll-{number}")
            for client in crowd:  # parked are those before it
                client.send("status", id="mark")
                self.assertEqual(client.receive(PATIENCE)["id"], "mark")
            for client in crowd:
                client.close()
            time.sleep(2)  # the broker looks each second who is still there
        honest.send("events", run="actor", after=100000, wait_ms=100, id="honest")
        answer = honest.receive(PATIENCE)
        self.assertEqual((answer["do"], answer["id"]), ("ok", "honest"))

    def test_an_event_after_a_point_is_not_shown_at_it(self):
        self.house.ask("create", label="pointed")
        for _ in range(2):
            self.house.tell("pointed", "some.thing")
        self.assertEqual(self.house.ask("show", run="pointed@1", entity="evt_001")["event"]["seq"], 1)
        with self.assertRaises(Refused) as refused:
            self.house.ask("show", run="pointed@1", entity="evt_002")
        self.assertEqual(refused.exception.code, "not_found")

    def test_who_was_refused_is_heard_over_its_next_connection(self):
        client = self.house.client
        for number in range(300):
            client.open()
            client.send("diff", a="actor", b=5, id=f"wrong-{number}")
            self.assertEqual(client.receive(PATIENCE)["code"], "bad_message")
            client.open()
            client.send("kept", run="actor", id=f"right-{number}")
            self.assertIsNotNone(client.receive(PATIENCE), f"after {number} times the answer is lost")
        client.open()

    def test_an_id_that_is_no_text_is_not_sent_back(self):
        client = self.house.client
        client.open()
        client.socket.send(b"\x83\xa2do\xa6status\xa5token" + msgpack.packb(self.house.token()) + b"\xa2id\xa2\xff\xfe")
        answer = client.receive(10)
        client.open()
        self.assertEqual((answer["code"], answer.get("id")), ("bad_message", None))


def pack(name):
    """The files of the smallest pack, as a request carries them."""
    text = f'[pack]\nname = "{name}"\nversion = "1"\ndescription = "x"\n'
    return [{"path": "manifest.toml", "bytes": text.encode()}, {"path": "main.lua", "bytes": b"-- nothing\n"}]


class Packs(unittest.TestCase):
    """Packs that a fork brings."""

    def test_a_pack_is_known_by_its_manifest_and_goes_only_where_packs_are(self):
        house = House()
        self.addCleanup(house.close)
        folder = os.path.join(house.dir, "small")
        os.mkdir(folder)
        for one in pack("small"):
            with open(os.path.join(folder, one["path"]), "wb") as file:
                file.write(one["bytes"])
        house.configure({"script": {"packs": [folder]}, "program": agent(WORK)})
        house.up()
        house.ask("fork", point="script", label="newer", packs=[{"name": "small-v2", "files": pack("small")}])
        loaded = house.log_of("newer", "pack.loaded")
        until("the fork", lambda: house.unit("newer")["state"] in ("ready", "parked"))
        self.assertEqual({e["payload"]["name"] for e in loaded}, {"small"})
        for point, packs, code in (("script", [{"name": "a", "files": pack("one")}] * 2, "pack"),
                                   ("script", [{"name": "a", "files": pack("one") * 2}], "pack"),
                                   ("program", [{"name": "one", "files": pack("one")}], "usage")):
            with self.assertRaises(Refused) as refused:
                house.ask("fork", point=point, packs=packs)
            self.assertEqual(refused.exception.code, code)
        house.down()


LIBC = ctypes.CDLL(None, use_errno=True)
DETACH, AMBIENT, CLEAR = 2, 47, 4
OWN = "AG_OWN_MOUNTS"


def where_one_may_mount(test):
    """Root may; an ordinary user in name spaces of its own, so there the test is run by another process."""
    @functools.wraps(test)
    def run(self):
        if os.geteuid() == 0 or OWN in os.environ:
            return test(self)
        done = subprocess.run(
            ["/usr/bin/unshare", "--user", "--map-current-user", "--keep-caps", "--mount", sys.executable, __file__, "-v",
             f"{type(self).__name__}.{test.__name__}"],
            env={**os.environ, OWN: "1"}, capture_output=True, text=True, check=False)
        if "unshare failed" in done.stderr or "OK (skipped" in done.stderr:
            self.skipTest("no tmpfs can be mounted here")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return self.assertIn("Ran 1 test", done.stderr)
    return run


class Disk(unittest.TestCase):
    """A disk that is full when something is made."""

    @where_one_may_mount
    def test_a_fork_that_was_not_written_has_no_unit_and_no_process(self):
        house = self.disk("260m", actor=agent(WORK))
        disk = os.path.join(house.dir, "disk")
        house.up()
        until("the actor", lambda: house.unit("actor")["state"] == "ready")
        before = house.left()
        with open(os.path.join(disk, "ballast"), "wb") as file:
            file.write(bytes(180 << 20))
        worker = house.unit("actor")["pid"]
        for request in ({"do": "fork", "point": "actor", "label": "late"},
                        {"do": "replay", "run": "actor", "ticket": "t", "wait_ms": 1000}):
            with self.assertRaises(Refused) as refused:
                house.ask(**request)
            self.assertEqual(refused.exception.code, "disk_full")
        self.assertEqual(house.ask("status")["forks"], [])
        until("no process of it", lambda: house.left() == before)
        os.unlink(os.path.join(disk, "ballast"))

        def forked():
            try:
                return house.ask("fork", point="actor", label="late")
            except Refused:
                return None
        until("there is room again", forked)
        self.assertEqual(house.unit("actor")["pid"], worker)
        house.tell("late", "on.work", steps=[["ops", {"op": "add_object", "type": "done", "data": {}}]])
        house.idle("late")
        self.assertEqual(len(house.objects("late")), 1)
        house.down()


    def disk(self, size, **agents):
        """A house whose home lies on a disk of its own."""
        house = House(agents)
        self.addCleanup(house.close)
        disk = os.path.join(house.dir, "disk")
        os.mkdir(disk)
        if LIBC.mount(b"tmpfs", disk.encode(), b"tmpfs", 0, f"size={size},mode=755".encode()):
            self.skipTest("no tmpfs can be mounted here")
        self.addCleanup(LIBC.umount2, disk.encode(), DETACH)
        LIBC.prctl(AMBIENT, CLEAR, 0, 0, 0)  # the house is no more than its user
        house.home = os.path.join(disk, "home")
        return house

    def fill(self, house, leave):
        """All of the disk but for so many bytes; how to take that back."""
        path = os.path.join(house.dir, "disk", "ballast")
        room = os.statvfs(house.home)
        with open(path, "wb") as file:
            os.posix_fallocate(file.fileno(), 0, room.f_bavail * room.f_frsize - leave)
        return lambda: os.unlink(path)

    @where_one_may_mount
    def test_a_supervisor_that_starts_without_room_is_read_and_begins_when_there_is_room(self):
        house = self.disk("160m", actor=agent(WORK))
        house.up()
        house.tell("actor", "on.work", steps=[["ops", {"op": "add_object", "type": "kept", "data": {}}]])
        house.idle("actor")
        for leave, opens in ((48 << 20, True), (0, False)):
            with self.subTest(leave=leave):
                free = self.fill(house, leave)
                house.kill("supervisor")
                if opens:
                    self.assertIn("nearly full", house.ask("status")["disk_full"])
                    self.assertEqual(len(house.objects("actor")), 1)
                    self.assertIn("nearly full", house.cli("status").stdout)
                else:
                    with self.assertRaises(Refused) as refused:
                        house.ask("status")
                    self.assertEqual(refused.exception.code, "disk_full")
                    self.assertIn("to open the store takes", house.cli("status", check=False).stderr)
                with self.assertRaises(Refused) as refused:
                    house.tell("actor", "on.work")
                self.assertEqual(refused.exception.code, "disk_full")
                free()
                until("writes go on", lambda: told(house))
                house.idle("actor")
                self.assertIsNone(house.ask("status")["disk_full"])
                self.assertEqual(len(house.objects("actor")), 1)
        house.down()


def told(house):
    """Whether a house that may be full takes an event."""
    try:
        return house.tell("actor", "on.work")
    except Refused:
        return None


class Ends(unittest.TestCase):
    """A house that cannot begin, or does not answer."""

    def test_with_too_few_descriptors_it_does_not_begin_and_says_so(self):
        house = House({"actor": agent(WORK)})
        self.addCleanup(house.close)
        begin = time.monotonic()
        done = subprocess.run([f"{BIN}/agsup", "-c", house.config, "--home", house.home, "up", "--detach"], text=True,
                              stderr=subprocess.PIPE, timeout=PATIENCE, check=False,
                              preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (1024, 1024)))
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("the limit of open files is 1024, 4096 are needed", done.stderr)
        self.assertLess(time.monotonic() - begin, 20)
        self.assertEqual(house.cli("status", check=False).returncode, 69)
        house.up()  # nobody holds the home
        house.down()

    def test_whoever_closed_the_standard_descriptors_has_a_log_all_the_same(self):
        house = House({"actor": agent(WORK)})
        self.addCleanup(house.close)
        up = f"{BIN}/agsup -c {house.config} --home {house.home} up --detach"
        for closed in ("0<&-", "0<&- >&- 2>&-"):
            with self.subTest(closed=closed):
                path = os.path.join(house.home, "log/house.log")
                before = os.path.getsize(path) if os.path.exists(path) else 0
                subprocess.run(["sh", "-c", f"{up} {closed}"], stderr=subprocess.DEVNULL, timeout=PATIENCE, check=True)
                with open(path, encoding="utf-8") as file:
                    file.seek(before)
                    self.assertIn("agsup-supervisor info: ready", file.read())
                house.cli("down")

    def test_of_five_that_start_it_at_once_one_is_told_that_it_did(self):
        house = House({"actor": agent(WORK)})
        self.addCleanup(house.close)
        words = [f"{BIN}/agsup", "-c", house.config, "--home", house.home, "up", "--detach"]
        starts = [subprocess.Popen(words, stderr=subprocess.PIPE, text=True) for _ in range(5)]
        said = [one.communicate(timeout=PATIENCE)[1] for one in starts]
        self.assertEqual(sorted(one.returncode for one in starts), [0, 75, 75, 75, 75], said)
        self.assertIn("is down", house.cli("down").stderr)

    def test_down_ends_a_house_that_does_not_answer(self):
        house = House({"actor": agent(WORK)})
        self.addCleanup(house.close)
        house.up()
        house.idle("actor")
        kill(house.pid("broker"), signal.SIGSTOP)
        done = house.cli("down", "--timeout", "20", seconds=2 * PATIENCE)
        self.assertIn("is down", done.stderr)
        house.process.wait(PATIENCE)
        house.process = None
        self.assertEqual(house.left(), [])


class Workers(unittest.TestCase):
    """What a worker may do to itself only."""

    def test_the_first_reason_of_an_end_stands_and_is_told_once(self):
        house = House({"actor": agent(WORK, attempts=1)})
        self.addCleanup(house.close)
        house.up()
        house.tell("actor", "on.work", steps=[["send", {"do": "explode"}]])
        house.idle("actor")
        failed = until("its end", lambda: house.log_of("actor", "behavior.failed"))
        self.assertIn('no request is called "explode"', failed[0]["payload"]["message"])
        self.assertEqual(len(house.log_of("actor", "worker.refused")), 1)
        house.down()


if __name__ == "__main__":
    main()
