# SPDX-License-Identifier: LGPL-2.1-or-later
"""malleable-acct: what balancing saved on a site, by the reports in report_dir=."""
from __future__ import annotations

import datetime
import errno
import os
import pwd
import re
import stat
from dataclasses import dataclass
from typing import Any, Iterator

from .command import Parser, complain, run, to_stdout
from .files import Failure, failing, open_regular, printable
from .json_text import dumps
from .nobody import receive_files, send_files
from .trace import MAX_CPUS, MAX_RANKS, parse

NAME = "malleable-acct"
# Of a report; and of what is in it, as a few bytes become many in memory.
REPORT_BYTES = 8 << 20
REPORT_PARTS = 1 << 18
# Longer steps cannot be: a year.
ELAPSED_MAX = 366 * 86400.0
# A window cannot take more without balancing: all work on one CPU, and serial time and waits.
SLOWER_MAX = 3
NAME_LENGTH = 32
# Reports that are left out and said by name; the others are counted.
NAMED = 20


class NoReport(Exception):
    """A file is none."""


class LeftOut(Exception):
    """A report says what cannot be."""


@dataclass
class Account:
    """CPU seconds of all reports of one name."""

    name: str
    reports: int = 0
    unknown: int = 0  # of these, without an estimate: they count with used_s alone
    used_s: float = 0
    saved_s: float = 0
    left_s: float = 0
    lost_s: float = 0  # in steps that were slower; saved_s is less by it

    def add(self, other: "Account") -> None:
        for name in ("reports", "unknown", "used_s", "saved_s", "left_s", "lost_s"):
            setattr(self, name, getattr(self, name) + getattr(other, name))

    def json(self) -> dict:
        return {"name": self.name, "reports": self.reports, "no_estimate": self.unknown,
                "cpu_s": float(self.used_s), "saved_cpu_s": float(self.saved_s),
                "left_cpu_s": float(self.left_s)}

    def row(self) -> str:
        hours = (f"{seconds / 3600:12.2f}" for seconds in (self.used_s, self.saved_s, self.left_s))
        return f"{self.name:<32} {self.reports:9d} {' '.join(hours)} {self.unknown:12d}\n"


def _number(members: Any, key: str, most: float) -> float:
    value = members.get(key) if isinstance(members, dict) else None
    if type(value) not in (int, float):
        raise NoReport
    if not 0 <= value <= most:
        shown = f"{value:.9g}" if abs(value) < 1e300 else "too large"
        raise LeftOut(f"{key} is {shown}, and only 0 to {most:.9g} can be")
    return float(value)


def _measured(account: Account, measured: Any, observed: bool, all_s: float, cpus: float) -> None:
    """What a step on CPUS CPUs that took ALL_S saved."""
    # Where ranks come to a boundary one after the other, windows overlap.
    elapsed_s = _number(measured, "elapsed_s", all_s * MAX_RANKS)
    most = SLOWER_MAX * cpus * elapsed_s
    ideal_s = _number(measured, "ideal_s", most)
    # Others used the CPUs, or what threads did is not seen.
    if "unbalanced_s" in measured and measured["unbalanced_s"] is None:
        account.unknown = 1
        return
    off_s = _number(measured, "unbalanced_s", most)
    part = cpus * (all_s / elapsed_s if elapsed_s > all_s else 1)
    # What is only observed saves nothing.
    account.saved_s = 0 if observed else (off_s - elapsed_s) * part
    account.lost_s = max(-account.saved_s, 0)
    account.left_s = max(elapsed_s - ideal_s, 0) * part


def _word(value: Any) -> str:
    text = printable(value)[:NAME_LENGTH] if isinstance(value, str) else ""
    return text or "?"


def _program(report: dict) -> str:
    command = report.get("command")
    word = command[0] if isinstance(command, list) and command else None
    return _word(word.rsplit("/", 1)[-1] if isinstance(word, str) else None)


