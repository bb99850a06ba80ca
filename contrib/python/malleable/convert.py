# SPDX-License-Identifier: LGPL-2.1-or-later
"""malleable-convert: a trace in a format that other programs read."""
from __future__ import annotations

import contextlib
import math
import os
import re
import time
from typing import Callable, Iterator

from .command import Parser, run, to_stdout
from .files import beside, input_file, printable, write_files
from .json_text import dumps
from .svg import BEGIN as SVG
from .svg import to_svg
from .trace import MAX_CPUS, Trace, read_file


def cpu_list(cpus: list[int]) -> str:
    """Such as 0-3,8."""
    numbers, parts = sorted({cpu for cpu in cpus if cpu < MAX_CPUS}), []
    for index, cpu in enumerate(numbers):
        if index and cpu == numbers[index - 1] + 1:
            parts[-1][1] = cpu
        else:
            parts.append([cpu, cpu])
    return ",".join(f"{first}-{last}" if last > first else str(first) for first, last in parts)


def windows(trace: Trace) -> Iterator[tuple]:
    """Each window: its row, its owners, and the rows of its samples."""
    samples = trace.samples.itertuples(index=False)
    sample = next(samples, None)
    for window, owners in zip(trace.windows.itertuples(), trace.owners.to_numpy().tolist()):
        rows = []
        while sample is not None and sample.window == window.Index:
            rows.append(sample)
            sample = next(samples, None)
        yield window, owners, rows


def to_csv(trace: Trace) -> Iterator[str]:
    """A line for each rank of each window."""
    yield ("window,begin_s,end_s,rank,cpus,cpu_list,team,most,phases,work_s,serial_s,mpi_s,"
           "barrier_s,region_s\n")
    for window, owners, rows in windows(trace):
        owned: dict[int, list[int]] = {}
        for cpu, owner in zip(trace.cpus, owners):
            owned.setdefault(owner, []).append(cpu)
        for row in rows:
            yield (f'{window.Index},{window.begin_s:.9f},{window.end_s:.9f},{row.rank},{row.cpus},'
                   f'"{cpu_list(owned.get(row.rank, []))}",{row.team},{row.most},{row.phases:.9g},'
                   f'{row.work_s:.9f},{row.serial_s:.9f},{row.mpi_s:.9f},{row.barrier_s:.9f},'
                   f'{row.region_s:.9f}\n')


# Perfetto: process 1 has a thread for each rank, with its windows and, in them, computing and MPI:
# how long is measured, when in the window is not. Process 2 has one for each CPU, with the rank
# that owns it. Counters say how many CPUs a rank owns, and how many worked for it.
# Process 3 has one for each CPU, too: a slice for as long as a rank was busy there in a window.
RANKS, CPUS, BUSY = 1, 2, 3


def _named(process: int, thread: int, what: str, name: str) -> dict:
    return {"ph": "M", "name": what, "pid": process, "tid": thread, "args": {"name": name}}


def _slice(process: int, thread: int, name: str, begin_s: float, length_s: float, **more) -> dict:
    return {"ph": "X", "name": name, "pid": process, "tid": thread, "ts": begin_s * 1e6,
            "dur": length_s * 1e6, **more}


def _counter(name: str, at_s: float, value: float) -> dict:
    return {"ph": "C", "name": name, "pid": RANKS, "ts": at_s * 1e6, "args": {"CPUs": value}}


def _events_of_regions(trace: Trace) -> Iterator[dict]:
    """A track for each rank that named regions: the part of each window in each of them."""
    for rank, rows in trace.regions.groupby("rank"):
        spent = rows.pivot_table(index="window", columns="name", values="elapsed_s",
                                 aggfunc="sum", fill_value=0.0)
        spent = spent.reindex(trace.windows.index, fill_value=0.0)
        for (_, row), window in zip(spent.iterrows(), trace.windows.itertuples()):
            length_s = window.elapsed_s or 1
            yield {"ph": "C", "name": f"named regions of rank {rank}", "pid": RANKS,
                   "ts": window.begin_s * 1e6,
                   "args": {name: float(min(value / length_s, 1)) for name, value in row.items()}}


