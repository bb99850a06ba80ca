# SPDX-License-Identifier: LGPL-2.1-or-later
"""Files of others that are read, and files that are written whole or not at all."""
from __future__ import annotations

import contextlib
import errno
import os
import secrets
import stat
from typing import BinaryIO, Callable, Iterable, Iterator, Optional


class Failure(Exception):
    """What failed and why, for people, and the exit status for it."""

    def __init__(self, text: str, status: int = 1):
        super().__init__(text)
        self.status = status


def printable(text: str) -> str:
    """TEXT without what could move a terminal's cursor or end a line: a ? for each such byte."""
    return "".join(chr(byte) if 32 <= byte <= 126 else "?"
                   for byte in text.encode("utf-8", "surrogatepass"))


def counted(count: int, noun: str) -> str:
    return f"{count} {noun}" + ("" if count == 1 else "s")


@contextlib.contextmanager
def failing(what: str) -> Iterator[None]:
    """Errors of the system say what failed."""
    try:
        yield
    except OSError as error:
        raise Failure(f"{what}: {error.strerror or error}") from error


def open_regular(name: str, directory: Optional[int] = None, flags: int = 0) -> int:
    """Open a regular file for reading. Who has a pipe or a lease makes nobody wait."""
    fd = os.open(name, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | flags, dir_fd=directory)
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        raise OSError(0, "not a regular file")
    return fd


def input_file(path: str, directory: Optional[int] = None) -> BinaryIO:
    """Open PATH, or what it ends with in DIRECTORY."""
    with failing(f"cannot read {path}"):
        name = path if directory is None else os.path.basename(path)
        return os.fdopen(open_regular(name, directory), "rb")


@contextlib.contextmanager
def beside(path: str, what: str) -> Iterator[int]:
    """The directory of PATH, looked up once, for a file that is named after PATH: it has to be the
    caller's own, as its owner may put anything there."""
    with failing(f"cannot read {path}"):
        directory = os.open(os.path.dirname(path) or ".", os.O_RDONLY | os.O_DIRECTORY)
    try:
        if os.fstat(directory).st_uid != os.geteuid():
            raise Failure(f"name the {what} with -o: {path} is in a directory of others")
        yield directory
    finally:
        os.close(directory)


class Output:
    """A file that is written under another name, and gets its own by commit() at the end."""

    def __init__(self, path: str, what: str, directory: Optional[int] = None,
                 read: Iterable[os.stat_result] = ()):
        """DIRECTORY: nobody named the file but us, so what is there already must be the caller's
        own. Else PATH may be a link, or a device. It is no file that was READ."""
        self.directory, self.own_directory, self.temporary = directory, False, ""
        self.read = read
        self.what = f"cannot write the {what} to {path}"
        with failing(self.what):
            mode = self._derived(path) if directory is not None else self._named(path)
            if mode is None:
                return
            self.temporary = f".{self.name[:64]}.{secrets.token_hex(8)}"
            fd = os.open(self.temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW,
                         0o666, dir_fd=self.directory)
            self.file: BinaryIO = os.fdopen(fd, "wb")
            if mode:
                os.fchmod(fd, mode)

    def _refuse_read(self, there: os.stat_result) -> None:
        if any(os.path.samestat(there, each) for each in self.read):
            raise Failure(f"{self.what}: it is read; name another file", 2)

    def _derived(self, path: str) -> int:
        self.name = os.path.basename(path)
        try:
            there = os.stat(self.name, dir_fd=self.directory, follow_symlinks=False)
        except FileNotFoundError:
            return 0
        self._refuse_read(there)
        if not stat.S_ISREG(there.st_mode) or there.st_nlink > 1 or there.st_uid != os.geteuid():
            raise Failure(f"{self.what}: a link, or not yours alone; name another file")
        return stat.S_IMODE(there.st_mode)

    def _named(self, path: str) -> Optional[int]:
        """The mode of the file that is there, which may be written to: the system says so, and
        through which links. None: it is a device, written to as it is."""
        mode = 0
        try:
            fd = os.open(path, os.O_WRONLY | os.O_NONBLOCK | os.O_NOCTTY)
        except FileNotFoundError:
            pass
        except OSError as error:
            # A pipe that nobody reads.
            raise OSError(0, "not a file or device") if error.errno == errno.ENXIO else error
        else:
            there = os.fstat(fd)
            os.set_blocking(fd, True)
            if stat.S_ISCHR(there.st_mode):
                self.file = os.fdopen(fd, "wb")
                return None
            os.close(fd)
            self._refuse_read(there)
            path = os.path.realpath(path)
            if not stat.S_ISREG(there.st_mode) or not os.path.samestat(there, os.lstat(path)):
                raise OSError(0, "not a file or device")
            mode = stat.S_IMODE(there.st_mode)
        self.directory = os.open(os.path.dirname(path) or ".", os.O_RDONLY | os.O_DIRECTORY)
        self.own_directory = True
        self.name = os.path.basename(path)
        return mode

    def write(self, parts: Iterable[str]) -> None:
        """All of the file, which is on the disk then."""
        with failing(self.what):
            for part in parts:
                self.file.write(part.encode())
            self.file.flush()
            if self.temporary:
                os.fsync(self.file.fileno())

    def commit(self) -> None:
        with failing(self.what):
            self.file.close()
            if self.temporary:
                os.rename(self.temporary, self.name, src_dir_fd=self.directory,
                          dst_dir_fd=self.directory)
        self.temporary = ""

    def close(self) -> None:
        """Nothing is left of it, unless commit() came before."""
        if self.temporary:
            os.unlink(self.temporary, dir_fd=self.directory)
            self.temporary = ""
        if self.own_directory:
            os.close(self.directory)
            self.own_directory = False


def write_files(files: list[tuple[str, Callable[[], Iterable[str]]]], what: str,
                directory: Optional[int] = None, read: Iterable[os.stat_result] = ()) -> None:
    """Write all of (PATH, what makes its parts), and none where one of them fails, or is READ."""
    with contextlib.ExitStack() as stack:
        outputs = []
        for path, parts in files:
            outputs.append(Output(path, what, directory, read))
            stack.callback(outputs[-1].close)
            outputs[-1].write(parts())
        for output in outputs:
            output.commit()