def _week(report: dict) -> str:
    """That of ISO 8601: 2026-W48."""
    when = report.get("timestamp")
    if not isinstance(when, str) or not re.match(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", when, re.A):
        return "?"
    try:
        year, week, _ = datetime.date.fromisoformat(when[:10]).isocalendar()
    except ValueError:
        return "?"
    return f"{year}-W{week:02d}"


BY = {
    "user": lambda report, owner: str(owner),
    "program": lambda report, owner: _program(report),
    "policy": lambda report, owner: _word(report["policy"]),
    "week": lambda report, owner: _week(report),
}


def read_report(report: Any) -> Account:
    """What one report says."""
    if not isinstance(report, dict) or type(report.get("version")) is not int or \
            report["version"] != 1 or not isinstance(report.get("policy"), str):
        raise NoReport
    account = Account("", 1)
    # No rank ever came.
    if _number(report, "ranks", MAX_RANKS) < 1:
        return account
    cpus = _number(report, "cpus", MAX_CPUS)
    all_s = _number(report, "elapsed_s", ELAPSED_MAX)
    account.used_s = all_s * cpus
    _measured(account, report.get("measured"), report["policy"] == "observe", all_s, cpus)
    return account


def _recorded(report: dict) -> int:
    """Whose step it was, by root (spank/store.c), whose the file is."""
    recorded = report.get("recorded")
    uid = recorded.get("uid") if isinstance(recorded, dict) else 0
    return uid if type(uid) is int and 0 <= uid < 1 << 32 else 0


def _content(fd: int) -> bytes:
    text = b""
    with os.fdopen(fd, "rb") as file:
        text = file.read(REPORT_BYTES + 1)
    if not text.lstrip(b" \t\r\n").startswith(b"{"):
        raise NoReport
    if len(text) > REPORT_BYTES or sum(text.count(byte) for byte in b"{[:") > REPORT_PARTS:
        raise LeftOut(os.strerror(errno.EFBIG))
    return text


class Books:
    """What reports add up to."""

    def __init__(self, by: str):
        self.by = by
        self.accounts: dict[str, Account] = {}
        self.total = Account("all")
        self.missed = self.left_out = 0

    def add(self, name: str, fd: int) -> None:
        """Add the report NAME in FD (-1: it could not be opened)."""
        try:
            status = os.fstat(fd) if fd >= 0 else None
            if not status or not stat.S_ISREG(status.st_mode):
                raise NoReport
            self.enter(parse(_content(fd)), status.st_uid)
        except (NoReport, ValueError):
            self.missed += 1
        except (LeftOut, OSError) as error:
            self.missed += 1
            self.left_out += 1
            if self.left_out <= NAMED:
                complain(NAME, f"left out {name}: {getattr(error, 'strerror', None) or error}")
        except MemoryError as error:
            raise Failure(f"cannot read {name}: out of memory") from error

    def enter(self, report: Any, owner: int) -> None:
        account = read_report(report)
        owner = _recorded(report) if owner == 0 else owner
        name = BY[self.by](report, owner)
        self.accounts.setdefault(name, Account(name)).add(account)
        self.total.add(account)

    def list(self) -> list[Account]:
        """Who saved most comes first; weeks come in their order."""
        accounts: dict[str, Account] = {}
        for account in self.accounts.values():
            name = _user(account.name) if self.by == "user" else account.name
            accounts.setdefault(name, Account(name)).add(account)
        return sorted(accounts.values(), key=lambda account: (
            0 if self.by == "week" else -account.saved_s, account.name))


def _user(number: str) -> str:
    try:
        return _word(pwd.getpwuid(int(number)).pw_name)
    except KeyError:
        return number


def table(books: Books) -> Iterator[str]:
    accounts = books.list()
    yield (f"{books.by:<32} {'reports':>9} {'CPU hours':>12} {'saved':>12} {'could save':>12} "
           f"{'no estimate':>12}\n")
    yield from (account.row() for account in accounts)
    if len(accounts) > 1:
        yield books.total.row()
    if books.missed:
        yield ("1 file is no report\n" if books.missed == 1 else
               f"{books.missed} files are no reports\n")


def json(books: Books) -> Iterator[str]:
    yield dumps({"version": 1, "by": books.by,
                 "accounts": [account.json() for account in books.list()],
                 "total": books.total.json(), "no_reports": books.missed}, 9, 2) + "\n"


METRICS = (
    ("steps", "Balanced steps, one for each node.", lambda account: account.reports),
    ("steps_without_estimate", "Steps of which nobody knows what balancing saved.",
     lambda account: account.unknown),
    ("used_cpu_seconds", "CPU seconds of balanced steps.", lambda account: account.used_s),
    ("saved_cpu_seconds", "CPU seconds that balancing saved.",
     lambda account: account.saved_s + account.lost_s),
    ("lost_cpu_seconds", "CPU seconds of steps that were slower.",
     lambda account: account.lost_s),
    ("left_cpu_seconds", "CPU seconds that could be saved still.",
     lambda account: account.left_s),
)


def prometheus(books: Books) -> Iterator[str]:
    """What node_exporter reads in its textfile directory. What was saved and what was lost are two
    sums, as a counter never falls."""
    accounts = books.list()
    for name, text, value in METRICS:
        name = f"malleable_{name}_total"
        yield f"# HELP {name} {text}\n# TYPE {name} counter\n"
        for account in accounts:
            label = account.name.replace("\\", "\\\\").replace('"', '\\"')
            yield f'{name}{{{books.by}="{label}"}} {value(account):.15g}\n'
    yield ("# HELP malleable_no_reports Files that are no reports.\n"
           f"# TYPE malleable_no_reports gauge\nmalleable_no_reports {books.missed}\n")


def is_report(name: str) -> bool:
    """NAME.json, or NAME.json.1 where the name was taken."""
    end = name.rpartition(".json")[2]
    return ".json" in name and (not end or (len(end) == 2 and end[0] == "."))


def reports(directory: int) -> Iterator[tuple[str, int]]:
    """Each report's name and descriptor, -1 where there is none to be had."""
    with failing("cannot read the directory"), os.scandir(directory) as entries:
        names = (entry.name for entry in entries)
        for name in filter(is_report, names):
            try:
                fd = open_regular(name, directory, os.O_NOFOLLOW)
            except OSError as error:
                if error.errno in (errno.EMFILE, errno.ENFILE, errno.ENOMEM):
                    raise Failure(f"cannot open a report: {error.strerror}") from error
                fd = -1
            yield name, fd


def _add_up(files: Iterator[tuple[str, int]], by: str, show) -> int:
    books = Books(by)
    for name, fd in files:
        books.add(name, fd)
    to_stdout(show(books), "cannot print")
    if books.left_out > NAMED:
        complain(NAME, f"left out {books.left_out - NAMED} more")
    return 3 if books.left_out else 0


def _parser() -> Parser:
    parser = Parser(NAME, description="Adds up the reports that report_dir=DIRECTORY of "
                    "plugstack.conf collects, one for each balanced step and node: the CPU hours "
                    "of the steps, how many balancing saved, and how many more it could save at "
                    "best, also in steps that were only observed.", epilog="""\
Exit status: 0; 1: the reports cannot all be read; 2: wrong arguments; 3: reports whose numbers
cannot be were left out.""")
    parser.add_argument("--by", choices=BY, default="user", help="what is added up (default: user)")
    kinds = parser.add_mutually_exclusive_group()
    kinds.add_argument("--json", dest="show", action="store_const", const=json, default=table,
                       help="print JSON, in CPU seconds")
    kinds.add_argument("--prometheus", dest="show", action="store_const", const=prometheus,
                       help="print what Prometheus' node_exporter reads")
    parser.add_argument("directory", metavar="DIRECTORY", help="that of report_dir=")
    return parser


def acct() -> int:
    arguments = _parser().parse_args()
    with failing(f"cannot read {arguments.directory}"):
        directory = os.open(arguments.directory, os.O_RDONLY | os.O_DIRECTORY)
    if os.geteuid() != 0:
        return _add_up(reports(directory), arguments.by, arguments.show)
    # The reports belong to users: root opens them, and a child without root reads them.
    return send_files(reports(directory), lambda files: run(
        NAME, lambda: _add_up(receive_files(files), arguments.by, arguments.show)))


def main() -> int:
    return run(NAME, acct)
