# SPDX-License-Identifier: LGPL-2.1-or-later
"""Phases of scikit-learn in which rank 0 has four times the work: its wheel has an OpenMP runtime
of its own."""
import numpy
from mpi4py import MPI
from sklearn.cluster import KMeans
from sklearn.ensemble import HistGradientBoostingRegressor

world = MPI.COMM_WORLD
random = numpy.random.default_rng(7)
points = random.normal(size=(20000 if world.rank == 0 else 5000, 16))
parts = []
for phase in range(5):
    means = KMeans(n_clusters=16, n_init=1, max_iter=20, random_state=phase).fit(points)
    trees = HistGradientBoostingRegressor(max_iter=10, random_state=phase).fit(points[:, 1:],
                                                                               points[:, 0])
    parts.append(repr((float(means.inertia_), float(trees.predict(points[:100, 1:]).sum()))))
    world.Barrier()
gathered = world.gather(parts)
if world.rank == 0:
    print("result", gathered)