def _events_of_rank(window, row) -> Iterator[dict]:
    begin_s, elapsed_s = window.begin_s, window.elapsed_s
    mpi_s = min(row.mpi_s, elapsed_s)
    yield _slice(RANKS, row.rank, "window", begin_s, elapsed_s, args={
        "window": window.Index, **{name: getattr(row, name) for name in (
            "cpus", "team", "phases", "work_s", "serial_s", "mpi_s", "barrier_s", "region_s")}})
    if elapsed_s > mpi_s:
        yield _slice(RANKS, row.rank, "computing", begin_s, elapsed_s - mpi_s)
    if mpi_s > 0:
        yield _slice(RANKS, row.rank, "MPI", window.end_s - mpi_s, mpi_s)
    yield _counter(f"CPUs of rank {row.rank}", begin_s, float(row.cpus))
    yield _counter(f"CPUs at work for rank {row.rank}", begin_s,
                   (row.work_s + row.serial_s) / elapsed_s if elapsed_s > 0 else 0.0)


def _events_of_cpu(trace: Trace, index: int) -> Iterator[dict]:
    """A slice for as long as the owner stays the same."""
    owners = trace.owners.iloc[:, index]
    for _, part in owners.groupby((owners != owners.shift()).cumsum()):
        owner = int(part.iloc[0])
        if owner >= 0:
            begin_s = trace.windows.begin_s[part.index[0]]
            yield _slice(CPUS, trace.cpus[index], f"rank {owner}", float(begin_s),
                         float(trace.windows.end_s[part.index[-1]] - begin_s))


def uses(trace: Trace) -> Iterator[tuple]:
    """Each window, and in it each use of a CPU: its place in trace.cpus, the rank, when it began
    and how long it was, and whether it was borrowed. When in the window is not measured; uses that
    are longer than it, as of threads that share a CPU, are made to fit."""
    lent = trace.borrowed.itertuples(index=False)
    use = next(lent, None)
    for window, owners, busy in zip(trace.windows.itertuples(), trace.owners.to_numpy().tolist(),
                                    trace.busy.fillna(0).to_numpy().tolist()):
        found = [(index, rank, busy_s, False)
                 for index, (rank, busy_s) in enumerate(zip(owners, busy)) if busy_s > 0]
        sums = dict(enumerate(busy))
        while use is not None and use.window == window.Index:
            found.append((use.cpu, use.rank, use.busy_s, True))
            sums[use.cpu] += use.busy_s
            use = next(lent, None)
        at_s: dict[int, float] = {}
        placed = []
        for index, rank, busy_s, borrowed in found:
            begin_s = at_s.get(index, window.begin_s)
            if sums[index] > window.elapsed_s:
                busy_s *= window.elapsed_s / sums[index]
            at_s[index] = begin_s + busy_s
            placed.append((index, rank, begin_s, busy_s, borrowed))
        yield window, placed


def _events_of_use(trace: Trace) -> Iterator[dict]:
    if not trace.tells_use():
        return
    yield _named(BUSY, 0, "process_name", "CPUs and the ranks that were busy on them")
    for cpu in trace.cpus:
        yield _named(BUSY, cpu, "thread_name", f"CPU {cpu}")
    for _, found in uses(trace):
        for index, rank, begin_s, busy_s, borrowed in found:
            yield _slice(BUSY, trace.cpus[index],
                         f"rank {rank}" + (", borrowed" if borrowed else ""), begin_s, busy_s)


def _events(trace: Trace) -> Iterator[dict]:
    yield _named(RANKS, 0, "process_name", "ranks")
    yield _named(CPUS, 0, "process_name", "CPUs and the ranks that own them")
    for rank in range(trace.ranks):
        yield _named(RANKS, rank, "thread_name", f"rank {rank}")
    for cpu in trace.cpus:
        yield _named(CPUS, cpu, "thread_name", f"CPU {cpu}")
    for window, _, rows in windows(trace):
        for row in rows:
            yield from _events_of_rank(window, row)
    yield from _events_of_regions(trace)
    for index in range(len(trace.cpus)):
        yield from _events_of_cpu(trace, index)
    yield from _events_of_use(trace)


def to_perfetto(trace: Trace) -> Iterator[str]:
    """Trace events of Chrome (JSON), which ui.perfetto.dev and chrome://tracing read."""
    facts = {"step": trace.step, "node": trace.node, "policy": trace.policy}
    yield f'{{"displayTimeUnit":"ms","otherData":{dumps(facts, 15)},"traceEvents":[\n'
    yield ('{"ph":"M","name":"process_labels","pid":1,"tid":0,"args":{"labels":"malleable"}}')
    for event in _events(trace):
        yield ",\n" + dumps(event, 15)
    yield "\n]}\n"


