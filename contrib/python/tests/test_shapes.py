# SPDX-License-Identifier: LGPL-2.1-or-later
"""malleable-try: which steps it runs, what it makes of them, and that it leaves nothing."""
import json
import os
import pathlib
import signal
import subprocess
import sys
import time

import pytest

from malleable.files import Failure
from malleable.shapes import Job, Shape, allocation, compare, picture, shapes, table

# A srun whose ranks take 8 s a phase by themselves, and less the more CPUs each has.
SRUN = """#!/usr/bin/env python3
import json, os, signal, sys, time
options = dict(word[2:].split("=", 1) for word in sys.argv if word.startswith("--") and "=" in word)
ranks, cpus = (int(sys.argv[sys.argv.index(name) + 1]) for name in ("-n", "-c"))
open("ran", "a").write(" ".join(sys.argv[1:]).split(" --balance-trace")[0] + "\\n")
if ranks == 4 and os.path.exists("fails"):
    print("what it does before\\n" * 5000, flush=True)
    sys.exit("srun: error: no such shape\\nsrun: error: n1: tasks 0-3: Exited with exit code 2"
             "\\nTry \\"srun --help\\" for more information")
if os.path.exists("prints"):
    print("x" * (1 << 22), flush=True)
    there = os.path.dirname(options["balance-trace"])
    with open("prints", "a") as file:
        file.write("".join(f"{os.path.getsize(os.path.join(there, name))}\\n"
                           for name in os.listdir(there)))
if os.path.exists("hangs"):
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(open("hangs").read()))
    time.sleep(600)
phase = (1.0 if ranks == 2 else 1.5) * (0.5 if options["balance"] == "auto" else 1)
regions = 30 if ranks == 8 else 10
# The first window has what a program sets up, too; and in the second a phase was half of one.
sample = {"phases": 2.0, "elapsed_s": 2 * phase, "serial_s": 0.125, "mpi_s": 0.125,
          "region_s": (2 * phase - 0.25) / (2 * regions)}
first = dict(sample, region_s=sample["region_s"] / 9)
second = dict(sample, phases=4.0)
with open(options["balance-trace"], "w") as file:
    windows = 1 if os.path.exists("waits") else 11
    for line in [{"type": "step"}] + [{"type": "window", "elapsed_s": 2 * phase, "ranks": [one]}
                                      for one in [first, second] + windows * [sample]]:
        file.write(json.dumps(line) + "\\n")
if os.path.exists("waits"):
    def end(*_):
        if os.path.exists("twice"):
            os.kill(os.getppid(), signal.SIGHUP)
            time.sleep(0.5)
        open("ended", "w").close()
        sys.exit(1)
    signal.signal(signal.SIGTERM, end)
    open("waiting", "w").close()
    time.sleep(600)
"""

MAIN = "import sys; from malleable.shapes import main; sys.exit(main())"
# A signal comes after the step has begun, and before the tool has it.
AS_IT_BEGINS = """import os, signal, subprocess, time
class Popen(subprocess.Popen):
    def __init__(self, *arguments, **options):
        super().__init__(*arguments, **options)
        while not os.path.exists("waiting"):
            time.sleep(0.05)
        os.kill(os.getpid(), signal.SIGTERM)
subprocess.Popen = Popen
"""


