# SPDX-License-Identifier: LGPL-2.1-or-later
"""Reads a trace of srun --balance-trace (doc/trace.md), trusting none of its lines."""
from __future__ import annotations

import array
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, BinaryIO

from .files import Failure, input_file, printable

if TYPE_CHECKING:
    import pandas

# As in libmalleable/trace/trace_reader.c: of a line; of objects and lists in it; ranks and CPUs.
LINE_BYTES = 1 << 20
MAX_RANKS = MAX_CPUS = 1024
MAX_REGIONS = 2048  # named ones, in a line
PARTS = 2 * MAX_RANKS + MAX_REGIONS + 64
MAX_SECONDS, MIN_SECONDS = 3.2e7, 1e-9
KIND_BYTES = 256
TIMES = ("elapsed_s", "work_s", "serial_s", "mpi_s", "barrier_s", "region_s", "phases")
COUNTS = ("cpus", "most", "team")
REGION_TIMES = TIMES[:4]
MAX_BORROWED = 2048  # uses of CPUs by ranks that do not own them, in a line
MAX_PAGES = 16384  # numbers of pages, in a line
MAX_NODES = 1024


@dataclass
class Trace:
    """A step on one node, as tables: windows are numbered from 1."""

    path: str
    step: str = ""
    node: str = ""
    policy: str = ""
    ranks: int = 0
    cpus: list[int] = field(default_factory=list)  # their numbers on the node
    places: dict[str, list[int]] = field(default_factory=dict)  # l3, numa, package of each CPU
    cut: bool = False  # the last line is not finished: the step was killed
    windows: "pandas.DataFrame" = None  # begin_s, end_s, elapsed_s
    owners: "pandas.DataFrame" = None  # by window and CPU: the rank that owned it, -1: none
    samples: "pandas.DataFrame" = None  # window, rank, and what that rank did in it
    # By window and CPU: the seconds that it was busy for its owner, NaN: not known; and window, cpu
    # (a place in cpus), rank, and busy_s for a rank that did not own it.
    busy: "pandas.DataFrame" = None
    borrowed: "pandas.DataFrame" = None
    # window, rank, NUMA node, and how many of the pages that the rank looked at were there: all of
    # a rank's whose numbers are others than before.
    pages: "pandas.DataFrame" = None
    regions: "pandas.DataFrame" = None  # window, rank, name, and what it did in that named region

    def tells_use(self) -> bool:
        """Whether it has how busy each CPU was."""
        return bool(self.busy.notna().to_numpy().any())


class _Wrong(Exception):
    pass


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        raise ValueError("a name appears twice")
    return members


def _no_constant(text: str) -> None:
    raise ValueError(f"{text} is no number")


def parse(text: bytes) -> Any:
    """JSON, strictly. Raises ValueError."""
    try:
        value = json.loads(text.decode(), object_pairs_hook=_unique, parse_constant=_no_constant)
        if b"\\u" in text:
            # Half a character.
            json.dumps(value, ensure_ascii=False).encode()
        return value
    except json.JSONDecodeError as error:
        raise ValueError(f"{error.msg} at column {error.colno}") from error
    except UnicodeError as error:
        raise ValueError("it is no UTF-8") from error
    except RecursionError as error:
        raise ValueError("it is too deep") from error


def _text(value: Any) -> str:
    return printable(value)[:63] if isinstance(value, str) else ""


def _numbers(values: Any, count: int, least: int, limit: int, what: str) -> list[int]:
    """Exactly COUNT whole numbers from LEAST to below LIMIT."""
    if not isinstance(values, list) or len(values) != count or not all(
            type(value) is int and least <= value < limit for value in values):
        raise _Wrong(what)
    return values


