"""house - a whole fleet in a folder of its own under /tmp, driven from outside as a person or a program would.

    with House({"echo": agent("on.a")}) as house:
        house.ask("tell", run="echo", type="on.a", payload={})

It ends what it started, by process id, and removes its folder. Programs come from $AG_BIN.
SPDX-License-Identifier: Apache-2.0
"""
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import uuid

try:
    import msgpack
    import zmq
except ImportError as error:
    print(f"skipped: {error}; needs python3-zmq and python3-msgpack")
    sys.exit(77)

HERE = os.path.dirname(os.path.abspath(__file__))
BIN = os.environ.get("AG_BIN", os.path.join(HERE, "../../build/bin"))
PATIENCE = float(os.environ.get("AG_PATIENCE", "40"))  # seconds that anything may take; the machine may be busy


class Refused(Exception):
    """An answer that is an error."""

    def __init__(self, answer):
        super().__init__(f"{answer['code']}: {answer['message']}")
        self.code = answer["code"]
        self.message = answer["message"]
        self.retryable = answer.get("retryable")


def until(what, look, seconds=PATIENCE, pause=0.05):
    """The first true value of look(); an assertion that names what did not come to be."""
    end = time.monotonic() + seconds
    while True:
        value = look()
        if value:
            return value
        if time.monotonic() > end:
            raise AssertionError(f"not within {seconds} s: {what}")
        time.sleep(pause)


def agent(*behaviors, **keys):
    """Keys of an agent that runs actor.py with these behaviours ({name, on, ...} or a type alone)."""
    registered = [b if isinstance(b, dict) else {"name": b, "on": [b]} for b in behaviors]
    made = {"command": ["/usr/bin/python3", "actor/actor.py", json.dumps(registered)]}
    if os.geteuid() != 0:
        made["isolation"] = "none"
    made.update(keys)
    return made


def toml(value):
    """A value as TOML writes it, tables inline."""
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {toml(one)}" for key, one in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(map(toml, value)) + "]"
    return json.dumps(value)


class Client:
    """One DEALER at the client socket."""

    def __init__(self, house):
        self.house = house
        self.socket = None

    def open(self):
        """A new connection; the old one and what was asked over it are forgotten."""
        self.close()
        self.socket = zmq.Context.instance().socket(zmq.DEALER)
        self.socket.linger = 0
        self.socket.connect(f"ipc://{self.house.home}/run/client.sock")

    def close(self):
        """Idempotent."""
        if self.socket:
            self.socket.close()
            self.socket = None

    def send(self, do, **fields):
        """Without waiting for an answer; the token that it carries."""
        if not self.socket:
            self.open()
        token = self.house.token()
        self.socket.send(msgpack.packb({"do": do, "token": token, **fields}))
        return token

    def receive(self, seconds):
        """The next answer, or None."""
        if not self.socket.poll(seconds * 1000):
            return None
        return msgpack.unpackb(self.socket.recv_multipart()[-1])

    def ask(self, do, seconds=PATIENCE, **fields):
        """Answer to one request, repeated under its own name while the house comes back."""
        fields.setdefault("id", uuid.uuid4().hex)
        end = time.monotonic() + seconds
        patience = 1 + fields.get("wait_ms", 0) / 1000
        while True:
            token = None
            try:
                token = self.send(do, **fields)
                answer = self.receive(patience)
                while answer and answer.get("id") not in (None, fields["id"]):
                    answer = self.receive(patience)
            except OSError:  # no token: no house at the moment
                answer = None
            if answer and answer["do"] != "error":
                return answer
            stale = answer and answer["code"] == "not_allowed" and self.house.token_or_none() != token
            if answer and not stale and answer["code"] not in ("busy", "no_supervisor"):
                raise Refused(answer)
            if time.monotonic() > end:
                raise AssertionError(f"no answer to {do} within {seconds} s: {answer}")
            if not answer:
                self.open()
                patience = min(2 * patience, 10)
            time.sleep(0.05)


