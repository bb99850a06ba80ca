# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the tests share: traces."""
import json
import pathlib

import pytest

RECORDED = pathlib.Path(__file__).parents[3] / "t" / "recorded.trace"
ZERO = {"elapsed_s": 1, "work_s": 0, "serial_s": 0, "mpi_s": 0, "barrier_s": 0, "region_s": 0,
        "phases": 1, "cpus": 1, "most": 0, "team": 1}


def sample(rank, **more):
    return {"rank": rank, **ZERO, **more}


def window(owner, samples=(), **more):
    return {"type": "window", "elapsed_s": 1, "owner": list(owner), "ranks": list(samples), **more}


def step(cpus=2, ranks=2, **more):
    return {"type": "step", "version": 1, "step": "1.0", "node": "n", "policy": "auto",
            "ranks": ranks, "cpus": list(range(cpus)), "l3": [0] * cpus, "numa": [0] * cpus,
            "package": [0] * cpus, **more}


@pytest.fixture
def write(tmp_path):
    """Write lines as a file, and return its path."""
    def write_lines(*lines, name="trace"):
        path = tmp_path / name
        path.write_text("".join(
            (line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines))
        return str(path)
    return write_lines