def _triples(line: dict, name: str, most: int, limits: tuple[int, int, int],
             what: str) -> list[int]:
    """Up to MOST times three whole numbers below these limits."""
    values = line.get(name, [])
    count = len(values) if isinstance(values, list) else 1
    if count % 3 or count // 3 > most:
        raise _Wrong(what)
    for index, limit in enumerate(limits):
        _numbers(values[index::3], count // 3, 0, limit, what)
    return values


def _seconds(line: dict, name: str) -> float:
    """Times that no clock shows are none; -1: it is no time."""
    value = line.get(name)
    if type(value) not in (int, float) or not 0 <= value < MAX_SECONDS:
        return -1
    return 0.0 if value < MIN_SECONDS else float(value)


def _count(line: dict, name: str) -> int:
    value = line.get(name)
    return value if type(value) is int and 0 <= value <= 65536 else -1


class _Reader:
    """Columns of numbers, a few bytes each: a trace takes as much memory as it says much."""

    def __init__(self, path: str):
        self.trace = Trace(path)
        self.windows = {name: array.array("d") for name in ("begin_s", "end_s", "elapsed_s")}
        self.owners = array.array("h")
        self.busy = array.array("h")
        self.borrowed = {name: array.array("l") for name in ("window", "cpu", "rank", "part")}
        self.pages = {name: array.array("l") for name in ("window", "rank", "node", "pages")}
        self.samples = {name: array.array("l") for name in ("window", "rank", *COUNTS)}
        self.samples.update((name, array.array("d")) for name in TIMES)
        self.regions: dict[str, Any] = {name: array.array("l") for name in ("window", "rank")}
        self.regions.update(name=[], **{name: array.array("d") for name in REGION_TIMES})
        self.names: dict[str, str] = {}
        self.end_s = 0.0

    def step(self, line: dict) -> None:
        trace, ranks, cpus = self.trace, line.get("ranks"), line.get("cpus")
        version = line.get("version")
        if type(version) is not int or version != 1:
            raise _Wrong("not a trace of version 1")
        if type(ranks) is not int or not 1 <= ranks <= MAX_RANKS or \
                not isinstance(cpus, list) or not 1 <= len(cpus) <= MAX_CPUS:
            raise _Wrong("number of ranks or CPUs out of range")
        trace.step, trace.node, trace.policy = (
            _text(line.get(name)) for name in ("step", "node", "policy"))
        trace.ranks = ranks
        places = {name: _numbers(line.get(name), len(cpus), 0, 1 << 24,
                                 "the number of places is not that of CPUs")
                  for name in ("cpus", "l3", "numa", "package")}
        trace.cpus = places.pop("cpus")
        trace.places = places

    def window(self, line: dict) -> None:
        elapsed_s = _seconds(line, "elapsed_s")
        if elapsed_s < 0:
            raise _Wrong("the window's length is missing or out of range")
        owners = _numbers(line.get("owner"), len(self.trace.cpus), -1, self.trace.ranks,
                          "the number of owners is not that of CPUs")
        busy, borrowed = self.busy_parts(line)
        pages = _triples(line, "pages", MAX_PAGES, (self.trace.ranks, MAX_NODES, 65537),
                         "where pages are is out of range")
        ranks = line.get("ranks")
        if not isinstance(ranks, list):
            raise _Wrong("the ranks are missing")
        samples = [self.sample(item) for item in ranks]
        if len({sample[0] for sample in samples}) < len(samples):
            raise _Wrong("a rank does not exist, or appears twice")
        # When it was written is a little later, or not known.
        self.end_s = max(self.end_s + elapsed_s, _seconds(line, "at_s"))
        for name, value in zip(self.windows, (self.end_s - elapsed_s, self.end_s, elapsed_s)):
            self.windows[name].append(value)
        self.owners.extend(owners)
        self.busy.extend(busy)
        number = len(self.windows["end_s"])
        for columns, values in ((self.borrowed, borrowed), (self.pages, pages)):
            for index in range(0, len(values), 3):
                for column, value in zip(columns.values(), (number, *values[index:index + 3])):
                    column.append(value)
        for sample in sorted(samples):
            for name, value in zip(self.samples, (number, *sample)):
                self.samples[name].append(value)
        for item in sorted(ranks, key=lambda item: item["rank"]):
            self.named(number, item["rank"], item.get("regions", {}))

    def busy_parts(self, line: dict) -> tuple[list[int], list[int]]:
        """In thousandths of the window: for the owners, -1: not known; and CPU, rank, part."""
        what, cpus = "how busy CPUs were is out of range", len(self.trace.cpus)
        busy = line.get("busy", [-1] * cpus)
        if "busy" in line:
            _numbers(busy, cpus, 0, 1001, what)
        return busy, _triples(line, "borrowed", MAX_BORROWED, (cpus, self.trace.ranks, 1001), what)

    def more_ranks(self, line: dict) -> None:
        """Ranks that came later."""
        ranks = line.get("ranks")
        if type(ranks) is not int or not self.trace.ranks < ranks <= MAX_RANKS:
            raise _Wrong("number of ranks out of range")
        self.trace.ranks = ranks

    def named(self, window: int, rank: int, regions: Any) -> None:
        """What RANK did in named regions. Each name is kept once."""
        if not isinstance(regions, dict):
            raise _Wrong("a rank's regions are wrong")
        for name, times in regions.items():
            if not isinstance(times, list) or len(times) != len(REGION_TIMES):
                raise _Wrong("a rank's regions are wrong")
            seconds = [_seconds({"s": value}, "s") for value in times]
            if min(seconds) < 0:
                raise _Wrong("a rank's regions are wrong")
            name = _text(name)
            row = (window, rank, self.names.setdefault(name, name), *seconds)
            for column, value in zip(self.regions.values(), row):
                column.append(value)

    def sample(self, item: Any) -> tuple:
        """In the order of self.samples, without the window."""
        if not isinstance(item, dict) or not 0 <= _count(item, "rank") < self.trace.ranks:
            raise _Wrong("a rank does not exist, or appears twice")
        times = [_seconds(item, name) for name in TIMES]
        counts = [_count(item, name) for name in COUNTS]
        if min(times) < 0:
            raise _Wrong("a rank's times are missing or out of range")
        if min(counts) < 0:
            raise _Wrong("a rank's numbers are missing or out of range")
        return (item["rank"], *counts, *times)

    def line(self, number: int, text: bytes) -> bool:
        """False: the first line is none of a trace."""
        if text.count(b"{") + text.count(b"[") > PARTS:
            raise _Wrong("it has too many parts")
        try:
            line = parse(text)
        except ValueError as error:
            if number == 1:
                return False
            raise _Wrong(str(error)) from error
        kind = line.get("type") if isinstance(line, dict) else None
        if not isinstance(kind, str):
            if number == 1:
                return False
            raise _Wrong("it has no type")
        if (number == 1) != (kind == "step"):
            raise _Wrong("the first line, and only it, describes the step")
        # Others say what was decided then.
        read = {"step": self.step, "window": self.window, "ranks": self.more_ranks}.get(kind)
        if read:
            read(line)
        return True

    def lines(self, file: BinaryIO) -> None:
        number = 0
        while text := file.readline(LINE_BYTES):
            number += 1
            self.trace.cut = not text.endswith(b"\n")
            try:
                if not self.trace.cut:
                    if not self.line(number, text):
                        self.name_kind(text + file.read(max(KIND_BYTES - len(text), 0)))
                elif len(text) == LINE_BYTES:
                    raise _Wrong("it is too long")
            except _Wrong as wrong:
                raise Failure(f"{self.trace.path}: line {number}: {wrong}") from wrong
        if not self.windows["end_s"]:
            raise Failure(f"{self.trace.path}: it has no window")

    def name_kind(self, text: bytes) -> None:
        report = b'"malleable":' in text[:KIND_BYTES]
        raise Failure(f"{self.trace.path}: it is "
                      f"{'a report (of --balance-report), and ' if report else ''}no trace; "
                      "--balance-trace=FILE writes one")

    def tables(self) -> Trace:
        import numpy
        import pandas

        trace = self.trace
        trace.windows = pandas.DataFrame(
            {name: numpy.asarray(values) for name, values in self.windows.items()})
        trace.windows.index = pandas.RangeIndex(1, len(trace.windows) + 1, name="window")
        trace.owners = pandas.DataFrame(
            numpy.asarray(self.owners).reshape(len(trace.windows), len(trace.cpus)),
            index=trace.windows.index, columns=pandas.Index(trace.cpus, name="cpu"))
        elapsed_s = trace.windows.elapsed_s.to_numpy()
        parts = numpy.asarray(self.busy, dtype=float).reshape(trace.owners.shape)
        trace.busy = pandas.DataFrame(
            numpy.where(parts < 0, numpy.nan, parts / 1000) * elapsed_s[:, None],
            index=trace.windows.index, columns=trace.owners.columns)
        trace.borrowed = pandas.DataFrame(
            {name: numpy.asarray(values) for name, values in self.borrowed.items()})
        trace.borrowed["busy_s"] = (trace.borrowed.pop("part") / 1000 *
                                    elapsed_s[trace.borrowed.window.to_numpy(int) - 1])
        trace.pages = pandas.DataFrame(
            {name: numpy.asarray(values) for name, values in self.pages.items()})
        trace.samples = pandas.DataFrame(
            {name: numpy.asarray(values) for name, values in self.samples.items()})
        trace.regions = pandas.DataFrame(
            {name: values if name == "name" else numpy.asarray(values)
             for name, values in self.regions.items()})
        return trace


def read_file(file: BinaryIO, path: str) -> Trace:
    """As read(), of a file that is open and called PATH in errors."""
    reader = _Reader(path)
    try:
        reader.lines(file)
    except OSError as error:
        raise Failure(f"cannot read {path}: {error.strerror}") from error
    return reader.tables()


def read(path: str) -> Trace:
    """Read a trace. Raises Failure with the number of the line that is wrong."""
    with input_file(path) as file:
        return read_file(file, path)
