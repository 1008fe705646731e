"""A monitor that stands still while events rush by has every event afterwards, once and in order; also one whose fleet
goes down and comes up again meanwhile.

The monitors are those of docs/examples, in Python and in Node (its packages come from npm, into the build folder).
AG_STOP is for how many seconds it is stopped (2 unless set; tests/long: 10), AG_RATE how many events a second are
offered meanwhile (20000 unless set; a build with sanitizers may take fewer).
SPDX-License-Identifier: Apache-2.0
"""
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

from house import BIN, Client, House, kill, main, until

STOP = float(os.environ.get("AG_STOP", "2"))
RATE = float(os.environ.get("AG_RATE", "20000"))
HERE = os.path.dirname(os.path.realpath(__file__))
EXAMPLES = os.path.join(HERE, "..", "..", "docs", "examples")
INSTALL = os.path.join(HERE, "..", "peers", "install_examples")
PACKAGES = os.path.join(os.path.dirname(os.path.realpath(BIN)), "examples")
TAIL = 4096  # bytes, in which the last whole line stands
OUTSTANDING = 8
EMIT = [{"op": "emit", "type": "load.tick", "payload": {"n": n}} for n in range(100)]


class Offer:
    """Lists of 100 events, several requests outstanding, for so many seconds."""

    def __init__(self, house, run):
        self.client, self.run, self.sent, self.waiting, self.rate = Client(house), run, 0, 0, 0

    def take(self, test):
        answer = self.client.receive(30)
        test.assertEqual(answer["do"], "ok", answer)
        self.waiting -= 1

    def work(self, test, seconds):
        begin, sent = time.monotonic(), self.sent
        while (now := time.monotonic()) < begin + seconds:
            if self.sent - sent > (now - begin) * RATE:
                time.sleep(0.001)
                continue
            self.client.send("apply", run=self.run, ops=EMIT)
            self.sent += len(EMIT)
            self.waiting += 1
            if self.waiting >= OUTSTANDING:
                self.take(test)
        while self.waiting:
            self.take(test)
        self.rate = (self.sent - sent) / (time.monotonic() - begin)


def numbers(text):
    """The stream number of each line; the last line may be half written."""
    return [int(line.split()[0]) for line in text.rpartition("\n")[0].splitlines()]


def newest(path):
    """The last number printed, 0 before there is one."""
    with open(path, "rb") as file:
        begin = max(0, os.fstat(file.fileno()).st_size - TAIL)
        file.seek(begin)
        tail = file.read().decode()
    if begin:
        tail = tail.partition("\n")[2]
    return ([0] + numbers(tail))[-1]


class Monitors(unittest.TestCase):
    def test_a_monitor_in_python_that_was_stopped_has_every_event_once_and_in_order(self):
        self.stop_and_go_on(sys.executable, os.path.join(EXAMPLES, "monitor.py"))

    def test_a_monitor_in_python_goes_on_when_the_fleet_does(self):
        self.outlive(sys.executable, os.path.join(EXAMPLES, "monitor.py"))

    def test_a_monitor_in_node_that_was_stopped_has_every_event_once_and_in_order(self):
        self.in_node(self.stop_and_go_on)

    def test_a_monitor_in_node_goes_on_when_the_fleet_does(self):
        self.in_node(self.outlive)

    def in_node(self, watch):
        done = subprocess.run([INSTALL, PACKAGES, "node"], stdout=subprocess.PIPE, text=True, check=False)
        if done.returncode == 77:
            self.skipTest(done.stdout.strip())
        self.assertEqual(done.returncode, 0)
        with tempfile.TemporaryDirectory(dir=PACKAGES) as beside:  # where Node looks for packages
            watch("node", shutil.copy(os.path.join(EXAMPLES, "monitor.mjs"), beside))

    def outlive(self, *program):
        with House() as house, tempfile.NamedTemporaryFile() as seen:
            run = house.ask("create", label="load")["run_id"]
            monitor = subprocess.Popen([*program, house.home, "0"], stdout=seen)
            try:
                until("its first line", lambda: newest(seen.name))
                house.down()
                house.up()
                house.ask("apply", run=run, ops=EMIT)
                stream = house.ask("events", after=0, limit=1)["stream"]
                until("what came after the restart", lambda: newest(seen.name) >= stream)
            finally:
                kill(monitor.pid)
                monitor.wait()
            with open(seen.name, encoding="utf-8") as file:
                got = numbers(file.read())
            self.assertEqual(got, list(range(1, len(got) + 1)))

    def stop_and_go_on(self, *program):
        with House() as house, tempfile.NamedTemporaryFile() as seen:
            run = house.ask("create", label="load")["run_id"]
            monitor = subprocess.Popen([*program, house.home, "0"], stdout=seen)
            try:
                until("its first line", lambda: newest(seen.name))
                offer = Offer(house, run)
                self.addCleanup(offer.client.close)
                offer.work(self, 0.5)
                monitor.send_signal(signal.SIGSTOP)
                offer.work(self, STOP)
                monitor.send_signal(signal.SIGCONT)
                began = time.monotonic()
                stream = house.ask("events", after=0, limit=1)["stream"]
                until("that it has caught up", lambda: newest(seen.name) >= stream, 3 * STOP + 20)
                caught = time.monotonic() - began
            finally:
                kill(monitor.pid)
                monitor.wait()
            with open(seen.name, encoding="utf-8") as file:
                got = numbers(file.read())
            self.assertEqual(got, list(range(1, len(got) + 1)))
            self.assertGreaterEqual(len(got), offer.sent)
            print(f"taken {offer.rate:.0f} events/s; caught up {caught:.1f} s "
                  f"after a stop of {STOP:.0f} s", file=sys.stderr)


if __name__ == "__main__":
    main()
