# SPDX-License-Identifier: LGPL-2.1-or-later
"""The reader: what it makes of traces, and that it refuses what trace/trace_reader.c refuses."""
import json
import os
import random
import shutil
import subprocess

import pytest
from conftest import RECORDED, sample, step, window

import malleable
from malleable import convert

MALLEABLE = os.environ.get("MALLEABLE") or shutil.which("malleable")


def refused(path):
    with pytest.raises(malleable.Failure) as caught:
        malleable.read(path)
    assert str(caught.value).isprintable()
    return str(caught.value).replace(path, "F")


def test_recorded_trace():
    trace = malleable.read(str(RECORDED))
    assert (trace.step, trace.node, trace.policy, trace.ranks) == ("1.0", "node1", "observe", 2)
    assert trace.cpus == [0, 1] and not trace.cut
    assert len(trace.windows) == 24 and trace.owners.shape == (24, 2)
    assert len(trace.samples) == 48
    assert trace.windows.end_s[1] == 0.468970882
    assert trace.samples.work_s[2] == 0.962354461
    assert list(trace.samples.window[:3]) == [1, 1, 2]


def test_windows_do_not_overlap(write):
    trace = malleable.read(write(step(), window([0, 1], at_s=0.5), window([0, -1], at_s=7),
                                 window([1, 1])))
    assert list(trace.windows.begin_s) == [0, 6, 7]
    assert list(trace.windows.end_s) == [1, 7, 8]
    assert trace.owners.loc[2].tolist() == [0, -1]


def test_ranks_are_in_order_and_small_times_are_none(write):
    trace = malleable.read(write(step(), window([0, 1], [sample(1, work_s=5e-324), sample(0)])))
    assert list(trace.samples["rank"]) == [0, 1]
    assert list(trace.samples.work_s) == [0, 0]


def test_last_line_may_be_cut(write):
    path = write(step(), window([0, 1]))
    with open(path, "a", encoding="ascii") as file:
        file.write('{"type": "win')
    trace = malleable.read(path)
    assert trace.cut and len(trace.windows) == 1


def test_ranks_may_come_later(write):
    trace = malleable.read(write(step(), window([0, 1]), {"type": "ranks", "ranks": 3},
                                 window([0, 2], [sample(2)])))
    assert trace.ranks == 3 and list(trace.samples["rank"]) == [2]
    for ranks in (2, 1025, "3", None):
        assert "line 2: number of ranks out of range" in refused(
            write(step(), {"type": "ranks", "ranks": ranks}, window([0, 1])))


def test_busy_cpus(write):
    trace = malleable.read(write(step(), window([0, 1], elapsed_s=2, busy=[500, 1000],
                                                borrowed=[0, 1, 250, 1, 0, 125]),
                                 window([0, 1])))
    assert trace.busy.loc[1].tolist() == [1, 2] and trace.busy.loc[2].isna().all()
    assert trace.borrowed.values.tolist() == [[1, 0, 1, 0.5], [1, 1, 0, 0.25]]
    for wrong in ({"busy": [1]}, {"busy": [0, 1001]}, {"busy": None}, {"borrowed": {}},
                  {"borrowed": [0, 1]}, {"borrowed": [2, 0, 1]}, {"borrowed": [0, 2, 1]},
                  {"borrowed": [0, 0, 1001]}, {"borrowed": [0, 0, -1]}):
        assert "line 2: how busy CPUs were is out of range" in refused(
            write(step(), window([0, 1], **wrong)))


def test_unknown_lines_and_keys_are_skipped(write):
    trace = malleable.read(write(step(new=1), {"type": "new"}, window([0, 1], new=[{}])))
    assert len(trace.windows) == 1


def test_named_regions(write):
    trace = malleable.read(write(
        step(), window([0, 1], [sample(1, regions={"io": [0.5, 0, 0.25, 0.125]}), sample(0)]),
        window([0, 1], [sample(0, regions={"a\x1b": [1, 2, 0, 0], "io": [1, 0, 1, 0]})])))
    assert list(trace.regions.itertuples(index=False, name=None)) == [
        (1, 1, "io", 0.5, 0, 0.25, 0.125), (2, 0, "a?", 1, 2, 0, 0), (2, 0, "io", 1, 0, 1, 0)]
    # Paraver has them as events at the windows' begins, behind the rank's figures.
    assert [line.split(":")[3:6:2] + line.rstrip().split(":")[18:]
            for line in convert.to_paraver(trace) if line.startswith("2:")] == [
        ["1", "0"], ["2", "0", "90001101", "500000"],
        ["1", "1000000000", "90001100", "1000000", "90001101", "1000000"]]
    names = "".join(convert.to_paraver_names(trace))
    assert "\n0    90001100    In region a? (us)\n" in names
    assert "\n0    90001101    In region io (us)\n" in names


def test_texts_are_printable(write):
    trace = malleable.read(write(step(node="\x1b[2J\u009b", step="x" * 100), window([0, 1])))
    assert trace.node == "?[2J??" and len(trace.step) == 63


@pytest.mark.parametrize("line, why", [
    (step(version=2), "line 1: not a trace of version 1"),
    (step(version=True), "line 1: not a trace of version 1"),
    (step(ranks=0), "line 1: number of ranks or CPUs out of range"),
    (step(ranks=1025), "line 1: number of ranks or CPUs out of range"),
    (step(cpus=1025), "line 1: number of ranks or CPUs out of range"),
    (step(l3=[0]), "line 1: the number of places is not that of CPUs"),
    (step(numa=[0, 1 << 24]), "line 1: the number of places is not that of CPUs"),
    (step(package=[0, False]), "line 1: the number of places is not that of CPUs"),
    (window([0, 1]), "line 1: the first line, and only it, describes the step"),
])
def test_step_is_refused(write, line, why):
    assert refused(write(line, window([0, 1]))) == f"F: {why}"


