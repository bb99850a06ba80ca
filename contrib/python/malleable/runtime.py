# SPDX-License-Identifier: LGPL-2.1-or-later
"""What a program in Python may tell the balancer and ask it: malleable.h by ctypes, and pools of
threads that follow the CPUs. Outside a balanced step all of it does nothing. Needs no compiler and
nothing but Python; limits() needs threadpoolctl."""
import collections
import concurrent.futures
import contextlib
import ctypes
import os
import threading

ALL = 2**31 - 1

# The library is preloaded in a balanced step, and nowhere else. A short call keeps the lock of the
# interpreter; a long one gives it up.
_short, _long = ctypes.PyDLL(None), ctypes.CDLL(None)
_ChangeFunction = ctypes.CFUNCTYPE(None, ctypes.c_int, ctypes.c_void_p)


class Error(Exception):
    """A call was refused; nothing has changed. NUMBER: what it returned."""

    def __init__(self, text, number):
        super().__init__(text)
        self.number = number


_E_THREAD = -2


class _Times(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t)] + [
        (name, ctypes.c_uint64) for name in ("runs", "elapsed", "work", "idle", "serial", "mpi",
                                             "offered", "parallel_regions")]


def _nothing(*_):
    return 0


def _function(library, name, *types, result=ctypes.c_int):
    """malleable_NAME(), which raises Error where it returns a number below 0."""
    try:
        function = getattr(library, f"malleable_{name}")
    except AttributeError:
        return _nothing
    function.argtypes = types
    function.restype = result

    def call(*arguments):
        number = function(*arguments)
        if number is not None and number < 0:
            raise Error(f"{name}: {_error_text(number)}", number)
        return number
    return call


def _error_text(number):
    text = ctypes.CFUNCTYPE(ctypes.c_char_p, ctypes.c_int)(("malleable_error", _short))
    return text(number).decode()


_cpus = _function(_short, "cpus")
_owned = _function(_short, "cpus_owned")
_list = _function(_short, "cpu_list", ctypes.POINTER(ctypes.c_int), ctypes.c_int)
_changes = _function(_short, "changes", result=ctypes.c_uint)
_state = _function(_short, "state")
_phase = _function(_long, "phase", result=None)
_poll = _function(_long, "poll")
_borrow = _function(_long, "borrow", ctypes.c_int)
_return = _function(_long, "return", ctypes.c_int)
_limit = _function(_long, "limit", ctypes.c_int)
_disable = _function(_long, "disable")
_enable = _function(_long, "enable")
_begin = _function(_short, "waiting_begin", ctypes.c_int)
_end = _function(_long, "waiting_end")
_await = _function(_long, "await_change", ctypes.c_uint, ctypes.c_int)
_on_change = _function(_short, "on_change", _ChangeFunction, ctypes.c_void_p)
_on_change_remove = _function(_short, "on_change_remove", _ChangeFunction, ctypes.c_void_p)
_region = _function(_short, "region", ctypes.c_char_p)
_region_begin = _function(_short, "region_begin", ctypes.c_int)
_region_end = _function(_short, "region_end", ctypes.c_int)
_region_times = _function(_short, "region_times", ctypes.c_int, ctypes.POINTER(_Times))


def cpus():
    """How many CPUs the rank may use now; 0: this is no balanced step."""
    return _cpus()


def cpus_owned():
    """How many it owns, lent ones included."""
    return _owned()


def cpu_list():
    """The numbers of the CPUs that it may use, its own ones first."""
    size = 1024
    numbers = (ctypes.c_int * size)()
    return list(numbers[:min(_list(numbers, size), size)])


def changes():
    """A number that differs after the rank's CPUs have changed."""
    return _changes()


def await_change(seen, timeout=None):
    """Sleep until changes() is not SEEN, TIMEOUT seconds at most. Returns whether it differs."""
    return bool(_await(seen, -1 if timeout is None else int(timeout * 1000)))


def state():
    """What balancing does with this process: a set of "rank", "lends", "moves", "observed",
    "disabled"; empty outside a balanced step."""
    bits = _state()
    names = ("rank", "lends", "moves", "observed", "disabled")
    return {name for bit, name in enumerate(names) if bits >> bit & 1}


def phase():
    """The end of a round of computing and exchanging: the rank's CPUs may change here."""
    _phase()


def poll():
    """Call what on_change() was given, if the number of CPUs has changed; returns that number."""
    return _poll()


def borrow(most=ALL):
    """The rank has work for MOST CPUs in all, its own included, from now on. Returns cpus()."""
    return _borrow(most)


def give_back(keep=0):
    """It needs KEEP at most: return borrowed ones beyond that. Returns cpus()."""
    return _return(keep)


def limit(most):
    """It can use MOST at most; 0: any number. Returns cpus()."""
    return _limit(most)


class _Handle:
    """What on_change() returns: remove() ends the calls."""

    def __init__(self, function):
        self._c_function = _ChangeFunction(lambda number, _: function(number))
        _on_change(self._c_function, None)

    def remove(self):
        _on_change_remove(self._c_function, None)