class House:
    """agents, services: {NAME: keys}. With defaults: text of the configuration before them."""

    def __init__(self, agents=None, services=None, text=""):
        self.dir = tempfile.mkdtemp(prefix="agh-", dir="/tmp")
        os.chmod(self.dir, 0o755)
        self.home = os.path.join(self.dir, "home")
        self.config = os.path.join(self.dir, "agsup.toml")
        shutil.copytree(os.path.join(HERE, "actor"), os.path.join(self.dir, "actor"))
        self.process = None
        self.prefix = []  # words before those of agsup: what it is started by
        self.home_id = None
        self.log = open(os.path.join(self.dir, "house.log"), "ab")
        self.client = Client(self)
        self.configure(agents or {}, services or {}, text)

    def configure(self, agents, services=None, text=""):
        """Write agsup.toml; read at the next up."""
        lines = ["version = 1", text]
        for section, entries in (("agent", agents), ("service", services or {})):
            for name, keys in entries.items():
                lines.append(f"[{section}.{name}]")
                lines += [f"{key} = {toml(value)}" for key, value in keys.items()]
        with open(self.config, "w", encoding="utf-8") as file:
            file.write("\n".join(lines) + "\n")

    def __enter__(self):
        try:
            self.up()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, kind, error, trace):
        if kind and not issubclass(kind, unittest.SkipTest):
            sys.stderr.write(self.said()[-6000:])
        self.close()

    def said(self):
        """What the house has written about itself."""
        with open(self.log.name, encoding="utf-8", errors="replace") as file:
            return file.read()

    def up(self):
        """Start it and wait until it answers; what is left of one that was killed may hold the home a moment."""
        old = self.token_or_none()
        until("that the home is free", lambda: self.start(old) != 75)
        if self.process.returncode is not None:
            raise AssertionError(f"the house ended with {self.process.returncode}:\n{self.said()[-3000:]}")
        self.client.open()
        self.home_id = self.own_id()
        return self.ask("status")

    def own_id(self):
        """What its processes carry: the text of its file `id` and where this lies."""
        with open(f"{self.home}/id", encoding="ascii") as file:
            text, place = file.read(), os.stat(file.fileno())
        halves = (int(text[:16], 16) ^ place.st_dev, int(text[16:32], 16) ^ place.st_ino)
        return "".join(f"{half:016x}" for half in halves).encode()

    def start(self, old):
        """One try; its exit status, or None when it stands."""
        self.process = subprocess.Popen(
            [*self.prefix, f"{BIN}/agsup", "-c", self.config, "--home", self.home, "up"],
            stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log, start_new_session=True)
        until("a new token", lambda: self.process.poll() is not None or self.token_or_none() not in (None, old))
        return self.process.poll()

    def down(self):
        """The ordinary way; what is left of it is an error."""
        done = self.cli("down", check=False)
        until("the end of agsupd", lambda: self.process.poll() is not None)
        if done.returncode:
            raise AssertionError(f"down: {done.stdout}{done.stderr}")
        self.process = None
        if self.left():
            raise AssertionError(f"left behind: {self.left()}")

    def close(self):
        """End whatever is left and remove the folder."""
        self.client.close()
        if self.process and self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        for pid in self.left() if self.home_id else []:
            kill(pid)
        if self.home_id:  # where a house that was killed had its sockets
            shutil.rmtree(os.path.join("/run/agsup", self.home_id.decode()), ignore_errors=True)
        self.log.close()
        shutil.rmtree(self.dir, ignore_errors=True)

    def token_or_none(self):
        """None while there is no house."""
        try:
            return self.token()
        except OSError:
            return None

    def token(self):
        """That of this `up`."""
        with open(f"{self.home}/run/token", encoding="ascii") as file:
            return file.read().strip()

    def left(self):
        """Processes that carry this home's id, or name it where an ordinary user may not read what they carry."""
        return [int(pid) for pid in filter(str.isdigit, os.listdir("/proc")) if self.is_mine(pid)]

    def is_mine(self, pid):
        for name, word in ("environ", b"AGSUP_HOME_ID=" + self.home_id), ("cmdline", self.home.encode()):
            try:
                with open(f"/proc/{pid}/{name}", "rb") as file:
                    return word in file.read().split(b"\0")
            except PermissionError:
                continue
            except OSError:  # it ended meanwhile
                break
        return False

    def cli(self, *words, stdin="", check=True, seconds=PATIENCE):
        """agsup WORDS; its CompletedProcess."""
        done = subprocess.run([*self.prefix, f"{BIN}/agsup", "--home", self.home, *words], input=stdin, text=True,
                              capture_output=True, timeout=seconds, check=False)
        if check and done.returncode:
            raise AssertionError(f"agsup {' '.join(words)}: exit {done.returncode}\n{done.stdout}{done.stderr}")
        return done

    def json(self, *words, **keys):
        """The document that agsup WORDS --json prints."""
        return json.loads(self.cli("--json", *words, **keys).stdout)

    def ask(self, do, **fields):
        """One request over the one open client."""
        return self.client.ask(do, **fields)

    def tell(self, run, kind, **payload):
        """Append an event; its sequence number."""
        return int(self.ask("tell", run=run, type=kind, payload=payload)["event_id"][4:])

    def log_of(self, run, *kinds):
        """Events of a run, of some types or all."""
        events, after = [], 0
        while True:
            page = self.ask("log", run=run, after=after, limit=2000)
            events += page["events"]
            if not page["events"] or not page.get("more"):
                return [e for e in events if not kinds or e["type"] in kinds]
            after = page["events"][-1]["seq"]

    def objects(self, run, kind=None):
        """{id: data} at the tip."""
        found, after = {}, ""
        while True:
            page = self.ask("objects", run=run, **({"type": kind} if kind else {}),
                            **({"after": after} if after else {}))
            found.update({o["id"]: o["data"] for o in page["objects"]})
            after = page.get("next")
            if not after:
                return found

    def idle(self, *runs, seconds=PATIENCE):
        """Wait until the runs are idle."""
        until(f"{runs} idle", lambda: self.ask("wait", runs=list(runs), wait_ms=1000)["done"], seconds)

    def unit(self, name):
        """The row of status."""
        status = self.ask("status")
        return next(row for row in status["agents"] + status["forks"]
                    if row["name"] == name)

    def pid(self, role):
        """Process id of agsupd, supervisor, broker, or of the agent of that name; None: it has none now."""
        if role == "agsupd":
            return self.process.pid
        if role == "supervisor":
            return child_of(self.process.pid, "agsup-superviso")
        if role == "broker":
            return child_of(self.process.pid, "agsup-broker")
        return self.unit(role)["pid"]

    def kill(self, role, sig=signal.SIGKILL):
        """Kill it by its role and wait until it is gone."""
        pid = until(f"a process that is {role}", lambda: self.pid(role))
        kill(pid, sig)
        if role == "agsupd":
            self.process.wait(PATIENCE)
        else:
            until(f"the end of {role}", lambda: not is_alive(pid))
        return pid


def kill(pid, sig=signal.SIGKILL):
    """Kill a process that may have ended."""
    try:
        os.kill(pid, sig)
    except ProcessLookupError:
        pass


def is_alive(pid):
    """Neither gone nor waiting to be reaped."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def child_of(parent, name):
    """The living child of a process with that name (15 characters), or None."""
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
                head, _, rest = file.read().rpartition(")")
        except OSError:
            continue
        state, owner = rest.split()[:2]
        if int(owner) == parent and head.partition("(")[2] == name and state != "Z":
            return int(pid)
    return None


def main():
    """Run the tests of the calling file; skipped where the programs are not built."""
    if not os.access(f"{BIN}/agsupd", os.X_OK):
        print(f"skipped: no agsupd in {BIN}")
        sys.exit(77)
    unittest.main(verbosity=2)
