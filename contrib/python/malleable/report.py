# SPDX-License-Identifier: LGPL-2.1-or-later
"""malleable-report: one page of HTML from traces."""
from __future__ import annotations

import argparse
import contextlib
import json
import os
import re
import shutil
import subprocess
from typing import BinaryIO, Optional

from .command import Parser, run, to_stdout
from .files import Failure, beside, input_file, printable, write_files
from .trace import read_file

TRACES = 64


def _parser() -> Parser:
    parser = Parser("malleable-report", description="Makes one page of HTML of traces that srun "
                    "--balance-trace=TRACE recorded: who had which CPU and who worked when, where "
                    "the time was lost, and what each policy would make of it. Any browser shows "
                    "it; it needs no network.", epilog="""\
Exit status: 0; 1: a trace cannot be read, or the page not be written; 2: wrong arguments.""")
    parser.add_argument("-o", "--output", metavar="FILE", help="write to FILE; - is standard "
                        "output (default: the first TRACE with .html)")
    parser.add_argument("--policy", action="append", default=[], metavar="POLICY[,KEY=VALUE...]",
                        help="may be given several times (default: off, lewi, sabo and auto)")
    parser.add_argument("--libdir", metavar="DIR", help="where loadable policies are")
    parser.add_argument("traces", nargs="+", metavar="TRACE", help=f"1 to {TRACES} of them")
    return parser


def replay(file: BinaryIO, arguments: argparse.Namespace) -> Optional[dict]:
    """What malleable replay makes of the trace in FILE; None: there is no such command."""
    malleable = shutil.which("malleable")
    if not malleable:
        if arguments.policy or arguments.libdir:
            raise Failure("there is no command malleable in PATH, which --policy and --libdir need")
        return None
    options = [f"--policy={policy}" for policy in arguments.policy]
    if arguments.libdir:
        options.append(f"--libdir={arguments.libdir}")
    done = subprocess.run(
        [malleable, "replay", "--json", *options, f"/proc/self/fd/{file.fileno()}"],
        stdin=subprocess.DEVNULL, capture_output=True, check=False, pass_fds=[file.fileno()])
    why = done.stderr.decode(errors="replace").strip()
    if done.returncode == 2:
        why = why.removeprefix("malleable replay: ").partition(", see malleable")[0]
        raise Failure(f"{why}, see malleable-report --help", 2)
    if done.returncode:
        raise Failure(why or f"malleable replay: it ended with {done.returncode}")
    return json.loads(done.stdout)


def _part(path: str, directory: Optional[int], arguments: argparse.Namespace,
          read: list[os.stat_result]):
    from .page import Part

    with input_file(path, directory) as file:
        read.append(os.fstat(file.fileno()))
        trace = read_file(file, path)
        return Part(trace, replay(file, arguments))


def report() -> int:
    parser = _parser()
    arguments = parser.parse_args()
    if len(arguments.traces) > TRACES:
        parser.error(f"give 1 to {TRACES} traces")
    with contextlib.ExitStack() as stack:
        first, *others = arguments.traces
        output, directory = arguments.output, None
        if output is None:
            output, directory = first + ".html", stack.enter_context(beside(first, "page"))
        read: list[os.stat_result] = []
        parts = [_part(first, directory, arguments, read)]
        parts += [_part(path, None, arguments, read) for path in others]

        from .page import BEGIN, page
        if output == "-":
            to_stdout(page(parts), "cannot write the page")
            return 0
        write_files([(output, re.compile(re.escape(BEGIN.encode())), lambda: page(parts))],
                    "page", directory, read)
    to_stdout([printable(f"{output}: open it in a browser") + "\n"], "cannot print")
    return 0


def main() -> int:
    return run("malleable-report", report)