def on_change(function):
    """Have FUNCTION(cpus) called, in phase(), poll() and the like, when the number has changed.
    Keep the handle that is returned for as long as that is wanted."""
    return _Handle(function)


@contextlib.contextmanager
def waiting(polls=False):
    """This thread waits outside MPI: its rank lends its CPUs meanwhile. POLLS: it does not sleep,
    and keeps its CPU. Yields how many CPUs the rank lends if the wait is long."""
    offered = _begin(int(polls))
    try:
        yield offered
    finally:
        _end()


@contextlib.contextmanager
def borrowing(most=ALL):
    """The rank has work for MOST CPUs in here. Yields cpus()."""
    number = _borrow(most)
    try:
        yield number
    finally:
        _return(0)


@contextlib.contextmanager
def disabled():
    """The rank neither lends, borrows nor gives a CPU away in here."""
    _disable()
    try:
        yield
    finally:
        _enable()


@contextlib.contextmanager
def region(name):
    """A part of the program: the report has a line for it. For with statements, and to decorate
    functions. On another thread than the primary one it measures nothing."""
    begun = 0
    try:
        number = _region(name.encode())
        _region_begin(number)
        begun = number
    except Error as error:
        if error.number != _E_THREAD:
            raise
    try:
        yield
    finally:
        if begun:
            _region_end(begun)


def times(name=None):
    """What the rank did in a region so far; without NAME: since it became a rank. Seconds, but for
    "runs" and "parallel_regions"; all 0 outside a balanced step."""
    what = _Times(ctypes.sizeof(_Times))
    _region_times(_region(name.encode()) if name else 0, what)
    return {field: getattr(what, field) * (1 if field in ("runs", "parallel_regions") else 1e-9)
            for field, _ in _Times._fields_[1:]}


def efficiency(name=None):
    """The part of its time on its CPUs in which the rank computed, so far: "parallel" is "mpi"
    times "openmp"; None: not known. Above 1 where it had CPUs of others."""
    what, number = times(name), cpus_owned()
    outside = (what["elapsed"] - what["mpi"]) * number
    if outside <= 0:
        return {"parallel": None, "mpi": None, "openmp": None}
    useful = what["work"] + what["serial"]
    return {"parallel": useful / (what["elapsed"] * number),
            "mpi": outside / (what["elapsed"] * number), "openmp": useful / outside}


@contextlib.contextmanager
def limits():
    """threadpoolctl's limit for all libraries (BLAS, OpenMP) follows the rank's CPUs in here: from
    each phase() and poll() on it is what cpus() is then."""
    import threadpoolctl  # pylint: disable=import-outside-toplevel
    if not cpus():
        yield 0
        return
    controller = threadpoolctl.ThreadpoolController()
    with controller.limit(limits=cpus()):
        handle = on_change(lambda number: controller.limit(limits=number))
        try:
            yield cpus()
        finally:
            handle.remove()


class ThreadPool(concurrent.futures.Executor):
    """A pool of MOST threads, of which as many work as the rank has CPUs; outside a balanced step
    all. While there is work for more, the rank borrows."""

    def __init__(self, most=None):
        self._most = most or os.cpu_count() or 1
        self._work = collections.deque()
        self._state = threading.Condition()
        self._closed = False
        self._wish = 0
        self._unfinished = 0
        self._threads = [threading.Thread(target=self._serve, args=(number,), daemon=True)
                         for number in range(self._most)]
        for thread in self._threads:
            thread.start()
        if cpus():
            threading.Thread(target=self._follow, daemon=True).start()

    def _allowed(self):
        return cpus() or self._most

    def _follow(self):
        """Wake the threads when the rank's CPUs have changed."""
        while not self._closed:
            await_change(changes(), 1)
            with self._state:
                self._state.notify_all()

    def _serve(self, number):
        while True:
            with self._state:
                while not (self._work and number < self._allowed()):
                    if self._closed and not self._work:
                        return
                    self._state.wait()
                future, call = self._work.popleft()
                if self._closed and not self._work:
                    self._state.notify_all()
            if future.set_running_or_notify_cancel():
                try:
                    future.set_result(call())
                except BaseException as error:  # pylint: disable=broad-exception-caught
                    future.set_exception(error)
            with self._state:
                self._unfinished -= 1

    def _want(self, most):
        """Tell the rank's need where it has changed."""
        if most != self._wish:
            self._wish = most
            with contextlib.suppress(Error):
                borrow(most) if most > 1 else give_back()

    def submit(self, function, /, *arguments, **keywords):
        future = concurrent.futures.Future()
        with self._state:
            if self._closed:
                raise RuntimeError("the pool is shut down")
            self._work.append((future, lambda: function(*arguments, **keywords)))
            self._state.notify_all()
            self._unfinished += 1
            most = min(self._most, self._unfinished)
        if most > max(self._wish, cpus()):
            self._want(most)
        return future

    def shutdown(self, wait=True, *, cancel_futures=False):
        with self._state:
            self._closed = True
            if cancel_futures:
                while self._work:
                    self._work.popleft()[0].cancel()
                    self._unfinished -= 1
            self._state.notify_all()
        if wait:
            for thread in self._threads:
                thread.join()
        self._want(0)
