"""The n-th write, sync, open, rename, allocation or send of the supervisor or the broker fails, for n = 1, 2, ...

Each run is one house and one short script. What was acknowledged is there, once; a command succeeded or gave a
reason; the house goes on or was started again by its nursery; the log is whole. A kind is through when a run ends
without its fault. AG_ALL=1 takes every n (of allocations and sends, which are many, steps that grow); else a sample
of AG_NTH_SECONDS is drawn, from AG_SEED.
SPDX-License-Identifier: Apache-2.0
"""
import errno
import json
import os
import random
import tempfile
import time
import unittest
import uuid

from house import BIN, PATIENCE, House, Refused, main, until

LIBRARY = os.path.join(BIN, "../tests/nth.so")
ALL = "AG_ALL" in os.environ
SECONDS = float(os.environ.get("AG_NTH_SECONDS", "75"))
SEED = int(os.environ.get("AG_SEED", random.randrange(1 << 32)))

#  Kind: what it fails with; how many calls a sample is drawn from (as many as the script makes, about).
KINDS = {
    "write": ((errno.EIO, errno.ENOSPC, errno.EDQUOT, errno.EFBIG), 60),
    "sync": ((errno.EIO, errno.ENOSPC, errno.EDQUOT), 40),
    "open": ((errno.EIO, errno.ENOSPC, errno.EMFILE), 120),
    "rename": ((errno.EIO, errno.ENOSPC), 6),
    "alloc": ((errno.ENOMEM,), 20000),
    "send": ((errno.EPIPE, errno.EAGAIN, errno.ENOBUFS), 300),
}
PROGRAMS = {"agsup-supervisor": tuple(KINDS), "agsup-broker": ("open", "alloc", "send")}
OBJECT = {"op": "add_object", "type": "note"}


def note(name):
    return {**OBJECT, "id": f"note#{name}", "data": {"text": name * 500}}


def read(path):
    """A file's text; None when it is not there."""
    try:
        with open(path, encoding="utf-8") as file:
            return file.read() or "?"
    except FileNotFoundError:
        return None


class Patient(House):
    """A house whose clients repeat a request, under its id, while the reason is one that passes."""

    def up(self):
        """`up` is a command too: it may end with a reason (a configuration that cannot be read), and is repeated."""
        try:
            return super().up()
        except AssertionError:
            if self.process.poll() is None or "error: ended: " not in self.said():
                raise
            return super().up()

    def down(self):
        """As often as it takes: a `down` whose way was cut says so."""
        until("the end of the house", lambda: self.process.poll() is not None or
              self.cli("--timeout", "5", "down", check=False).returncode == 0)
        until("the end of agsupd", lambda: self.process.poll() is not None)
        self.process = None
        if self.left():
            raise AssertionError(f"left behind: {self.left()}")

    def ask(self, do, **fields):
        fields.setdefault("id", uuid.uuid4().hex)
        end = time.monotonic() + PATIENCE
        while True:
            if self.process.poll() is not None:
                raise AssertionError(f"the house ended with {self.process.returncode}")
            try:
                return super().ask(do, seconds=PATIENCE / 4, **fields)
            except AssertionError:
                if time.monotonic() > end:
                    raise
            except Refused as refused:
                if not refused.message or not refused.retryable or time.monotonic() > end:
                    raise
                time.sleep(0.05)


class Script:
    """What is asked of the house; what it acknowledged."""

    def __init__(self, house):
        self.house, self.acknowledged = house, {}

    def apply(self, run, *names):
        answer = self.house.ask("apply", run=run, ops=[note(name) for name in names])
        self.acknowledged.setdefault(run, []).extend(f"note#{name}" for name in names)
        return answer

    def play(self):
        self.house.ask("create", label="notes")
        for name in ("a", "b", "c"):
            self.apply("notes", name)
        self.house.ask("fork", point="notes", label="try")
        self.apply("try", "d", "e")
        self.house.ask("promote", fork="try")
        self.acknowledged["notes"] += ["note#d", "note#e"]
        self.apply("notes", "f")

    def verify(self):
        """What the command says; None after a reason that passes (a connection that was refused is a timeout)."""
        done = self.house.cli("--json", "--timeout", "3", "verify", "--state", check=False)
        if done.returncode in (69, 75):
            assert json.loads(done.stdout)["error"]["message"], done.stdout
            return None
        return json.loads(done.stdout)

    def check(self):
        """Everything acknowledged is there once, nothing else, and the log and its index agree."""
        for run, ids in self.acknowledged.items():
            events = self.house.log_of(run)
            made = [e["payload"]["object"]["id"] for e in events if e["type"] == "object.created"]
            wanted = ids if run == "notes" else ["note#a", "note#b", "note#c", *ids]
            if sorted(made) != sorted(wanted):
                raise AssertionError(f"{run} holds {made}, acknowledged was {wanted}")
            if [e["seq"] for e in events] != list(range(1, len(events) + 1)):
                raise AssertionError(f"{run} is not dense")
        report = until("an answer to verify", self.verify)
        if not report["ok"]:
            raise AssertionError(f"verify: {report}")