# A second application has a task for each CPU: its state is who was busy there, OWNER or BORROWER,
# and an event of type TYPE_USER says which rank, from 1 on.
# Paraver (https://tools.bsc.es/paraver): one application, a task of one thread for each rank, on
# one node. In each window a rank computes, then is in MPI: how long is measured, when is not.
# Events at a window's begin are its figures, of these types; times are in microseconds.
COMPUTING, IN_MPI, OWNER, BORROWER = 1, 2, 3, 4
TYPE, TYPE_USER = 90001000, 90001010
REGION_TYPE = TYPE + 100  # and the region's number in the order of names
TYPES = ("CPUs that the rank owns", "Work of all its threads (us)", "Serial work (us)",
         "In MPI (us)", "Idle in parallel regions (us)", "Threads")


def _rounded(value: float) -> int:
    whole = math.floor(value)
    return whole + (value - whole >= 0.5)


def _ns(seconds: float) -> int:
    return _rounded(seconds * 1e9)


def _state(cpu: int, rank: int, begin: int, end: int, kind: int) -> str:
    return f"1:{cpu}:1:{rank + 1}:1:{begin}:{end}:{kind}\n" if end > begin else ""


def _region_names(trace: Trace) -> list[str]:
    return sorted(trace.regions["name"].unique())


def _figures_of_regions(trace: Trace) -> dict[tuple[int, int], list[tuple[int, int]]]:
    """By window and rank: for how long it was in which named region."""
    kinds = {name: kind for kind, name in enumerate(_region_names(trace), REGION_TYPE)}
    figures: dict[tuple[int, int], list[tuple[int, int]]] = {}
    for row in trace.regions.itertuples():
        figures.setdefault((row.window, row.rank), []).append(
            (kinds[row.name], _rounded(row.elapsed_s * 1e6)))
    return figures


def _use(cpus: list[tuple], end: int) -> Iterator[tuple[int, str]]:
    """Records of a window that ends at END, behind their times."""
    for index, rank, begin_s, busy_s, borrowed in cpus:
        begin = min(_ns(begin_s), end)
        last = min(_ns(begin_s + busy_s), end)
        if last > begin:
            task = f"{index + 1}:2:{index + 1}:1"
            yield begin, f"2:{task}:{begin}:{TYPE_USER}:{rank + 1}\n"
            yield begin, f"1:{task}:{begin}:{last}:{BORROWER if borrowed else OWNER}\n"


def to_paraver(trace: Trace) -> Iterator[str]:
    """Records in the order of their times."""
    of_regions = _figures_of_regions(trace)
    when = time.strftime("%d/%m/%Y at %H:%M", time.gmtime())
    cpus = len(trace.cpus)
    tasks = f"{trace.ranks}({','.join(['1:1'] * trace.ranks)})"
    if trace.tells_use():
        tasks += f":{cpus}({','.join(['1:1'] * cpus)})"
    yield (f"#Paraver ({when}):{_ns(trace.windows.end_s.iloc[-1])}_ns:1({cpus}):"
           f"{1 + trace.tells_use()}:{tasks}\n")
    end = 0
    for (window, owners, rows), (_, used) in zip(windows(trace), uses(trace)):
        # The window before may round to more than this one begins with.
        begin, end = max(_ns(window.begin_s), end), _ns(window.end_s)
        cpu_of: dict[int, int] = {}
        for number, owner in enumerate(owners, 1):
            cpu_of.setdefault(owner, number)
        waiting = []
        for row in rows:
            cpu = cpu_of.get(row.rank, 0)
            middle = max(end - _ns(row.mpi_s), begin)
            figures = (row.cpus, *(_rounded(seconds * 1e6) for seconds in (
                row.work_s, row.serial_s, row.mpi_s, row.barrier_s)), row.team)
            pairs = [*enumerate(figures, TYPE), *of_regions.get((window.Index, row.rank), [])]
            yield f"2:{cpu}:1:{row.rank + 1}:1:{begin}" + "".join(
                f":{kind}:{figure}" for kind, figure in pairs) + "\n"
            yield _state(cpu, row.rank, begin, middle, COMPUTING)
            waiting.append((middle, _state(cpu, row.rank, middle, end, IN_MPI)))
        waiting += [(max(at, begin), record) for at, record in _use(used, end)]
        yield from (record for _, record in sorted(waiting, key=lambda item: item[0]))


