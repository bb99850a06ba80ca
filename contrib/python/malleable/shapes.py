# SPDX-License-Identifier: LGPL-2.1-or-later
"""malleable-try: which number of ranks a node is best for a program, by trying some of them."""
from __future__ import annotations

import argparse
import contextlib
import glob
import html
import os
import re
import shlex
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass, field
from typing import BinaryIO, Iterator, Optional

from .command import Parser, complain, run, to_stdout
from .files import Failure, failing, printable, write_files
from .json_text import dumps
from .svg import DARK, LIGHT
from .trace import LINE_BYTES, MAX_CPUS, MAX_RANKS, parse

NAME = "malleable-try"
SHAPES = 32
# A step ends after so many phases, too: the first window is not among them.
PHASES = 20
# Phases are the same where ranks ran as many regions in each, but for those of the beginning.
REGIONS_PART = 0.1
LOOK_S = 0.5
# How long a step may take to end when it is told to.
END_S = 60
# So much of what a step prints is kept, the last of it, to tell why it failed.
KEPT_BYTES = 1 << 16
# srun's last words: what it, or the program, wrote before tells more.
LAST_WORDS = re.compile(r'srun: error: [^ ]*: tasks? [-0-9,\[\]]+: |Try "srun --help"')
# What an sbatch script was started with says nothing of a step of another shape.
OTHERS = ("SLURM_NTASKS", "SLURM_NPROCS", "SLURM_NTASKS_PER_NODE", "SLURM_TASKS_PER_NODE",
          "SLURM_CPUS_PER_TASK", "SLURM_TRES_PER_TASK", "SLURM_HINT", "OMP_NUM_THREADS")
BEGIN = '<svg xmlns="http://www.w3.org/2000/svg" data-by="malleable-try"'


class Signals:
    """Those that end all. They are only noted, so that none comes between a step and its end."""

    def __init__(self) -> None:
        self.first = 0
        self.before = {number: signal.signal(number, self._note)
                       for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}

    def _note(self, number: int, _) -> None:
        self.first = self.first or number

    def restore(self) -> None:
        for number, handler in self.before.items():
            signal.signal(number, handler)


@dataclass
class Shape:
    """A step, and what was measured in it."""

    ranks: int  # on each node
    cpus: int  # of each
    balance: str = "observe"
    phases: float = 0
    seconds: float = 0  # that these took
    regions: Optional[float] = None  # of a rank in a phase
    why: str = ""  # it has no figure

    @property
    def phase_s(self) -> Optional[float]:
        return self.seconds / self.phases if self.phases > 0 and not self.why else None

    def name(self) -> str:
        return f"{self.ranks} x {self.cpus}"

    def json(self) -> dict:
        return {"ranks": self.ranks, "cpus": self.cpus, "balance": self.balance,
                "phases": float(self.phases), "phase_s": self.phase_s,
                "regions_per_phase": self.regions, "why": self.why or None}


@dataclass
class Job:
    """The allocation, and what is run in it."""

    nodes: int
    cpus: int  # of each node
    command: list[str]
    hint: Optional[str] = None
    seconds: float = 60
    directory: str = ""
    environment: dict[str, str] = field(default_factory=dict)

    def srun(self, shape: Shape, *more: str) -> list[str]:
        spread = [f"--ntasks-per-node={shape.ranks}"] if self.nodes > 1 else []
        hint = [f"--hint={self.hint}"] if self.hint else []
        return ["srun", "-N", str(self.nodes), "-n", str(shape.ranks * self.nodes), *spread,
                "-c", str(shape.cpus), *hint, *more, *self.command]

    def step(self, shape: Shape, *more: str) -> list[str]:
        """What is run for a shape."""
        return self.srun(shape, f"--balance={shape.balance}", *more)

    def use(self, shape: Shape) -> str:
        """What the user types."""
        more = [] if shape.balance == "observe" else ["--balance"]
        return printable(shlex.join(self.srun(shape, *more)))


