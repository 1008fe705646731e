"""Attempts of candidates to get out, to stay, or to starve others: each comes to a defined outcome and to nothing else.
SPDX-License-Identifier: Apache-2.0
"""
import json
import os
import shutil
import subprocess
import time

from house import main
from trials import TrialCase


#  A library that asks for a socket and for the token before main is reached, without the C library, and says what it got.
LIBRARY = """
static long call (long n, long a, long b, long c)
{
    long r;
    __asm__ volatile ("syscall" : "=a" (r) : "a" (n), "D" (a), "S" (b), "d" (c) : "rcx", "r11", "memory");
    return r;
}
static void tries (char who)
{
    long socket = call (41, 2, 2, 0), token = call (2, (long)"TOKEN", 0, 0);
    char said[] = {who, ' ', socket < 0 ? '0' - socket : '+', ' ', token == -13 ? 'n' : token < 0 ? '?' : '+', '\\n'};
    call (1, 2, (long)said, sizeof said);
}
static void nothing (void) {}
static void *resolve (void) { tries ('r'); return nothing; }
void resolved (void) __attribute__ ((ifunc ("resolve")));
__attribute__ ((constructor)) static void construct (void) { tries ('c'); }
"""
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
                     "time.clock_settime(0, time.time())",
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

    def test_7_7_a_candidate_that_makes_fifos_of_its_files_keeps_nobody_waiting(self):
        """35; those that lie in a pack: test_55 of trial_test.py."""
        self.attempt(self.run_program(self.program(), scenario=self.code(
            "for name in ('manifest.toml', 'load.py', 'run.py'):\n"
            "    os.unlink(f'{here}/{name}')\n    os.mkfifo(f'{here}/{name}')")))

    def test_7_7_attempts_of_a_native_candidate(self):
        for source, signals in {
                "char *p = malloc (4ull << 30); if (p) memset (p, 1, 4ull << 30);": (None,),
                "for (;;) fork ();": (9,), "for (;;) ;": (9,), "for (;;) raise (SIGTSTP);": (9,),
                "close (0); close (1); close (2); for (int i = 0; i < 99; i++) dup (3);": (None,),
                '__asm__ volatile ("int $0x80" : : "a" (20)); abort ();': (31, 11),  # by seccomp, or none is there
                "kill (getppid (), SIGKILL); abort ();": (6,)}.items():
            report = self.any_outcome(self.native(source), "--program", "bin/run", "--wall", "3")
            self.attempt(report, ("crashed", "limits_exceeded"))
            self.assertIn(report["signal"], signals, source)

    def test_7_7_what_a_library_does_before_main(self):
        """24 to 26: it does so behind seccomp (1) and in no reach of the token; a library that is no part of the pack's
        bytes is not there."""
        if os.uname().machine != "x86_64":
            self.skipTest("needs x86-64")
        library = self.compiled("libplanted.so", LIBRARY.replace("TOKEN", f"{self.house.home}/run/token"), "-shared", "-fPIC")
        flags = ("-L" + os.path.dirname(library), "-lplanted", "-Wl,-z,now,-rpath,$ORIGIN:$ORIGIN/.hidden")
        candidate = self.native("extern void resolved (void); resolved ();", *flags, **{"bin/libplanted.so": library})
        free = subprocess.run([os.path.join(os.path.dirname(library), "run")], capture_output=True, text=True, check=True)
        self.assertEqual(sorted(free.stderr.split("\n")), ["", "c + +", "r + +"])
        report = self.trial(candidate, "--program", "bin/run", outcome="crashed")
        self.attempt(report)
        self.assertEqual(sorted(report["stderr_tail"].split("\n")), ["c 1 n", "r 1 n"])
        candidate = self.native("extern void resolved (void); resolved ();", *flags)
        os.mkdir(f"{candidate.dir}/bin/.hidden")
        shutil.copy(library, f"{candidate.dir}/bin/.hidden")
        report = self.trial(candidate, "--program", "bin/run", outcome="crashed")
        self.attempt(report)
        self.assertIn("libplanted.so: cannot open shared object file", report["stderr_tail"])


if __name__ == "__main__":
    main()