def to_paraver_names(trace: Trace) -> Iterator[str]:
    yield ("DEFAULT_OPTIONS\n\nLEVEL               THREAD\nUNITS               NANOSEC\n\n"
           "STATES\n0    Idle\n1    Computing\n2    In MPI\n3    Used by its owner\n"
           "4    Borrowed\n\nSTATES_COLOR\n0    {117,195,255}\n1    {0,0,255}\n"
           "2    {255,146,24}\n3    {0,158,115}\n4    {204,121,167}\n")
    regions = (f"In region {name} (us)" for name in _region_names(trace))
    for number, name in (*enumerate(TYPES, TYPE), *enumerate(regions, REGION_TYPE)):
        yield f"\nEVENT_TYPE\n0    {number}    {name}\n"
    if trace.tells_use():
        yield f"\nEVENT_TYPE\n0    {TYPE_USER}    Rank that used the CPU, from 1 on\n"


def to_paraver_rows(trace: Trace) -> Iterator[str]:
    cpus = [f"CPU {cpu}\n" for cpu in trace.cpus]
    tasks = cpus if trace.tells_use() else []
    yield f"LEVEL CPU SIZE {len(cpus)}\n"
    yield from cpus
    yield (f"\nLEVEL NODE SIZE 1\n{trace.node or 'node'}\n\n"
           f"LEVEL THREAD SIZE {trace.ranks + len(tasks)}\n")
    yield from (f"rank {rank}\n" for rank in range(trace.ranks))
    yield from tasks


FORMATS: dict[str, dict[str, Callable[[Trace], Iterator[str]]]] = {
    "csv": {".csv": to_csv},
    "perfetto": {".json": to_perfetto},
    "paraver": {".prv": to_paraver, ".pcf": to_paraver_names, ".row": to_paraver_rows},
    "svg": {".svg": to_svg},
}

# How files of ours begin.
BEGIN = {suffix: re.compile(begin) for suffix, begin in {
    ".csv": rb"window,begin_s,end_s,rank,",
    ".json": rb'\{"displayTimeUnit":"ms","otherData":\{"step":',
    ".prv": rb"#Paraver [^\n]*\n(\Z|2:\d+:1:\d+:1:\d+:%d:)" % TYPE,
    ".pcf": rb"DEFAULT_OPTIONS\n(.*\n)*?EVENT_TYPE\n0    %d " % TYPE,
    ".row": rb"LEVEL CPU SIZE \d+\nCPU \d+\n",
    ".svg": SVG.encode()}.items()}


def paths(to: str, output: str, trace: str) -> list[str]:
    """The names of the files; OUTPUT: that of the first one, or None."""
    first, *others = FORMATS[to]
    if output is None:
        return [trace + suffix for suffix in FORMATS[to]]
    base = output[:-len(first)] if output.endswith(first) and output != first else output
    return [base + suffix for suffix in FORMATS[to]] if others else [output]


def _parser() -> Parser:
    parser = Parser("malleable-convert", description="Writes a trace of srun "
                    "--balance-trace=TRACE in a format of other programs.", epilog="""\
csv       a line for each rank of each window (TRACE.csv)
perfetto  for ui.perfetto.dev or chrome://tracing (TRACE.json)
paraver   for Paraver (TRACE.prv, TRACE.pcf, TRACE.row)
svg       a picture of which rank used each CPU (TRACE.svg)

Exit status: 0; 1: the trace cannot be read, or a file not be written; 2: wrong arguments.""")
    parser.add_argument("--to", required=True, choices=FORMATS, help="the format")
    parser.add_argument("-o", "--output", metavar="FILE", help="write to FILE, of Paraver's the "
                        "one with .prv; - is standard output, where it is one file")
    parser.add_argument("trace", metavar="TRACE")
    return parser


def convert() -> int:
    parser = _parser()
    arguments = parser.parse_args()
    formats = FORMATS[arguments.to]
    if arguments.output == "-" and len(formats) > 1:
        parser.error(f"--to={arguments.to}: these are several files, not -")
    with contextlib.ExitStack() as stack:
        directory = None
        if arguments.output is None:
            directory = stack.enter_context(beside(arguments.trace, "trace"))
        with input_file(arguments.trace, directory) as file:
            trace, read = read_file(file, arguments.trace), os.fstat(file.fileno())
        if arguments.output == "-":
            to_stdout(next(iter(formats.values()))(trace), "cannot write the trace")
            return 0
        names = paths(arguments.to, arguments.output, arguments.trace)
        write_files([(name, BEGIN[suffix], lambda write=write: write(trace))
                     for name, (suffix, write) in zip(names, formats.items())], "trace", directory,
                    [read])
    to_stdout((printable(name) + "\n" for name in names), "cannot print")
    return 0


def main() -> int:
    return run("malleable-convert", convert)
