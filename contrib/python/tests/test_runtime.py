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


def test_an_exception_passes_through_a_wait():
    with pytest.raises(KeyError), runtime.waiting(polls=True):
        raise KeyError


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
