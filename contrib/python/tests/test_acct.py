# SPDX-License-Identifier: LGPL-2.1-or-later
"""Sums of reports: whatever is in one, it is added, left out or counted."""
import json
import os
import random

import pytest
from test_trace import mutated

from malleable.acct import Books, is_report, prometheus, table

REPORT = {"version": 1, "timestamp": "2026-01-01T10:00:00Z", "ranks": 2, "policy": "auto",
          "command": ["/opt/solver", "x"], "cpus": 4, "elapsed_s": 3600, "measured": {
              "windows": 9, "elapsed_s": 2700, "unbalanced_s": 3600, "ideal_s": 1800}}


def add(books, path, content):
    path.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
    books.add("name", os.open(path, os.O_RDONLY))


def test_sums(tmp_path):
    books = Books("week")
    add(books, tmp_path / "a", REPORT)
    account, = books.list()
    assert account.row().split() == ["2026-W01", "1", "4.00", "1.00", "1.00", "0"]


def test_without_an_estimate(tmp_path):
    books = Books("week")
    add(books, tmp_path / "a", dict(REPORT, measured=dict(REPORT["measured"], unbalanced_s=None)))
    add(books, tmp_path / "b", REPORT)
    account, = books.list()
    assert account.row().split() == ["2026-W01", "2", "8.00", "1.00", "1.00", "1"]


def measured(**times):
    return dict(REPORT, elapsed_s=7200, measured=dict(REPORT["measured"], **times))


def test_hours_that_were_lost(tmp_path):
    books = Books("week")
    add(books, tmp_path / "a", measured(elapsed_s=4500))
    add(books, tmp_path / "b", measured(elapsed_s=1800))
    account, = books.list()
    assert account.row().split() == ["2026-W01", "2", "16.00", "1.00", "3.00", "0"]
    text = "".join(prometheus(books))
    assert 'saved_cpu_seconds_total{week="2026-W01"} 7200\n' in text
    assert 'lost_cpu_seconds_total{week="2026-W01"} 3600\n' in text


def test_what_only_looked_saved_nothing(tmp_path):
    books = Books("week")
    add(books, tmp_path / "a", dict(REPORT, policy="observe"))
    account, = books.list()
    assert account.row().split() == ["2026-W01", "1", "4.00", "0.00", "1.00", "0"]


def test_no_step_is_slower_than_on_one_cpu(tmp_path, capsys):
    books = Books("week")
    add(books, tmp_path / "a", measured(unbalanced_s=3 * 4 * 2700))
    assert books.left_out == 0
    add(books, tmp_path / "b", measured(unbalanced_s=3 * 4 * 2700 + 1))
    assert books.left_out == 1
    assert "unbalanced_s is 32401, and only 0 to 32400 can be" in capsys.readouterr().err


@pytest.mark.parametrize("name, good", [
    ("1.0.n.json", True), ("a.json.1", True), ("a.json.12", False), ("a.json.", False),
    (".json", True), ("a.json.json", True), ("json", False), ("a.jsonx", False)])
def test_names_of_reports(name, good):
    assert is_report(name) == good


@pytest.mark.parametrize("content", [
    b"[" * 100000, b'{"a": 1, "a": 2}', b"\xff", b'{"version": NaN}', b"",
    dict(REPORT, version=True), dict(REPORT, policy=None), dict(REPORT, measured=[]),
    dict(REPORT, cpus="4")])
def test_what_is_no_report(tmp_path, content):
    books = Books("user")
    add(books, tmp_path / "a", content)
    assert (books.missed, books.left_out, books.list()) == (1, 0, [])


def test_memory_for_a_report_is_bounded(tmp_path, capsys):
    for content in b'{"x": [' + b"[]," * 300000 + b"0]}", b" " * (8 << 20) + b"{}":
        books = Books("user")
        add(books, tmp_path / "a", content)
        assert books.left_out == 1
        assert "left out name: File too large" in capsys.readouterr().err


def test_huge_numbers_are_left_out(tmp_path, capsys):
    books = Books("user")
    add(books, tmp_path / "a", json.dumps(REPORT).replace("3600", "1" + "0" * 400).encode())
    assert books.left_out == 1
    assert "elapsed_s is too large, and only 0 to" in capsys.readouterr().err


def test_mutated_reports_harm_nothing(tmp_path, capsys):
    lines = json.dumps(REPORT, indent=1).encode().splitlines(keepends=True)
    for by in "user", "program", "policy", "week":
        books = Books(by)
        for seed in range(300):
            add(books, tmp_path / "a", mutated(random.Random(seed), lines))
        assert min(books.missed, books.total.reports) >= 10
        text = "".join(table(books)) + "".join(prometheus(books))
        assert all(line.isprintable() for line in text.splitlines())
        assert all(abs(account.saved_s) < 1e15 for account in books.list())
    assert all(line.isprintable() for line in capsys.readouterr().err.splitlines())
