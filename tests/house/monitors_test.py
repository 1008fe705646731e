"""A monitor that stands still while events rush by has every event afterwards, once and in order.

AG_STOP is for how many seconds it is stopped (2 unless set; tests/long: 10), AG_RATE how many events a second are
offered meanwhile (20000 unless set; a build with sanitizers may take fewer).
SPDX-License-Identifier: Apache-2.0
"""
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest

from house import Client, House, kill, main

STOP = float(os.environ.get("AG_STOP", "2"))
RATE = float(os.environ.get("AG_RATE", "20000"))
HERE = os.path.dirname(os.path.realpath(__file__))
MONITOR = os.path.join(HERE, "..", "..", "docs", "examples", "monitor.py")
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


def lines(path):
    with open(path, encoding="utf-8") as file:
        whole = file.read().rpartition("\n")[0]  # the last line may be half written
    return [int(line.split()[0]) for line in whole.splitlines()]


class Monitors(unittest.TestCase):
    def test_a_monitor_that_was_stopped_has_every_event_once_and_in_order(self):
        with House() as house, tempfile.NamedTemporaryFile() as seen:
            run = house.ask("create", label="load")["run_id"]
            with open(seen.name, "w", encoding="utf-8") as out:
                monitor = subprocess.Popen([sys.executable, MONITOR, house.home, "0"], stdout=out)
            try:
                offer = Offer(house, run)
                self.addCleanup(offer.client.close)
                offer.work(self, 0.5)
                monitor.send_signal(signal.SIGSTOP)
                offer.work(self, STOP)
                monitor.send_signal(signal.SIGCONT)
                began = time.monotonic()
                stream = house.ask("events", after=0, limit=1)["stream"]
                while (got := lines(seen.name)) and got[-1] < stream:
                    self.assertLess(time.monotonic() - began, 3 * STOP + 20, "it does not catch up")
                    time.sleep(0.05)
                caught = time.monotonic() - began
            finally:
                kill(monitor.pid)
                monitor.wait()
            self.assertEqual(got, list(range(1, len(got) + 1)))
            self.assertGreaterEqual(len(got), offer.sent)
            print(f"taken {offer.rate:.0f} events/s; caught up {caught:.1f} s "
                  f"after a stop of {STOP:.0f} s", file=sys.stderr)


if __name__ == "__main__":
    main()
