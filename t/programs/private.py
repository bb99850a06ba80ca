# SPDX-License-Identifier: LGPL-2.1-or-later
"""Python's mpi4py loads an MPI library that nothing else can see: rank 1 has a third of rank 0's
work and waits."""
import time

from mpi4py import MPI

world = MPI.COMM_WORLD
total = 0
for phase in range(12):
    end = time.thread_time() + (0.03 if world.rank == 0 else 0.01)
    while time.thread_time() < end:
        pass
    world.Barrier()
    total = world.bcast(total + 1 if world.rank == 0 else None)
print("total", total)