@pytest.mark.parametrize("line, why", [
    ({"type": 3}, "it has no type"),
    ([], "it has no type"),
    (step(), "the first line, and only it, describes the step"),
    (window([0]), "the number of owners is not that of CPUs"),
    (window([0, 2]), "the number of owners is not that of CPUs"),
    (window([0, -2]), "the number of owners is not that of CPUs"),
    (window([0, 1.0]), "the number of owners is not that of CPUs"),
    (window([0, 1], elapsed_s=-1), "the window's length is missing or out of range"),
    (window([0, 1], elapsed_s=3.3e7), "the window's length is missing or out of range"),
    (window([0, 1], ranks={}), "the ranks are missing"),
    (window([0, 1], [sample(2)]), "a rank does not exist, or appears twice"),
    (window([0, 1], [7]), "a rank does not exist, or appears twice"),
    (window([0, 1], [sample(0), sample(0)]), "a rank does not exist, or appears twice"),
    (window([0, 1], [sample(0, mpi_s="1")]), "a rank's times are missing or out of range"),
    (window([0, 1], [sample(0, team=65537)]), "a rank's numbers are missing or out of range"),
    (window([0, 1], [sample(0, regions=[])]), "a rank's regions are wrong"),
    (window([0, 1], [sample(0, regions={"io": [1, 2, 3]})]), "a rank's regions are wrong"),
    (window([0, 1], [sample(0, regions={"io": [1, 2, 3, -4]})]), "a rank's regions are wrong"),
    (window([0, 1], [[]] * 4200), "it has too many parts"),
    ('{"type": "window", "type": "plan"}', "a name appears twice"),
    ('{"type": "plan", "x": NaN}', "NaN is no number"),
    ('{"type": "plan", "x": ' + "[" * 1080 + "]" * 1080 + "}", "it is too deep"),
])
def test_line_is_refused(write, line, why):
    assert refused(write(step(), line)) == f"F: line 2: {why}"


def test_other_files_are_named(write, tmp_path):
    no_trace = "no trace; --balance-trace=FILE writes one"
    assert refused(write("nonsense")) == f"F: it is {no_trace}"
    assert refused(write("{", '"malleable": 1')) == \
        f"F: it is a report (of --balance-report), and {no_trace}"
    assert refused(write()) == "F: it has no window"
    assert refused(str(tmp_path / "absent")) == "cannot read F: No such file or directory"
    assert refused(str(tmp_path)) == "cannot read F: not a regular file"
    os.mkfifo(tmp_path / "pipe")
    assert refused(str(tmp_path / "pipe")) == "cannot read F: not a regular file"


def test_long_lines_are_refused(tmp_path):
    path = tmp_path / "sparse"
    with open(path, "wb") as file:
        file.truncate(1 << 40)
    assert refused(str(path)) == "F: line 1: it is too long"


def mutated(choose, lines):
    """LINES with a few bytes of them changed, or parts of them somewhere else."""
    text = bytearray(b"".join(lines))
    for _ in range(choose.randint(1, 2)):
        at = choose.randrange(len(text))
        kind = choose.randrange(9)
        if kind == 0:
            text[at] = choose.randrange(256)
        elif kind == 1:
            text[at] = choose.choice(b'0123456789-.e{}[],:"tn\n')
        elif kind == 2:
            del text[at:at + choose.randint(1, 40)]
        elif kind == 3:
            text[at:at] = text[choose.randrange(len(text)):][:choose.randint(1, 60)]
        else:
            number = choose.choice((b"-1", b"1e999", b"99999999999999999999", b"65537", b"0.0",
                                    b"null", b"true", b"[]", b"{}", b'"\\ud800"'))
            end = at + len(text[at:].split(b",", 1)[0])
            text[max(text.rfind(b":", 0, at) + 1, 0):end] = number
    return bytes(text)


def test_mutated_traces_are_read_or_refused(tmp_path):
    """And the command malleable takes and refuses the same, where there is one."""
    with open(RECORDED, "rb") as file:
        lines = file.readlines()[:6]
    path, taken = tmp_path / "mutated", {True: 0, False: 0}
    for seed in range(1000):
        path.write_bytes(mutated(random.Random(seed), lines))
        try:
            malleable.read(str(path))
            good = True
        except malleable.Failure as failure:
            assert str(failure).count("\n") == 0
            good = False
        taken[good] += 1
        if MALLEABLE and seed < 150:
            command = [MALLEABLE, "replay", "--policy=off", str(path)]
            done = subprocess.run(command, capture_output=True, check=False)
            # Python takes numbers of any size where nothing looks at them.
            assert (done.returncode == 0) == good or b"too big integer" in done.stderr or \
                b"real number overflow" in done.stderr, f"seed {seed}: {done.stderr}"
    assert min(taken.values()) > 30


def test_what_is_written_is_read(write):
    """Each figure is where it was."""
    lines = [step(cpus=3), window([1, -1, 0], [sample(0, work_s=0.25, cpus=1),
                                               sample(1, mpi_s=0.5, most=2, team=3)])]
    trace = malleable.read(write(*lines))
    for row, wanted in zip(trace.samples.to_dict("records"), json.loads(json.dumps(
            lines[1]["ranks"]))):
        assert row == {"window": 1, **wanted}
