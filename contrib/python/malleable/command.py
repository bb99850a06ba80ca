# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the commands share: arguments, exit statuses, and one line of standard error for each."""
from __future__ import annotations

import argparse
import errno
import os
import sys
from typing import Callable, Iterable, NoReturn

from .files import Failure, failing, printable


class Parser(argparse.ArgumentParser):
    """Says in one line what is wrong, and exits with 2."""

    def __init__(self, prog: str, **options):
        from . import __version__
        super().__init__(prog, allow_abbrev=False, add_help=False,
                         formatter_class=argparse.RawDescriptionHelpFormatter, **options)
        self.add_argument("-h", "--help", action="help", help="show this and exit")
        self.add_argument("-V", "--version", action="version", version=f"{prog} {__version__}",
                          help="show the version and exit")

    def error(self, message: str) -> NoReturn:
        raise Failure(f"{message}, see {self.prog} --help", 2)


def complain(name: str, text: str) -> None:
    # Where it is closed, print() would take standard output.
    if sys.stderr:
        print(f"{name}: {printable(text)}", file=sys.stderr)


def to_stdout(parts: Iterable[str], what: str) -> None:
    """Print all of PARTS. A reader that closes a pipe early is an error as any other."""
    with failing(what):
        if not sys.stdout:
            raise OSError(errno.EBADF, os.strerror(errno.EBADF))
        for part in parts:
            sys.stdout.write(part)
        sys.stdout.flush()


def forget_stdout() -> None:
    """What could not be printed is not tried again as Python ends."""
    try:
        if sys.stdout:
            sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def run(name: str, act: Callable[[], int]) -> int:
    """The exit status of a command."""
    try:
        return act()
    except Failure as failure:
        complain(name, str(failure))
        status = failure.status
    except ImportError as error:
        complain(name, f"{error.name} is missing: pip install {error.name}")
        status = 1
    except MemoryError:
        complain(name, "out of memory")
        status = 1
    except KeyboardInterrupt:
        status = 130
    forget_stdout()
    return status