@pytest.fixture
def tries(tmp_path):
    """Run malleable-try in a directory of its own, with that srun."""
    (tmp_path / "bin").mkdir()
    srun = tmp_path / "bin" / "srun"
    srun.write_text(SRUN)
    srun.chmod(0o755)
    package = pathlib.Path(__file__).parents[1]

    def start(*arguments, job="7", code=MAIN, **more):
        environment = dict(os.environ, PATH=f"{srun.parent}:{os.environ['PATH']}",
                           PYTHONPATH=str(package), SLURM_JOB_CPUS_PER_NODE="8",
                           SLURM_CPUS_PER_TASK="3", **more)
        environment.pop("SLURM_JOB_ID", None)
        if job:
            environment["SLURM_JOB_ID"] = job
        return subprocess.Popen(
            [sys.executable, "-c", code, *arguments], cwd=tmp_path, env=environment, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    start.path = tmp_path
    return start


def left(path):
    return sorted(entry.name for entry in path.iterdir() if entry.name.startswith("."))


def test_steps_that_it_runs(tries):
    step = tries("--ranks=1,2", "--seconds=5", "--hint=nomultithread", "--json",
                 "--picture=times.svg", "--", "./app", "a b")
    out, err = step.communicate()
    assert step.returncode == 0, err
    assert (tries.path / "ran").read_text().splitlines() == [
        f"-N 1 -n {ranks} -c {cpus} --hint=nomultithread --balance={balance}"
        for ranks, cpus, balance in ((1, 8, "observe"), (2, 4, "observe"), (2, 4, "auto"),
                                     (1, 8, "auto"))]
    said = json.loads(out)
    assert (said["version"], said["nodes"], said["cpus"]) == (1, 1, 8)
    assert [shape["phase_s"] for shape in said["shapes"]] == [1.5, 1, 0.5, 0.75]
    assert said["best"]["ranks"] == 2 and said["best"]["balance"] == "auto"
    assert said["use"] == "srun -N 1 -n 2 -c 4 --hint=nomultithread --balance ./app 'a b'"
    assert (tries.path / "times.svg").read_text().count("<rect") == 4
    assert not left(tries.path) and "step 1 of 4" in err


def test_other_phases_are_not_compared(tries):
    (tries.path / "fails").touch()
    step = tries("--ranks=1,2,4,8", "--seconds=5", "--", "./app")
    out, err = step.communicate()
    assert step.returncode == 0, err
    assert "not comparable: 30.0 regions in a phase, not 10.0" in out
    assert "it failed: srun: error: no such shape" in out
    assert out.splitlines()[-1] == "use: srun -N 1 -n 2 -c 4 --balance ./app"


def test_what_a_step_prints_takes_no_room(tries):
    (tries.path / "prints").touch()
    assert tries("--ranks=1,2", "--", "./app").wait() == 0
    sizes = [int(line) for line in (tries.path / "prints").read_text().split()]
    assert sizes and max(sizes) < 1 << 20


@pytest.mark.parametrize("said, why", [
    ("srun: error: n1: task 0: Killed", "no phase was measured"),
    ("srun: Cancelled pending job step with signal 15\nsrun: error: Unable to create step",
     "other steps of the job have its CPUs")])
def test_a_step_that_measures_nothing_has_not_failed(tries, said, why):
    (tries.path / "hangs").write_text(said)
    out = tries("--ranks=1", "--seconds=1", "--", "./app").communicate()[0]
    assert why in out and "failed" not in out


def test_the_table_is_printed_where_the_picture_cannot_be_written(tries):
    step = tries("--ranks=1", "--seconds=5", "--picture=none/times.svg", "--", "./app")
    out, err = step.communicate()
    assert step.returncode == 1 and "cannot write the picture" in err
    assert out.splitlines()[-1] == "use: srun -N 1 -n 1 -c 8 --balance ./app"


def test_nothing_is_left_after_a_signal(tries):
    """Nor after another one, which comes while the step ends."""
    for number, name in ((signal.SIGINT, "waits"), (signal.SIGTERM, "twice")):
        (tries.path / "waits").touch()
        (tries.path / name).touch()
        step = tries("--ranks=1,2", "--seconds=600", "--picture=times.svg", "--", "./app")
        while not (tries.path / "waiting").exists():
            time.sleep(0.05)
        step.send_signal(number)
        out, err = step.communicate()
        assert step.returncode == 128 + number and not out, err
        assert (tries.path / "ended").exists() and not left(tries.path)
        assert "step 2" not in err and not (tries.path / "times.svg").exists()
        for name in ("waiting", "ended"):
            (tries.path / name).unlink()


def test_a_signal_as_a_step_begins_ends_it(tries):
    (tries.path / "waits").touch()
    step = tries("--ranks=1,2", "--seconds=600", "--", "./app", code=AS_IT_BEGINS + MAIN)
    _, err = step.communicate()
    assert step.returncode == 128 + signal.SIGTERM, err
    assert (tries.path / "ended").exists() and "step 2" not in err and not left(tries.path)


def test_dry_run_runs_nothing(tries):
    step = tries("--ranks=2,4", "--dry-run", "--", "./app")
    assert step.communicate()[0].splitlines() == [
        "srun -N 1 -n 2 -c 4 --balance=observe ./app",
        "srun -N 1 -n 4 -c 2 --balance=observe ./app"]
    assert not (tries.path / "ran").exists()


def test_outside_an_allocation_it_refuses(tries):
    step = tries("--ranks=2", "--", "./app", job="")
    assert "this is no allocation" in step.communicate()[1] and step.returncode == 1


def test_wrong_arguments(tries):
    for arguments in (["--ranks=0", "x"], ["--ranks=9", "x"], ["--ranks=1,1", "x"],
                      ["--ranks=a", "x"], ["--ranks=1", "--seconds=0", "x"], ["--ranks=1"], ["x"]):
        step = tries(*arguments)
        assert step.communicate()[1].count("\n") == 1 and step.returncode == 2, arguments


def test_allocations():
    job = {"SLURM_JOB_ID": "1"}
    assert allocation({**job, "SLURM_JOB_CPUS_PER_NODE": "48(x3)"}) == (3, 48)
    assert allocation({**job, "SLURM_JOB_CPUS_PER_NODE": "8"}) == (1, 8)
    for wrong in ("8,4", "", "x"):
        with pytest.raises(Failure):
            allocation({**job, "SLURM_JOB_CPUS_PER_NODE": wrong})
    assert [shape.name() for shape in shapes("3,8", 8)] == ["3 x 2", "8 x 1"]
    two = Job(2, 8, ["./app"])
    assert two.use(Shape(4, 2)) == "srun -N 2 -n 8 --ntasks-per-node=4 -c 2 ./app"


def test_what_was_not_measured_is_said():
    tried = [Shape(1, 2, why="no phase was measured")]
    assert not compare(tried)
    assert "no phase was measured" in "".join(table(Job(1, 2, ["x"]), tried, None))
    assert "no phase" in "".join(picture(tried, None))