class Nth(unittest.TestCase):
    """One fault a run."""

    def setUp(self):
        if not os.path.exists(LIBRARY):
            self.skipTest("no nth.so: a sanitizer's build has an allocator of its own; build Release")

    def run_once(self):
        """The script, and the same again by a house that was down."""
        with Patient() as house:
            script = Script(house)
            script.play()
            script.check()
            house.down()
            house.up()
            script.check()
            house.down()

    def fail_at(self, program, kind, n, error):
        """One run; what was hit, or None when there were fewer calls."""
        with tempfile.TemporaryDirectory(prefix="agn-", dir="/tmp") as folder:
            fired = os.path.join(folder, "fired")
            os.environ.update(AG_NTH=f"{program} {kind} {n} {error} {fired}", LD_PRELOAD=LIBRARY)
            try:
                self.run_once()
            except Exception as failure:
                raise AssertionError(f"{program} {kind} {n} {errno.errorcode[error]}: {read(fired)}") from failure
            finally:
                del os.environ["AG_NTH"], os.environ["LD_PRELOAD"]
            return read(fired)

    def every(self, program, kind):
        """Each n until nothing is hit."""
        errors, _ = KINDS[kind]
        n, runs = 1, 0
        while True:
            hits = [self.fail_at(program, kind, n, error) for error in errors]
            runs += len(errors)
            if not any(hits):
                break
            n += 1 if kind not in ("alloc", "send") else max(1, n // 8)
        print(f"{program} {kind}: {runs} runs, through at {n}", flush=True)

    def test_a_call_that_fails_once_loses_nothing_acknowledged_and_ends_no_house(self):
        if ALL:
            for program, kinds in PROGRAMS.items():
                for kind in kinds:
                    with self.subTest(program=program, kind=kind):
                        self.every(program, kind)
            return
        print(f"AG_SEED={SEED}", flush=True)
        draw, end, hits, runs = random.Random(SEED), time.monotonic() + SECONDS, 0, 0
        pairs = [(program, kind) for program, kinds in PROGRAMS.items() for kind in kinds]
        while time.monotonic() < end:
            program, kind = pairs[runs % len(pairs)]
            errors, most = KINDS[kind]
            hits += bool(self.fail_at(program, kind, int(most ** draw.random()), draw.choice(errors)))
            runs += 1
        print(f"{runs} runs, {hits} with their fault", flush=True)
        self.assertGreater(hits, 0)


class Repair(unittest.TestCase):
    """A store with a changed byte: refused by name, repaired into a home that goes on."""

    def damage(self, house):
        """The middle of the log, where acknowledged events lie."""
        data = os.path.join(house.home, "data")
        log = max((os.path.join(data, name) for name in os.listdir(data) if name.endswith(".log")), key=os.path.getsize)
        with open(log, "r+b") as file:
            file.seek(os.path.getsize(log) // 2)
            byte = file.read(1)
            file.seek(-1, os.SEEK_CUR)
            file.write(bytes([byte[0] ^ 1]))
        return log

    def test_a_changed_byte_is_refused_by_name_and_repair_keeps_what_was_before_it(self):
        with House() as house:
            Script(house).play()
            self.assertEqual(house.cli("repair", house.home, "--to", house.home + "2", check=False).returncode, 75)
            house.down()
            log = self.damage(house)
            refused = house.cli("-c", house.config, "up", "--detach", check=False)
            self.assertEqual(refused.returncode, 4, refused.stderr)
            self.assertIn(os.path.basename(log), refused.stderr)
            self.assertIn("agsup repair", refused.stderr)
            done = house.cli("--json", "repair", house.home, "--to", house.home + "2", check=False)
            report = json.loads(done.stdout)
            self.assertEqual(done.returncode, 4, done.stdout + done.stderr)
            self.assertFalse(report["ok"])
            house.home += "2"
            house.up()
            self.assertTrue(house.json("verify", "--state")["ok"])
            house.down()


if __name__ == "__main__":
    main()
