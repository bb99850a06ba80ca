/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * stencil.c: seismic waves with absorbing borders, as in Ondes3D: ranks at the borders have more
 * work.
 *
 * The acoustic wave equation, fourth order in space, second in time, with a Ricker source in the
 * middle; slabs of planes by rank. In the absorbing layers (convolutional PML, Komatitsch and
 * Martin 2007, in its simplest form) each node has memory variables along the three directions. The
 * energy left at the end does not depend on ranks or threads, to the last digit.
 */
#include <math.h>
#include <mpi.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "contrib/examples/example.h"

#define HALO 2
#define PI 3.14159265358979323846
#define COURANT 0.4

struct box {
	int n, planes;	  /* nodes in x and y; in z of all */
	int first, count; /* this rank's planes */
	int layer;	  /* absorbing nodes */
	int width;	  /* n with halos */
	size_t plane;
	double *now, *before; /* pressure at two times */
	double *memory[3];    /* of the absorbing layers, by direction */
	double *damping;      /* by distance to the border */
};

/* Depth of node I of N in the absorbing layer, 0 outside. */
static int depth(const struct box *box, int i, int n)
{
	int near = i < n - 1 - i ? i : n - 1 - i;

	return near < box->layer ? box->layer - near : 0;
}

static double second(const double *at, ptrdiff_t stride)
{
	return (-at[-2 * stride] + 16 * at[-stride] - 30 * at[0] + 16 * at[stride] -
		at[2 * stride]) /
	       12;
}

static double first(const double *at, ptrdiff_t stride)
{
	return (at[-2 * stride] - 8 * at[-stride] + 8 * at[stride] - at[2 * stride]) / 12;
}

/* What the layer absorbs along one direction; its memory variable follows the derivative. */
static double absorb(const struct box *box, const double *at, ptrdiff_t stride, double *memory,
		     int deep)
{
	double damping = box->damping[deep];
	double keep = exp(-damping);

	*memory = keep * *memory + (keep - 1) * first(at, stride);
	return *memory * damping;
}

static void update_row(const struct box *box, int z, int y)
{
	size_t row =
		(size_t)(z + HALO) * box->plane + (size_t)(y + HALO) * (size_t)box->width + HALO;
	const ptrdiff_t stride[3] = {1, box->width, (ptrdiff_t)box->plane};
	int deep_y = depth(box, y, box->n), deep_z = depth(box, box->first + z, box->planes);

	for (int x = 0; x < box->n; x++) {
		const double *at = box->now + row + x;
		double sum = second(at, stride[0]) + second(at, stride[1]) + second(at, stride[2]);
		double pressure;
		int deep[3] = {depth(box, x, box->n), deep_y, deep_z};
		int deepest = 0;

		for (int i = 0; i < 3; i++) {
			if (!deep[i])
				continue;
			sum += absorb(box, at, stride[i], box->memory[i] + row + x, deep[i]);
			deepest = deep[i] > deepest ? deep[i] : deepest;
		}
		pressure = 2 * *at - box->before[row + (size_t)x] + COURANT * COURANT * sum;
		if (deepest)
			pressure *= exp(-0.02 * box->damping[deepest]);
		box->before[row + (size_t)x] = pressure;
	}
}

static void update(struct box *box)
{
	double *swap = box->now;

#pragma omp parallel for collapse(2) schedule(dynamic, 4)
	for (int z = 0; z < box->count; z++)
		for (int y = 0; y < box->n; y++)
			update_row(box, z, y);
	box->now = box->before;
	box->before = swap;
}

static void shake(struct box *box, int iteration)
{
	int z = box->planes / 2 - box->first;
	double time = (iteration - 20) / 10.0, square = PI * PI * time * time;

	if (z >= 0 && z < box->count)
		box->now[(size_t)(z + HALO) * box->plane +
			 (size_t)(box->n / 2 + HALO) * (size_t)box->width +
			 (size_t)(box->n / 2 + HALO)] += (1 - 2 * square) * exp(-square);
}

static void exchange(const struct box *box, const struct example *example)
{
	int below = example_neighbour(example, -1);
	int above = example_neighbour(example, 1);
	int count = (int)(HALO * box->plane);

	MPI_Sendrecv(box->now + HALO * box->plane, count, MPI_DOUBLE, below, 0,
		     box->now + (size_t)(box->count + HALO) * box->plane, count, MPI_DOUBLE, above,
		     0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Sendrecv(box->now + (size_t)box->count * box->plane, count, MPI_DOUBLE, above, 1,
		     box->now, count, MPI_DOUBLE, below, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* Sum of squares, plane by plane in a fixed order. */
static double energy(const struct box *box)
{
	double *part = example_reserve((size_t)box->planes, sizeof(double));
	double sum = 0;

	for (int z = 0; z < box->count; z++)
		for (int y = 0; y < box->n; y++)
			for (int x = 0; x < box->n; x++) {
				double value = box->now[(size_t)(z + HALO) * box->plane +
							(size_t)(y + HALO) * (size_t)box->width +
							(size_t)(x + HALO)];

				part[box->first + z] += value * value;
			}
	MPI_Allreduce(MPI_IN_PLACE, part, box->planes, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	for (int z = 0; z < box->planes; z++)
		sum += part[z];
	free(part);
	return sum;
}

int main(int argc, char **argv)
{
	struct example example;
	struct box box = {0};
	double most = 0, end;
	size_t nodes;

	example_begin(
		&example, argc, argv,
		"Seismic waves with absorbing borders, as Ondes3D: ranks at the borders "
		"have more work.",
		"  --n=N            nodes in x and in y (default 96)\n"
		"  --planes=N       nodes in z, divided among the ranks (default 16 per rank)\n"
		"  --layer=N        width of the absorbing layers (default 12)\n",
		100);
	box.n = (int)example_number(&example, "n", 96);
	box.planes = (int)example_number(&example, "planes", 16.0 * example.ranks);
	box.layer = (int)example_number(&example, "layer", 12);
	example_ready(&example);
	box.first = box.planes * example.rank / example.ranks;
	box.count = box.planes * (example.rank + 1) / example.ranks - box.first;
	box.width = box.n + 2 * HALO;
	box.plane = (size_t)box.width * (size_t)box.width;
	nodes = box.plane * (size_t)(box.count + 2 * HALO);
	box.now = example_reserve(nodes, sizeof(double));
	box.before = example_reserve(nodes, sizeof(double));
	for (int i = 0; i < 3; i++)
		box.memory[i] = example_reserve(nodes, sizeof(double));
	box.damping = example_reserve((size_t)box.layer + 1, sizeof(double));
	for (int i = 0; i <= box.layer; i++)
		box.damping[i] = box.layer ? 0.5 * i * i / ((double)box.layer * box.layer) : 0;
	for (int i = -example.warm_up; i < example.iterations; i++) {
		example_iteration_begin(&example, i);
		shake(&box, i + example.warm_up);
		exchange(&box, &example);
		update(&box);
		MPI_Barrier(MPI_COMM_WORLD);
		example_iteration_end(&example, i);
		if (i % 10 == 0)
			most = fmax(most, energy(&box));
	}
	end = energy(&box);
	most = fmax(most, end);
	free(box.now);
	free(box.before);
	for (int i = 0; i < 3; i++)
		free(box.memory[i]);
	free(box.damping);
	return example_end(&example, end,
			   !isfinite(end) ? "the waves grow without end"
			   : most <= 0	  ? "there are no waves"
					  : NULL);
}
