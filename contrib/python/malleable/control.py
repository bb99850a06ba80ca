# SPDX-License-Identifier: LGPL-2.1-or-later
"""See and change balanced steps on this node, as malleable status and malleable set do:
malleable_control.h by ctypes. Needs nothing but Python."""
import ctypes
import functools
import glob
import json
import os
import shutil

NAME = "libmalleable_control.so.1"
ALL_RANKS = -1


class _Step(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("name", ctypes.c_char_p), ("socket", ctypes.c_char_p),
                ("uid", ctypes.c_uint), ("gid", ctypes.c_uint)]


_Found = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(_Step), ctypes.c_void_p)


class Error(Exception):
    """A call failed, and nothing has changed: NUMBER is one of enum malleable_control_error."""

    def __init__(self, number, message):
        super().__init__(message)
        self.number = number


@functools.lru_cache(maxsize=None)
def _library():
    """The library where the linker finds it, or beside the command malleable."""
    command = shutil.which("malleable")
    prefix = os.path.dirname(os.path.dirname(os.path.realpath(command))) if command else "/usr"
    for name in [NAME, *glob.glob(f"{prefix}/lib*/{NAME}"), *glob.glob(f"{prefix}/lib*/*/{NAME}")]:
        try:
            library = ctypes.CDLL(name)
        except OSError:
            continue
        library.malleable_control_message.restype = ctypes.c_char_p
        return library
    raise OSError(f"{NAME} is not here: is malleable installed, and in PATH?")


def _checked(number, handle=None):
    if number < 0:
        raise Error(number, _library().malleable_control_message(handle).decode())
    return number


def steps():
    """The names of the caller's balanced steps on this node (for root: of all users)."""
    names = []

    def found(step, _argument):
        if step.contents.name:
            names.append(step.contents.name.decode())
        return 0
    _checked(_library().malleable_control_steps(_Found(found), None))
    return names


class Step:
    """A balanced step of the caller's; without NAME the one in which the caller runs."""

    def __init__(self, name=None):
        self._handle = ctypes.c_void_p()
        _checked(_library().malleable_control_open(name.encode() if name else None,
                                                   ctypes.byref(self._handle)))

    def close(self):
        """Orders that are held end. The step can be used no more."""
        if self._handle:
            _library().malleable_control_close(self._handle)
            self._handle = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def _call(self, name, *arguments):
        if not self._handle:
            raise ValueError("the step is closed")
        function = getattr(_library(), f"malleable_control_{name}")
        return _checked(function(self._handle, *arguments), self._handle)

    def status(self):
        """What malleable status --json prints, as a dict."""
        text = ctypes.c_void_p()
        self._call("status", ctypes.byref(text))
        try:
            return json.loads(ctypes.string_at(text))
        finally:
            _library().malleable_control_free(text)

    # pylint: disable=too-many-arguments
    def set(self, rank=ALL_RANKS, *, cpus=None, count=None, least=0, most=0, wait=None):
        """Order CPUS (a list as text, such as "0-3,8") or their number for RANK. WAIT: so many
        seconds for them; returns whether they have come."""
        if cpus is not None:
            self._call("set_cpus", rank, cpus.encode())
        else:
            self._call("set_count", rank, count or least, count or most)
        return wait is None or self.wait(wait)

    def set_many(self, orders):
        """Orders for several ranks, of which all hold or none: {0: 3, 1: "4-7"}, a number of CPUs
        or a list."""
        lines = [f"{rank} {'count' if isinstance(what, int) else 'cpus'}={what}"
                 for rank, what in orders.items()]
        self._call("set_many", "\n".join(lines).encode())

    def free(self, rank=ALL_RANKS):
        """Remove the orders for RANK."""
        self._call("free_orders", rank)

    def set_policy(self, policy):
        """Change the policy; as in srun --balance."""
        self._call("set_policy", policy.encode())

    def wait(self, timeout=None):
        """Wait until all CPUs have arrived, TIMEOUT seconds at most. Returns whether they have."""
        return self._call("await", -1 if timeout is None else int(timeout * 1000)) > 0

    def hold(self):
        """Orders given from now on end with close() or this process."""
        self._call("hold")

    def events_fd(self):
        """A descriptor from which events come, a line of JSON each; the caller closes it."""
        return self._call("events")

    def events(self):
        """Events as dicts, until the step has ended."""
        with open(self.events_fd(), encoding="utf-8") as lines:
            yield from map(json.loads, lines)
