# SPDX-License-Identifier: LGPL-2.1-or-later
"""malleable.runtime and malleable.control outside a balanced step; inside: t/t2003-run.t."""
import subprocess
import sys

import pytest

from malleable import control, runtime


def test_nothing_heavy_is_imported():
    code = "import malleable.runtime, malleable.control, sys; sys.exit('pandas' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_all_calls_do_nothing_outside_a_step():
    assert runtime.cpus() == runtime.cpus_owned() == runtime.changes() == runtime.poll() == 0
    assert runtime.cpu_list() == [] and runtime.state() == set()
    assert runtime.borrow() == runtime.give_back() == runtime.limit(3) == 0
    assert not runtime.await_change(0)
    runtime.phase()
    with runtime.waiting() as offered, runtime.borrowing() as number, runtime.disabled():
        assert offered == number == 0
    runtime.on_change(print).remove()
    with runtime.region("part"):
        assert set(runtime.times("part").values()) == {0}
    assert set(runtime.efficiency().values()) == {None}


def test_an_exception_passes_through_a_wait():
    with pytest.raises(KeyError), runtime.waiting(polls=True):
        raise KeyError


def test_a_region_is_named_and_decorates(monkeypatch):
    calls = []
    monkeypatch.setattr(runtime, "_region", lambda name: len(name))
    monkeypatch.setattr(runtime, "_region_begin", calls.append)
    monkeypatch.setattr(runtime, "_region_end", lambda number: calls.append(-number))

    @runtime.region("part")
    def twice(number):
        return 2 * number

    assert (twice(1), twice(2)) == (2, 4)
    with pytest.raises(KeyError), runtime.region("of others"):
        raise KeyError
    assert calls == [4, -4, 4, -4, 9, -9]


def test_another_thread_measures_nothing(monkeypatch):
    def refuse(number):
        def call(_):
            raise runtime.Error("region_begin", number)
        return call

    monkeypatch.setattr(runtime, "_region", lambda _: 1)
    monkeypatch.setattr(runtime, "_region_end", lambda _: pytest.fail("it did not begin"))
    monkeypatch.setattr(runtime, "_region_begin", refuse(-2))
    with runtime.region("part"):
        pass
    monkeypatch.setattr(runtime, "_region_begin", refuse(-4))
    with pytest.raises(runtime.Error), runtime.region("part"):
        pytest.fail("it did not begin")


def test_efficiencies_are_of_the_rank(monkeypatch):
    times = {"elapsed": 4, "mpi": 1, "work": 4, "serial": 1}
    monkeypatch.setattr(runtime, "times", lambda _: times)
    monkeypatch.setattr(runtime, "cpus_owned", lambda: 2)
    assert runtime.efficiency("part") == {"parallel": 5 / 8, "mpi": 6 / 8, "openmp": 5 / 6}


def test_the_pool_does_all_work_and_passes_on_what_fails():
    with runtime.ThreadPool(3) as pool:
        assert list(pool.map(abs, range(-100, 0))) == list(range(100, 0, -1))
        with pytest.raises(ZeroDivisionError):
            pool.submit(divmod, 1, 0).result()
    with pytest.raises(RuntimeError):
        pool.submit(abs, 1)


def test_there_is_no_step():
    try:
        assert isinstance(control.steps(), list)
        with pytest.raises(control.Error, match="no balanced step 77.0") as caught:
            control.Step("77.0")
        assert caught.value.number in (-1, -2)
        with pytest.raises(control.Error, match="this process is in no balanced step"):
            control.Step()
    except OSError as absent:
        pytest.skip(str(absent))
