#!/usr/bin/env python3
"""condition - run a command on a machine that lacks something: condition.py WORD... -- COMMAND.

user        as an ordinary user (65534), without groups
nouserns    user namespaces are refused, as by many containers: clone and unshare say EPERM, clone3 ENOSYS
nolandlock  a kernel without Landlock: its system calls say ENOSYS

What is refused is refused by a filter that everything below inherits; nothing of the machine is changed.
SPDX-License-Identifier: Apache-2.0
"""
import ctypes
import errno
import os
import struct
import sys

USER = 65534
NEWUSER = 0x10000000
CLONE, UNSHARE, CLONE3, LANDLOCK = 56, 272, 435, (444, 445, 446)  # x86-64
LIBC = ctypes.CDLL(None, use_errno=True)


def code(op, k, yes=0, no=0):
    """One instruction of classic BPF."""
    return struct.pack("HBBI", op, yes, no, k)


def load(offset):
    return code(0x20, offset)


def refuse(number):
    return code(0x06, 0x00050000 | number)


ALLOW = code(0x06, 0x7FFF0000)


def install(program):
    """The filter is in force for this process and all that come of it."""
    text = b"".join(program)
    buffer = ctypes.create_string_buffer(text, len(text))
    argument = struct.pack("HxxxxxxQ", len(program), ctypes.addressof(buffer))
    if LIBC.prctl(38, 1, 0, 0, 0) or LIBC.prctl(22, 2, argument, 0, 0):
        raise OSError(ctypes.get_errno(), "no filter")


def without(numbers, error):
    """These calls answer with an error."""
    tests = [code(0x15, n, len(numbers) - 1 - i + 1, 0) for i, n in enumerate(numbers)]
    install([load(0), *tests, ALLOW, refuse(error)])


def main():
    words, command = sys.argv[1:sys.argv.index("--")], sys.argv[sys.argv.index("--") + 1:]
    if os.uname().machine != "x86_64" and set(words) - {"user"}:
        sys.exit(77)
    if "user" in words and os.geteuid() == 0:
        os.setgroups([])
        os.setgid(USER)
        os.setuid(USER)
    if "nouserns" in words:
        for number in (CLONE, UNSHARE):  # the flags are the first argument of both
            install([load(0), code(0x15, number, 0, 2), load(16), code(0x45, NEWUSER, 1, 0), ALLOW,
                     refuse(errno.EPERM)])
        without([CLONE3], errno.ENOSYS)
    if "nolandlock" in words:
        without(LANDLOCK, errno.ENOSYS)
    os.execv(command[0], command)


if __name__ == "__main__":
    main()
