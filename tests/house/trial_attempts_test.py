"""Attempts of candidates to get out, to stay, or to starve others: each comes to a defined outcome and to nothing else.
SPDX-License-Identifier: Apache-2.0
"""
import json
import os
import time

from house import main
from trials import TrialCase


MAKE = "ops.append({{'op': 'add_object', 'type': '{}', 'data': {{}}}})"


class Attempts(TrialCase):
    """Section 7.7 of the cases; what is Lua's alone stands in worker/hostile_test.c."""

    def setUp(self):
        super().setUp()
        self.supervisor = self.house.pid("supervisor")

    def attempt(self, report, outcomes=("completed", "crashed", "limits_exceeded")):
        self.assertIn(report["outcome"], outcomes)
        self.assertEqual(self.house.pid("supervisor"), self.supervisor)

    def any_outcome(self, pack, *words, **keys):
        done = self.house.cli("--json", *self.words(pack, *words, **keys), check=False)
        return json.loads(done.stdout)

    def test_7_7_attempts_in_lua(self):
        for body in ('return ("x"):rep (1e9)',
                     'return (("a"):rep (30)):find (("a?"):rep (30) .. ("a"):rep (30))',
                     "local function f () return f () + 1 end return f ()",
                     "local t = {} setmetatable (t, { __index = function (_, k) return t[k + 1] end }) return t[1]",
                     'return package.loadlib ("libc.so.6", "system")', 'return os.execute ("true")',
                     'return io.open ("/etc/passwd")', 'return load ("\\27Lua")'):
            report = self.any_outcome(self.lua(body), "--wall", "3", "--memory", str(64 << 20))
            if report["outcome"] == "materialization_failed":  # refused before it ran
                self.assertIn(": absent: ", report["detail"])
            else:
                self.attempt(report)

    def test_7_7_attempts_of_a_program(self):
        """What was tried was reached, and what stands behind it was not; without anything to stop it both are."""
        home = self.house.home
        for code in ("pass",
                     "open('/proc/%d/mem' % os.getppid(), 'rb').read(1)",
                     "open('/proc/%d/environ' % os.getppid(), 'rb').read(1)",
                     "os.kill(os.getppid(), 9)",
                     "socket.create_connection(('127.0.0.1', 1), 1)",
                     "socket.socket(socket.AF_INET, socket.SOCK_DGRAM)",
                     f"os.listdir({home!r})",
                     f"socket.socket(1).connect({home!r} + '/run/client.sock')",
                     "open('/tmp/planted', 'w')", "open(here + '/../planted', 'w')", "open('/dev/shm/planted', 'w')",
                     "os.chroot('/')", "os.setuid(0)", "os.open('/proc/1/root/etc/shadow', os.O_RDONLY)"):
            tried = (f"import socket\nprint('reached', file=sys.stderr)\n{MAKE.format('reached')}\n"
                     f"try:\n    {code}\n    {MAKE.format('behind')}\nexcept OSError: pass")
            report = self.any_outcome(self.program(), "--program", "run.py", "--wall", "10", scenario=self.code(tried))
            self.attempt(report, ("completed", "crashed"))
            if report["outcome"] == "crashed":
                self.assertEqual(report["stderr_tail"].splitlines()[0], "reached", code)
            made = [thing.partition("#")[0] for thing in self.house.objects(report["fork_run_id"])]
            self.assertEqual(made, {"pass": ["behind", "reached"]}.get(
                code, ["reached"] if report["outcome"] == "completed" else []), code)

    def test_7_7_attempts_to_stay_or_to_starve_others(self):
        for code in ("while True:\n    try: os.fork()\n    except OSError: pass",
                     "import threading\nwhile True: threading.Thread(target=time.sleep, args=(600,)).start()",
                     "os.fork() or os.setsid() or os.fork() or time.sleep(600)",
                     "for s in (1, 2, 3, 15, 24): signal.signal(s, signal.SIG_IGN)\nwhile True: pass",
                     "[open(here + f'/n{i}', 'w').close() for i in range(30000)]",
                     "l = []\nwhile True: l.append(open('/dev/null'))",
                     "os.killpg(0, 19)", "os.nice(-20)"):
            begin = time.monotonic()
            self.attempt(self.any_outcome(self.program(), "--program", "run.py", "--wall", "3",
                                          scenario=self.code(code)))
            self.assertLess(time.monotonic() - begin, 25, code)
        code = "signal.signal(25, signal.SIG_DFL)\nf = open(here + '/big', 'wb')\nwhile True: f.write(bytes(1 << 20))"
        report = self.any_outcome(self.program(), "--program", "run.py", "--wall", "20", scenario=self.code(code))
        self.assertEqual((report["outcome"], report["net"]), ("limits_exceeded", "file_size"))

    def test_7_7_attempts_of_a_native_candidate(self):
        for source in ("char *p = malloc (4ull << 30); if (p) memset (p, 1, 4ull << 30);",
                       "for (;;) fork ();", "for (;;) ;",
                       "for (;;) raise (SIGTSTP);",
                       "close (0); close (1); close (2); for (int i = 0; i < 99; i++) dup (3);",
                       "unsigned char b[] = {0xb8, 37, 0, 0, 0, 0xcd, 0x80, 0xc3}; ((void (*) (void))b) ();",
                       "kill (getppid (), SIGKILL); abort ();"):
            report = self.any_outcome(self.native(source), "--program", "bin/run", "--wall", "3")
            self.attempt(report, ("crashed", "limits_exceeded"))


if __name__ == "__main__":
    main()
