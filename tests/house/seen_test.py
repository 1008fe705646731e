"""Nobody outside sees an event before it is on disk: scripts spin, whose invocations share their syncs, clients and
monitors watch, and the supervisor is killed. What was seen is there afterwards, and says the same.
SPDX-License-Identifier: Apache-2.0
"""
import os
import threading
import time
import unittest

import msgpack
import zmq

from house import HERE, Client, House, main, until

KILLS = 8
RUNS = ("one", "two")


class Eyes(threading.Thread):
    """{stream: event} as clients are answered, or as monitors are told."""

    def __init__(self, house, look):
        super().__init__(daemon=True)
        self.house, self.look = house, look
        self.seen, self.failed = {}, None
        self.ending = threading.Event()
        self.start()

    def run(self):
        try:
            self.look(self)
        except Exception as error:  # told by the main thread
            self.failed = error

    def see(self, stream, event):
        """What stands under a number for ever is what was first seen there."""
        if self.seen.setdefault(stream, event) != event:
            raise AssertionError(f"{stream} was {self.seen[stream]} and is {event}")

    def end(self):
        self.ending.set()
        self.join()
        if self.failed:
            raise self.failed


def by_answers(eyes):
    """The end of one log, asked for as fast as it grows."""
    client = Client(eyes.house)
    last = 0
    try:
        while not eyes.ending.is_set():
            for event in client.ask("log", run=RUNS[0], after=max(last - 5, 0), limit=2000)["events"]:
                eyes.see(event["stream"], event)
                last = event["seq"]
    finally:
        client.close()


def by_hints(eyes):
    """Publications."""
    hints = zmq.Context.instance().socket(zmq.SUB)
    hints.linger = 0
    hints.connect(f"ipc://{eyes.house.home}/run/monitor.sock")
    hints.subscribe(b"run/")
    while not eyes.ending.is_set():
        if hints.poll(200):
            _topic, header, body = hints.recv_multipart()
            eyes.see(msgpack.unpackb(header)["stream"], msgpack.unpackb(body))
    hints.close()


class Seen(unittest.TestCase):
    """One house under one storm."""

    def test_what_was_seen_is_on_disk(self):
        spinner = {"packs": [os.path.join(HERE, "spin")]}
        if os.geteuid() != 0:
            spinner["layers"] = {"uid": "off"}
        house = House({name: spinner for name in RUNS})
        self.addCleanup(house.close)
        house.up()
        eyes = [Eyes(house, by_answers), Eyes(house, by_hints)]
        for name in RUNS:
            house.tell(name, "spin.due", n=0)
        for _ in range(KILLS):
            seen = [len(one.seen) for one in eyes]
            until("that both see more", lambda seen=seen: any(one.failed for one in eyes) or all(
                len(one.seen) > before + 20 for one, before in zip(eyes, seen)))
            time.sleep(0.05)
            house.kill("supervisor")
        for one in eyes:
            one.end()
        for name in RUNS:
            house.cli("stop", name)
        self.compare(house, eyes)
        self.assertTrue(house.json("verify", "--state")["ok"])
        house.down()

    def compare(self, house, eyes):
        """What they saw with what the log says."""
        kept = {event["stream"]: event for name in (*RUNS, "fleet") for event in house.log_of(name)}
        for one in eyes:
            self.assertGreater(len(one.seen), 20 * KILLS)
            for stream, event in one.seen.items():
                said = kept.get(stream, {})
                for field in ("run", "seq", "type", "payload", "caused_by", "timestamp"):
                    self.assertEqual(event.get(field), said.get(field), f"{field} of {stream}")


if __name__ == "__main__":
    main()
