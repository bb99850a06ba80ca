# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the commands do with standard output and error that are closed, and when interrupted."""
import os
import sys

import pytest

from malleable.command import complain, to_stdout
from malleable.files import Failure
from malleable.nobody import receive_files, send_files


def test_closed_output_is_an_error(monkeypatch):
    monkeypatch.setattr(sys, "stdout", None)
    with pytest.raises(Failure, match="^cannot print: Bad file descriptor$"):
        to_stdout(["text"], "cannot print")


def test_no_error_goes_to_standard_output(monkeypatch, capsys):
    monkeypatch.setattr(sys, "stderr", None)
    complain("name", "what is wrong")
    assert capsys.readouterr().out == ""


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
def test_interrupted_sums_are_not_printed():
    """Of some files there are no sums, whatever ended the sending of them."""
    def files():
        yield "name", os.open(__file__, os.O_RDONLY)
        raise KeyboardInterrupt

    def add_up(end):
        for _, fd in receive_files(end):
            os.close(fd)
        os.write(writing, b"sums")
        return 0

    reading, writing = os.pipe()
    with pytest.raises(KeyboardInterrupt):
        send_files(files(), add_up)
    os.close(writing)
    assert os.read(reading, 4) == b""
    os.close(reading)


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
def test_the_reader_of_files_has_nothing_of_root():
    """Neither its users nor its groups, and no program that it may start can get them back."""
    def tell(end):
        list(receive_files(end))
        os.write(writing, os.read(os.open("/proc/self/status", os.O_RDONLY), 8192))
        return 0

    before = os.getgroups()
    os.setgroups([0, 4])
    reading, writing = os.pipe()
    try:
        assert send_files(iter(()), tell) == 0
    finally:
        os.setgroups(before)
    os.close(writing)
    said = dict(line.split(":", 1) for line in os.read(reading, 8192).decode().splitlines())
    os.close(reading)
    assert len(set(said["Uid"].split())) == 1 and said["Uid"].split()[0] != "0"
    assert said["Groups"].split() == []
    assert int(said["CapPrm"], 16) == int(said["CapEff"], 16) == 0
    assert said["NoNewPrivs"].split() == ["1"]
