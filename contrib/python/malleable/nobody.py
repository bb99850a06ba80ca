# SPDX-License-Identifier: LGPL-2.1-or-later
"""Root opens files of users, and a child that has given up root reads what is in them: the system's
user malleable where there is one, else nobody. Other processes of that user may stop or kill it,
which is said, but neither trace it nor change its limits."""
from __future__ import annotations

import ctypes
import errno
import os
import pwd
import select
import signal
import socket
from typing import Callable, Iterator

from .files import Failure, failing

# How long the child may take for one file.
READ_S = 60
# Accounts of people have larger numbers: one of them may be called as ours is.
SYSTEM_UID_MAX = 999
# It was an error once, as -1 in 16 bits: it is given to no one.
NO_GROUP = 65535
NOBODY = 65534
PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_NO_NEW_PRIVS = 1, 4, 38


def patience_s() -> float:
    """READ_S, or as many times as long as MALLEABLE_PATIENCE says."""
    text = os.environ.get("MALLEABLE_PATIENCE", "1")
    if not text.isascii() or not text.isdigit() or not 1 <= int(text[:9]) <= 1000:
        raise Failure(f"MALLEABLE_PATIENCE={text[:32]}: must be a number from 1 to 1000", 2)
    return READ_S * int(text)


def _user() -> tuple[int, int]:
    for name in ("malleable", "nobody"):
        try:
            user = pwd.getpwnam(name)
        except KeyError:
            continue
        if name == "nobody" or 0 < user.pw_uid <= SYSTEM_UID_MAX:
            return user.pw_uid, user.pw_gid
    return NOBODY, NOBODY


def _prctl(option: int, value: int) -> None:
    prctl = ctypes.CDLL(None, use_errno=True).prctl
    if prctl(option, *(ctypes.c_ulong(word) for word in (value, 0, 0, 0))) < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def _give_up_root(uid: int, gid: int, parent: int) -> None:
    # prlimit(2) wants the caller's group to be all three of the other's, which no group is. Else a
    # process of that user could make us miss files: by limits of descriptors, memory.
    os.setgroups([])
    os.setresgid(gid, gid, NO_GROUP)
    os.setresuid(uid, uid, uid)
    # Nor may it look at what root opened (fs.suid_dumpable).
    _prctl(PR_SET_DUMPABLE, 0)
    # It must not go on without us, and print what a part of the files adds up to.
    _prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)
    _prctl(PR_SET_NO_NEW_PRIVS, 1)


def _ready(end: socket.socket, to_write: bool, what: str) -> None:
    ends = [end]
    if not any(select.select([] if to_write else ends, ends if to_write else [], [],
                             patience_s())):
        raise Failure(f"{what}: {os.strerror(errno.ETIMEDOUT)}")


def receive_files(end: socket.socket) -> Iterator[tuple[str, int]]:
    """In the child: each file's name and descriptor."""
    while True:
        _ready(end, False, "a report did not come")
        with failing("a report did not come"):
            name, files, flags, _ = socket.recv_fds(end, 4096, 1)
            if flags & socket.MSG_CTRUNC:
                raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))
        if not name:
            return
        yield os.fsdecode(name), files[0] if files else -1


def _send(end: socket.socket, files: Iterator[tuple[str, int]]) -> None:
    for name, fd in files:
        try:
            _ready(end, True, "cannot hand on a report")
            with failing("cannot hand on a report"):
                socket.send_fds(end, [os.fsencode(name)], [fd] if fd >= 0 else [])
        finally:
            if fd >= 0:
                os.close(fd)


def _status(child: int) -> int:
    _, status = os.waitpid(child, os.WUNTRACED)
    if os.WIFEXITED(status):
        return os.WEXITSTATUS(status)
    if os.WIFSTOPPED(status):
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    raise Failure("the process that reads the files was stopped or killed")


def send_files(files: Iterator[tuple[str, int]], act: Callable[[socket.socket], int]) -> int:
    """Call ACT in the child, with its end of the socket over which FILES come. The exit status."""
    patience_s()
    uid, gid = _user()
    parent = os.getpid()
    # Where whoever started us ignores it, there is nothing to wait for.
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    with failing("cannot start a reader"):
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        child = os.fork()
    if child == 0:
        _be_child(ours, theirs, lambda: _give_up_root(uid, gid, parent), act)
    theirs.close()
    try:
        _send(ours, files)
    except BaseException as failure:  # An interrupt is one, too.
        # It must not print what only some of them add up to; where it is gone, it has said why.
        os.kill(child, signal.SIGKILL)
        if not isinstance(failure.__cause__, (BrokenPipeError, ConnectionResetError)):
            os.waitpid(child, 0)
            raise
    finally:
        ours.close()
    return _status(child)


def _be_child(ours: socket.socket, theirs: socket.socket, give_up: Callable[[], None],
              act: Callable[[socket.socket], int]) -> None:
    status = 1
    try:
        # Else we would not see root's end close.
        ours.close()
        # Where it can write no line, it is not to go on.
        signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
        # Into root's terminal input could be injected, and it could stop us.
        os.setsid()
        give_up()
        status = act(theirs)
    except OSError as error:
        os.write(2, f"malleable-acct: cannot give up root: {error.strerror}\n".encode())
    except MemoryError:
        os.write(2, b"malleable-acct: out of memory\n")
    finally:
        os._exit(status)