def allocation(environment: dict[str, str]) -> tuple[int, int]:
    """Its nodes, and the CPUs of each of them."""
    if not environment.get("SLURM_JOB_ID"):
        raise Failure("this is no allocation: run it in salloc, or in a script of sbatch")
    counts = re.fullmatch(r"(\d{1,6})(\(x(\d{1,6})\))?", environment.get(
        "SLURM_JOB_CPUS_PER_NODE", ""))
    if not counts:
        raise Failure("the job's nodes differ in their CPUs (SLURM_JOB_CPUS_PER_NODE)")
    return int(counts[3] or 1), min(int(counts[1]), MAX_CPUS)


def shapes(numbers: str, cpus: int) -> list[Shape]:
    found = []
    for word in numbers.split(","):
        ranks = int(word) if re.fullmatch(r"\d{1,6}", word) else 0
        if not 1 <= ranks <= min(cpus, MAX_RANKS):
            raise Failure(f"--ranks={numbers}: each must be from 1 to the {cpus} CPUs of a node", 2)
        found.append(Shape(ranks, cpus // ranks))
    if len(found) > SHAPES or len({shape.ranks for shape in found}) < len(found):
        raise Failure(f"--ranks={numbers}: give up to {SHAPES} numbers that differ", 2)
    return found


def regions_of(rank: dict) -> float:
    """How many parallel regions a rank ran in a window: what is neither serial nor MPI is in these.
    A step that is ended has no report, which would tell."""
    inside_s = rank["elapsed_s"] - rank["serial_s"] - rank["mpi_s"]
    return max(inside_s, 0) / rank["region_s"] if rank["region_s"] > 0 else 0.0


def windows(path: str) -> Iterator[tuple[float, float, float]]:
    """Of each in a trace that is being written: seconds, phases, and regions of a rank."""
    with contextlib.suppress(OSError, ValueError, TypeError, KeyError, AttributeError), \
            open(path, "rb") as file:
        while (text := file.readline(LINE_BYTES)).endswith(b"\n"):
            line = parse(text)
            if line.get("type") == "window" and line["ranks"]:
                yield (float(line["elapsed_s"]),
                       max(float(rank["phases"]) for rank in line["ranks"]),
                       max(regions_of(rank) for rank in line["ranks"]))


def alike(found: list[tuple]) -> list[tuple]:
    """Windows whose phases have as many regions as most: until the controller has found out what
    ends a phase, it counts others."""
    counts = [regions / phases if phases else None for _, phases, regions in found]
    usual = statistics.median([count for count in counts if count is not None] or [0])
    kept = [window for window, count in zip(found, counts)
            if count is None or abs(count - usual) <= REGIONS_PART * usual]
    return kept if 2 * len(kept) >= len(found) else found


def look(shape: Shape, path: str) -> None:
    """What the trace says so far. In the first window a program warms up."""
    found = list(windows(path))
    found = alike(found[1:] or found)
    shape.seconds = sum(seconds for seconds, _, _ in found)
    shape.phases = sum(phases for _, phases, _ in found)
    if shape.phases > 0:
        shape.regions = sum(regions for _, _, regions in found) / shape.phases


def _first(pattern: str) -> str:
    """With several nodes each has a file: that of one of them."""
    return min(glob.glob(glob.escape(pattern) + "*"), default=pattern)


class Progress:
    """A bar on a terminal; else a line for each step."""

    def __init__(self, steps: int):
        self.steps, self.step = steps, 0
        self.bar = bool(sys.stderr) and sys.stderr.isatty()

    def show(self, shape: Shape, part: float) -> None:
        done = int(30 * min((self.step + part) / self.steps, 1))
        text = (f"[{'#' * done}{'-' * (30 - done)}] step {self.step + 1} of {self.steps}: ranks x "
                f"CPUs {shape.name()}, {shape.balance}, {shape.phases:.0f} phases")
        if self.bar:
            print(f"\r{text[:shutil.get_terminal_size().columns - 1]}\033[K", end="",
                  file=sys.stderr, flush=True)
        elif part == 0:
            complain(NAME, text[33:])

    def end(self) -> None:
        if self.bar:
            print("\r\033[K", end="", file=sys.stderr, flush=True)


def end(step: subprocess.Popen) -> None:
    """End a step, and wait until it has: what it leaves the next one would run beside."""
    step.terminate()
    try:
        step.wait(END_S)
    except subprocess.TimeoutExpired:
        step.kill()
        step.wait()


class Output:
    """The last of what a step prints: all may be more than there is room for."""

    def __init__(self, pipe: BinaryIO):
        self.text = b""
        self.reader = threading.Thread(target=self._read, args=(pipe,), daemon=True)
        self.reader.start()

    def _read(self, pipe: BinaryIO) -> None:
        with pipe:
            while part := os.read(pipe.fileno(), KEPT_BYTES):
                self.text = (self.text + part)[-KEPT_BYTES:]

    def lines(self) -> list[str]:
        """Of srun and the program, once the step has ended. Somebody else may have the pipe yet."""
        self.reader.join(LOOK_S)
        lines = self.text.decode(errors="replace").split("\n")
        return [line for line in lines if line.strip() and not line.startswith("balance: ")]

    def reason(self) -> str:
        said = sorted(self.lines(), key=lambda line: not LAST_WORDS.match(line))
        return printable(said[-1])[:200] if said else "srun said nothing"


def measure(job: Job, shape: Shape, progress: Progress, signals: Signals) -> None:
    """Run a step of this shape for a while, unless a signal has come."""
    if signals.first:
        return
    place = os.path.join(job.directory, f"{progress.step}")
    command = job.step(shape, f"--balance-trace={place}.trace")
    begun = time.monotonic()
    progress.show(shape, 0)
    step = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, env=job.environment, start_new_session=True)
    try:
        output = Output(step.stdout)
        while not signals.first and step.poll() is None and \
                time.monotonic() - begun < job.seconds:
            with contextlib.suppress(subprocess.TimeoutExpired):
                step.wait(LOOK_S)
            look(shape, _first(place + ".trace"))
            progress.show(shape, (time.monotonic() - begun) / job.seconds)
            if shape.phases >= PHASES:
                break
    finally:
        by_itself = step.poll() is not None
        if not by_itself:
            end(step)
    look(shape, _first(place + ".trace"))
    if by_itself and step.returncode > 0 and not shape.phases:
        shape.why = f"it failed: {output.reason()}"
    elif not shape.phases:
        pending = any("pending job step" in line for line in output.lines())
        shape.why = ("other steps of the job have its CPUs" if pending else
                     "no phase was measured")
    progress.step += 1


def compare(tried: list[Shape]) -> list[Shape]:
    """Those that can be compared, the fastest first. What has other regions in a phase than most
    has other phases."""
    known = [shape for shape in tried if shape.phase_s is not None]
    counts = sorted(shape.regions or 0 for shape in known)
    usual = counts[len(counts) // 2] if counts else 0
    for shape in known:
        if abs((shape.regions or 0) - usual) > REGIONS_PART * usual:
            shape.why = (f"not comparable: {shape.regions or 0:.1f} regions in a phase, not "
                         f"{usual:.1f}")
    return sorted((shape for shape in known if not shape.why), key=lambda shape: shape.phase_s)


def table(job: Job, tried: list[Shape], best: Optional[Shape]) -> Iterator[str]:
    yield f"{'ranks x CPUs':>14} {'balance':>9} {'phases':>8} {'s a phase':>12} {'to best':>8}\n"
    for shape in tried:
        line = f"{shape.name():>14} {shape.balance:>9} {shape.phases:8.0f} "
        if shape.why or not best:
            yield f"{line}{shape.why}\n"
        else:
            yield f"{line}{shape.phase_s:12.6f} {shape.phase_s / best.phase_s:8.3f}\n"
    if best:
        yield f"use: {job.use(best)}\n"


def as_json(job: Job, tried: list[Shape], best: Optional[Shape]) -> Iterator[str]:
    yield dumps({"version": 1, "nodes": job.nodes, "cpus": job.cpus,
                 "command": [printable(word) for word in job.command],
                 "shapes": [shape.json() for shape in tried],
                 "best": best.json() if best else None,
                 "use": job.use(best) if best else None}, 9, 2) + "\n"


def picture(tried: list[Shape], best: Optional[Shape]) -> Iterator[str]:
    """A bar for each step: what a phase took."""
    longest = max((shape.phase_s or 0 for shape in tried), default=0) or 1
    height = 34 * len(tried) + 60
    yield (f'{BEGIN} viewBox="0 0 600 {height}" font-family="system-ui,sans-serif" '
           'font-size="14">\n<title>Seconds a phase, by ranks and CPUs of each</title>\n<style>'
           f"{LIGHT}.bar{{fill:#56b4e9}}.balanced{{fill:#e69f00}}"
           f"@media(prefers-color-scheme:dark){{{DARK}}}</style>\n"
           '<text x="10" y="22">Seconds a phase, by ranks x CPUs of each rank (orange: balanced)'
           "</text>\n")
    for index, shape in enumerate(tried):
        y = 40 + 34 * index
        width = 330 * (shape.phase_s or 0) / longest
        kind = "bar" if shape.balance == "observe" else "balanced"
        said = f"{shape.phase_s:.6f}" if shape.phase_s is not None else shape.why
        mark = ", best" if shape is best else ""
        yield (f'<text x="90" y="{y + 17}" text-anchor="end">{shape.name()}</text>\n'
               f'<rect class="{kind}" x="100" y="{y}" width="{width:.1f}" height="24"/>\n'
               f'<text x="{105 + width:.0f}" y="{y + 17}">{html.escape(said[:60])}{mark}</text>\n')
    yield "</svg>\n"


def _parser() -> Parser:
    parser = Parser(NAME, usage="malleable-try --ranks=N[,N...] [OPTIONS] -- COMMAND...",
                    description="Runs a program with several numbers of ranks a node, one step "
                    "after the other in this allocation, for a while each, and tells which one "
                    "takes the least time a phase; the best two run with --balance, too.",
                    epilog="""\
Exit status: 0; 1: no step could be measured; 2: wrong arguments; 128 + N: signal N.""")
    parser.add_argument("--ranks", required=True, metavar="N[,N...]",
                        help="numbers of ranks on each node, such as 1,2,4,8")
    parser.add_argument("--hint", metavar="HINT", help="for srun, such as nomultithread")
    parser.add_argument("--seconds", type=float, default=60, metavar="S",
                        help=f"a step ends after so long, or {PHASES} phases (default: 60)")
    parser.add_argument("--json", dest="show", action="store_const", const=as_json, default=table,
                        help="print JSON")
    parser.add_argument("--picture", metavar="FILE", help="write a picture of the times (SVG)")
    parser.add_argument("--dry-run", action="store_true", help="print the first steps alone")
    parser.add_argument("command", nargs="+", metavar="COMMAND", help="the program")
    return parser


def _measure_all(job: Job, tried: list[Shape], signals: Signals) -> None:
    progress = Progress(len(tried) + 2)
    try:
        for shape in tried:
            measure(job, shape, progress, signals)
        for shape in compare(tried)[:2]:
            tried.append(Shape(shape.ranks, shape.cpus, "auto"))
            measure(job, tried[-1], progress, signals)
    finally:
        progress.end()


def _try(job: Job, tried: list[Shape], arguments: argparse.Namespace) -> int:
    signals = Signals()
    # Where nodes see it, as they see the program.
    with tempfile.TemporaryDirectory(prefix=".malleable-try-", dir=".") as directory:
        job.directory = os.path.abspath(directory)
        _measure_all(job, tried, signals)
    order = compare(tried)
    best = order[0] if order else None
    if not signals.first:
        signals.restore()
    if signals.first:
        return 128 + signals.first
    # Before the picture, which cannot be written everywhere: it took minutes.
    to_stdout(arguments.show(job, tried, best), "cannot print")
    if arguments.picture:
        write_files([(arguments.picture, re.compile(re.escape(BEGIN.encode())),
                      lambda: picture(tried, best))], "picture")
    return 0 if best else 1


def try_shapes() -> int:
    arguments = _parser().parse_args()
    nodes, cpus = allocation(dict(os.environ))
    if not 1 <= arguments.seconds <= 86400:
        raise Failure("--seconds: must be from 1 to 86400", 2)
    job = Job(nodes, cpus, arguments.command, arguments.hint, arguments.seconds)
    job.environment = {name: value for name, value in os.environ.items() if name not in OTHERS}
    tried = shapes(arguments.ranks, cpus)
    if arguments.dry_run:
        to_stdout((printable(shlex.join(job.step(shape))) + "\n" for shape in tried),
                  "cannot print")
        return 0
    with failing("cannot try"):
        return _try(job, tried, arguments)


def main() -> int:
    return run(NAME, try_shapes)
