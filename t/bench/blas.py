# SPDX-License-Identifier: LGPL-2.1-or-later
"""blas.py plain|calls|best: products of matrices with numpy, of which rank 0 has three times as
many as rank 1. With calls the threads of its BLAS follow the rank's CPUs. best: how many times as
fast the program could be, by what its products take on these CPUs. For t/bench/interface."""
import contextlib
import sys
import time

import numpy
import threadpoolctl
from malleable import runtime
from mpi4py import MPI

CALLS = sys.argv[1] == "calls"
STEPS = 8
PRODUCTS = 20
SIZE = 480


def multiply(a, b, count):
    total = 0.0
    with runtime.borrowing(2) if CALLS else contextlib.nullcontext():
        for _ in range(count):
            total += (a @ b)[1, 2]
            if CALLS:
                runtime.poll()
    return total


def timed(world, ranks, threads, a, b):
    """Seconds for the products of a step, in the first RANKS with so many threads; others sleep."""
    begin = time.monotonic()
    if world.rank < ranks:
        with threadpoolctl.threadpool_limits(threads):
            multiply(a, b, PRODUCTS)
    seconds = time.monotonic() - begin
    meeting = world.Ibarrier()
    while not meeting.Test():
        time.sleep(0.001)
    return seconds


def best(world, a, b):
    """While rank 1 computes both have a CPU; then rank 0 has one, or both."""
    ways = ((2, 1), (1, 1), (1, 2))
    together, alone, both = (sum(times) for times in
                             zip(*([timed(world, *way, a, b) for way in ways]
                                   for _ in range(STEPS))))
    return (together + 2 * alone) / (together + 2 * both)


def main():
    world = MPI.COMM_WORLD
    # Small integers: any order of sums has the same one.
    a = numpy.arange(SIZE * SIZE, dtype=float).reshape(SIZE, SIZE) % 7
    b = a.T.copy()
    total = 0.0
    if sys.argv[1] == "best":
        gain = best(world, a, b)
        if world.rank == 0:
            print(f"elapsed {gain:.4f} s, result best")
        return
    with runtime.limits() if CALLS else contextlib.nullcontext():
        multiply(a, b, 1)
        world.Barrier()
        begin = time.monotonic()
        for _ in range(STEPS):
            total += multiply(a, b, PRODUCTS * (3 if world.rank == 0 else 1))
            world.Barrier()
        seconds = time.monotonic() - begin
    total = world.reduce(total)
    if world.rank == 0:
        print(f"elapsed {seconds:.4f} s, result {total:.0f}")


main()
