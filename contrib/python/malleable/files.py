# SPDX-License-Identifier: LGPL-2.1-or-later
"""Files of others that are read, and files that are written whole or not at all."""
from __future__ import annotations

import contextlib
import errno
import os
import re
import secrets
import stat
from typing import BinaryIO, Callable, Iterable, Iterator, Optional

# A file is told by so many bytes at its begin.
HEAD = 4096


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


def _umask() -> int:
    mask = os.umask(0o77)
    os.umask(mask)
    return mask


def _parts(path: str) -> list[str]:
    return [part for part in path.split("/") if part] + ["."] * path.endswith("/")


def _part(name: str, directory: int) -> int:
    """NAME in DIRECTORY, or the link that it is. A directory is mounted where that is due."""
    flags = os.O_PATH | os.O_NOFOLLOW
    try:
        return os.open(name, flags | os.O_DIRECTORY, dir_fd=directory)
    except OSError as error:
        if error.errno not in (errno.ENOTDIR, errno.ELOOP):
            raise
    return os.open(name, flags, dir_fd=directory)


def _target(link: int, directory: int) -> str:
    """Where LINK in DIRECTORY leads. Root follows its own links alone. Others follow no stranger's
    where everybody may put one, whatever fs.protected_symlinks is."""
    shared = stat.S_ISVTX | stat.S_IWOTH
    if os.fstat(link).st_uid not in (0, os.geteuid()) and (
            os.geteuid() == 0 or os.fstat(directory).st_mode & shared == shared):
        raise OSError(0, "the path has another user's link; name its target")
    return os.readlink("", dir_fd=link)


def place(path: str) -> tuple[int, str]:
    """The directory where PATH ends, opened, and the name in it, which is no link. Each part is
    looked up once, so nobody who owns one of them can lead elsewhere later."""
    directory = os.open("/" if path.startswith("/") else ".", os.O_PATH | os.O_DIRECTORY)
    rest, links = _parts(path), 0
    while True:
        name = rest.pop(0) if rest else "."
        try:
            there = _part(name, directory)
        except FileNotFoundError:
            if rest:
                raise
            return directory, name
        if stat.S_ISLNK(os.fstat(there).st_mode):
            links += 1
            if links > 40:
                raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
            target = _target(there, directory)
            rest = _parts(target) + rest
            os.close(there)
            there = os.open("/" if target.startswith("/") else ".",
                            os.O_PATH | os.O_DIRECTORY, dir_fd=directory)
        elif not rest:
            os.close(there)
            return directory, name
        os.close(directory)
        directory = there


class Output:
    """A file that is written under another name, and gets its own by commit() at the end."""

    def __init__(self, path: str, what: str, begin: re.Pattern, directory: Optional[int] = None,
                 read: Iterable[os.stat_result] = ()):
        """DIRECTORY: nobody named the file but us, so what is there already must be the caller's
        own. Else PATH may be a link, or a device. What is there begins as BEGIN, or is empty, and
        is no file that was READ."""
        self.own_directory, self.temporary = directory is None, ""
        self.what = f"cannot write the {what} to {path}"
        with failing(self.what):
            if directory is None:
                self.directory, self.name = place(path)
            else:
                self.directory, self.name = directory, os.path.basename(path)
            self.mode = 0o666 & ~_umask()
            if not self._replaces(begin, read):
                return
            self.temporary = f".{self.name[:64]}.{secrets.token_hex(8)}"
            self.file: BinaryIO = os.fdopen(
                self._open(self.temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL), "wb")

    def _open(self, name: str, flags: int) -> int:
        """Until it is whole, nobody else reads it."""
        return os.open(name, flags | os.O_NOFOLLOW | os.O_NOCTTY, 0o600, dir_fd=self.directory)

    def _replaces(self, begin: re.Pattern, read: Iterable[os.stat_result]) -> bool:
        """False: it is a device, written to as it is. A file's mode is taken from the caller's own
        alone, and never a set-user-ID bit or the like."""
        try:
            there = os.stat(self.name, dir_fd=self.directory, follow_symlinks=False)
        except FileNotFoundError:
            return True
        if any(os.path.samestat(there, each) for each in read):
            raise Failure(f"{self.what}: it is the input; name another file", 2)
        own = there.st_nlink == 1 and there.st_uid == os.geteuid()
        if not self.own_directory and not (own and stat.S_ISREG(there.st_mode)):
            raise Failure(f"{self.what}: a link, or others can write it; name another file")
        if stat.S_ISCHR(there.st_mode):
            # Whose directory it is may have put a pipe or a file there meanwhile.
            fd = self._open(self.name, os.O_WRONLY | os.O_NONBLOCK)
            self.file = os.fdopen(fd, "wb")
            if not stat.S_ISCHR(os.fstat(fd).st_mode):
                self.file.close()
                raise OSError(0, "not a file or device")
            os.set_blocking(fd, True)
            return False
        if not stat.S_ISREG(there.st_mode):
            raise OSError(0, "not a file or device")
        # The system says whether it may be written to.
        fd = self._open(self.name, os.O_RDWR | os.O_NONBLOCK)
        with os.fdopen(fd, "rb") as file:
            there = os.fstat(fd)
            own = own and there.st_nlink == 1 and there.st_uid == os.geteuid()
            head = file.read(HEAD) if stat.S_ISREG(there.st_mode) else b"?"
        if head and not begin.match(head):
            raise Failure(f"{self.what}: malleable did not write the file there; name another")
        if own:
            self.mode = there.st_mode & 0o777
        return True

    def write(self, parts: Iterable[str]) -> None:
        """All of the file, which is on the disk then."""
        with failing(self.what):
            for part in parts:
                self.file.write(part.encode())
            self.file.flush()
            if self.temporary:
                os.fchmod(self.file.fileno(), self.mode)
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


def write_files(files: list[tuple[str, re.Pattern, Callable[[], Iterable[str]]]], what: str,
                directory: Optional[int] = None, read: Iterable[os.stat_result] = ()) -> None:
    """Write all of (PATH, how such a file begins, what makes its parts), and none where one of them
    fails, or is READ."""
    with contextlib.ExitStack() as stack:
        outputs = []
        for path, begin, parts in files:
            outputs.append(Output(path, what, begin, directory, read))
            stack.callback(outputs[-1].close)
            outputs[-1].write(parts())
        for output in outputs:
            output.commit()
