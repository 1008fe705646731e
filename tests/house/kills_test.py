"""Under load every process of the house is killed at random moments, AG_KILLS times each; AG_SEED repeats a draw.

What was acknowledged is there, the log is dense, promotes are whole, and the fleet goes on by itself.
SPDX-License-Identifier: Apache-2.0
"""
import os
import random
import signal
import subprocess
import threading
import time
import unittest

import msgpack
import zmq

from house import BIN, Client, House, Refused, agent, kill, main, until

KILLS = int(os.environ.get("AG_KILLS", "20"))
SEED = int(os.environ.get("AG_SEED", random.randrange(1 << 32)))
ROLES = ("agsupd", "supervisor", "broker", "actor")
EACH = 3  # objects of a promote


class Load(threading.Thread):
    """One kind of work, again and again, over a client of its own; what was acknowledged is kept."""

    def __init__(self, house, work):
        super().__init__(daemon=True)
        self.client, self.work = Client(house), work
        self.done, self.failed = [], None
        self.ending = threading.Event()

    def run(self):
        n = 0
        try:
            while not self.ending.is_set():
                self.done.append(self.work(self.client, n))
                n += 1
        except Exception as error:  # told by the main thread
            self.failed = error
        finally:
            self.client.close()

    def end(self):
        self.ending.set()
        self.join()
        if self.failed:
            raise self.failed


def append(client, n):
    """One object with an id of ours."""
    return client.ask("apply", run="notes", ops=[
        {"op": "add_object", "type": "note", "id": f"note#a{n}", "data": {"n": n}}])["last_event"], f"note#a{n}"


def adopt(client, n):
    """A fork of three objects and its promote."""
    fork = client.ask("fork", point="notes")["run_id"]
    ids = [f"note#p{n}-{i}" for i in range(EACH)]
    client.ask("apply", run=fork, ops=[{"op": "add_object", "type": "note", "id": i, "data": {}} for i in ids])
    return client.ask("promote", fork=fork)["marker_event_id"], ids


def work(client, n):
    """One event for the agent."""
    steps = [["effect", "look", {"n": n}, bool(n % 2)], ["sleep", 0.05],
             ["ops", {"op": "add_object", "type": "did", "id": f"did#{n}", "data": {}}]]
    told = client.ask("tell", run="actor", type="on.work", payload={"steps": steps})["event_id"]
    time.sleep(0.1)
    return told


class Monitor(threading.Thread):
    """Reads the log behind the hints, as worker.md and cli.md tell a monitor to."""

    def __init__(self, house):
        super().__init__(daemon=True)
        self.house, self.client = house, Client(house)
        self.streams, self.failed = [], None
        self.ending = threading.Event()

    def run(self):
        hints = zmq.Context.instance().socket(zmq.SUB)
        hints.linger = 0
        hints.connect(f"ipc://{self.house.home}/run/monitor.sock")
        hints.subscribe(b"")
        try:
            while not self.ending.is_set():
                if hints.poll(500):
                    self.read(msgpack.unpackb(hints.recv_multipart()[1])["stream"])
        except Exception as error:  # told by the main thread
            self.failed = error
        finally:
            hints.close()
            self.client.close()

    def read(self, newest):
        while not self.streams or self.streams[-1] < newest:
            after = self.streams[-1] if self.streams else 0
            page = self.client.ask("events", after=after, limit=500)
            self.streams += [e["stream"] for e in page["events"]]
            if not page["events"]:
                return

    def end(self):
        self.ending.set()
        self.join()
        if self.failed:
            raise self.failed


class Kills(unittest.TestCase):
    """One house, one storm."""

    def strike(self, house, role):
        if role == "agsupd":
            house.kill(role)
            house.up()
            return
        pid = None
        try:
            pid = house.pid(role)
        except Refused:
            pass
        if pid:
            kill(pid, signal.SIGKILL)

    def storm(self, house):
        dice = random.Random(SEED)
        strikes = [role for role in ROLES for _ in range(KILLS)]
        dice.shuffle(strikes)
        for role in strikes:
            time.sleep(dice.uniform(0.1, 1.5))
            self.strike(house, role)

    def test_what_was_acknowledged_survives_whoever_is_killed(self):
        print(f"AG_SEED={SEED} AG_KILLS={KILLS}", flush=True)
        restart = {"at_most": 1000, "within": "1m"}
        house = House({"actor": agent({"name": "work", "on": ["on.work"]}, attempts=100, restart=restart)})
        self.addCleanup(house.close)
        house.up()
        house.ask("create", label="notes")
        monitor = Monitor(house)
        loads = {name: Load(house, one) for name, one in (("apply", append), ("promote", adopt), ("tell", work))}
        for thread in (monitor, *loads.values()):
            thread.start()
        try:
            self.storm(house)
        except BaseException:
            print(house.said()[-5000:])
            raise
        for load in loads.values():
            load.end()
        house.idle("actor")
        print({name: len(load.done) for name, load in loads.items()}, flush=True)
        self.check(house, loads)
        stream = house.ask("status")["stream"]
        until("the monitor", lambda: monitor.failed or (monitor.streams and monitor.streams[-1] >= stream))
        monitor.end()
        self.assertEqual(monitor.streams, list(range(1, len(monitor.streams) + 1)))
        house.down()

    def check(self, house, loads):
        self.assertTrue(house.json("verify", "--state", seconds=1200)["ok"])  # of tens of thousands of forks
        notes = house.log_of("notes")
        self.assertEqual([e["seq"] for e in notes], list(range(1, len(notes) + 1)))
        by_id = {e["id"]: e for e in notes}
        for event, made in loads["apply"].done:
            self.assertEqual(by_id[event]["payload"]["id"], made)
        objects = house.objects("notes")
        names = set(objects)
        for marker, ids in loads["promote"].done:
            self.assertEqual(by_id[marker]["type"], "promote.applied")
            self.assertEqual(sorted(by_id[marker]["payload"]["objects_created"]), ids)
            self.assertTrue(set(ids) <= names)
        adopted = [i for i in objects if i.startswith("note#p")]
        self.assertEqual(len(adopted), EACH * len([e for e in notes if e["type"] == "promote.applied"]))
        log = house.log_of("actor")
        self.assertEqual([e["seq"] for e in log], list(range(1, len(log) + 1)))
        done = [e["caused_by"] for e in log if e["type"] == "behavior.completed"]
        failed = [e["payload"] for e in log if e["type"] == "behavior.failed"]
        self.assertEqual(failed, [])
        self.assertEqual(done, [e["id"] for e in log if e["type"] == "on.work"])
        self.assertTrue(set(loads["tell"].done) <= set(done))

    def test_a_supervisor_that_is_started_by_hand_takes_nothing_from_the_house(self):
        with House() as house:
            done = subprocess.run([f"{BIN}/agsup-supervisor", "--home", house.home], text=True, capture_output=True,
                                  timeout=60, check=False)
            house.kill("broker")  # the next one has to find the socket of the house's own
            self.assertEqual(house.ask("status")["supervisor"]["pid"], house.pid("supervisor"))
            self.assertIn("is started by agsupd", done.stderr)


if __name__ == "__main__":
    main()
