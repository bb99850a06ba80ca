/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * cg.c: conjugate gradients for a finite-element Poisson problem, as in MiniFE, with a chosen
 * imbalance.
 *
 * Trilinear elements on a box of N x N x NZ nodes, 27 entries per row, stored as a sparse matrix.
 * Each rank has a slab of planes; the first rank's is larger by --imbalance percent. The right-hand
 * side is that of the solution 1.
 */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "contrib/examples/example.h"

struct slab {
	/* nodes per direction; planes before this rank, of it, in all */
	int n, first, count, planes;
	long plane, rows;
	/* 27 per row, counted from the halo plane below; the row itself if there is no node */
	int *column;
	double *value;
};

/*
 * The stiffness between nodes that differ by (x, y, z): the node itself, face, edge and corner
 * neighbour.
 */
static double stiffness(int x, int y, int z)
{
	static const double by_distance[] = {8.0 / 3, 0, -1.0 / 6, -1.0 / 12};

	return by_distance[abs(x) + abs(y) + abs(z)];
}

static void assemble(struct slab *slab)
{
	slab->plane = (long)slab->n * slab->n;
	slab->rows = slab->plane * slab->count;
	slab->column = example_reserve((size_t)slab->rows * 27, sizeof(int));
	slab->value = example_reserve((size_t)slab->rows * 27, sizeof(double));
#pragma omp parallel for schedule(dynamic, 4096)
	for (long row = 0; row < slab->rows; row++) {
		int z = (int)(row / slab->plane), y = (int)(row % slab->plane / slab->n),
		    x = (int)(row % slab->n);
		int at = 0;

		for (int dz = -1; dz <= 1; dz++)
			for (int dy = -1; dy <= 1; dy++)
				for (int dx = -1; dx <= 1; dx++, at++) {
					bool inside = x + dx >= 0 && x + dx < slab->n &&
						      y + dy >= 0 && y + dy < slab->n &&
						      slab->first + z + dz >= 0 &&
						      slab->first + z + dz < slab->planes;

					slab->value[row * 27 + at] =
						inside ? stiffness(dx, dy, dz) : 0;
					slab->column[row * 27 + at] =
						inside ? (int)((z + 1 + dz) * slab->plane +
							       (y + dy) * slab->n + x + dx)
						       : (int)row;
				}
	}
}

/* VECTOR has one more plane on each side, for the neighbours' values. */
static void exchange(const struct slab *slab, double *vector, const struct example *example)
{
	int below = example_neighbour(example, -1);
	int above = example_neighbour(example, 1);
	int count = (int)slab->plane;

	MPI_Sendrecv(vector + slab->plane, count, MPI_DOUBLE, below, 0,
		     vector + slab->plane * (slab->count + 1), count, MPI_DOUBLE, above, 0,
		     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Sendrecv(vector + slab->plane * slab->count, count, MPI_DOUBLE, above, 1, vector, count,
		     MPI_DOUBLE, below, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* RESULT = A VECTOR. Returns this rank's part of their product. */
static double multiply(const struct slab *slab, const double *vector, double *result)
{
	const double *own = vector + slab->plane;
	double product = 0;

#pragma omp parallel for schedule(dynamic, 1024) reduction(+ : product)
	for (long row = 0; row < slab->rows; row++) {
		double sum = 0;

		for (int i = 0; i < 27; i++)
			sum += slab->value[row * 27 + i] * vector[slab->column[row * 27 + i]];
		example_take(1);
		result[row] = sum;
		product += sum * own[row];
	}
	return product;
}

static double all(double part)
{
	double sum;

	MPI_Allreduce(&part, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	return sum;
}

/* x += a p, r -= a q. Returns this rank's part of the new r r. */
static double advance(const struct slab *slab, double a, const double *p, const double *q,
		      double *x, double *r)
{
	double product = 0;

#pragma omp parallel for schedule(dynamic, 8192) reduction(+ : product)
	for (long i = 0; i < slab->rows; i++) {
		x[i] += a * p[i];
		r[i] -= a * q[i];
		product += r[i] * r[i];
	}
	return product;
}

static void turn(const struct slab *slab, double b, const double *r, double *p)
{
#pragma omp parallel for schedule(dynamic, 8192)
	for (long i = 0; i < slab->rows; i++)
		p[i] = r[i] + b * p[i];
}

static double largest_error(const struct slab *slab, const double *x)
{
	double error = 0, most;

	for (long i = 0; i < slab->rows; i++)
		error = fmax(error, fabs(x[i] - 1));
	MPI_Allreduce(&error, &most, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
	return most;
}

int main(int argc, char **argv)
{
	struct example example;
	struct slab slab = {0};
	double *weight, *x, *r, *p, *q, square, first_square, error;
	double imbalance;

	example_begin(
		&example, argc, argv,
		"Conjugate gradients for a finite-element Poisson problem, as MiniFE.\n"
		"A unit is a row of the matrix, multiplied.",
		"  --n=N            nodes per direction in a plane (default 64)\n"
		"  --planes=N       planes, divided among the ranks (default 16 per rank)\n"
		"  --imbalance=P    rank 0 has P percent more than the others (default 100)\n",
		60);
	slab.n = (int)example_number(&example, "n", 64);
	slab.planes = (int)example_number(&example, "planes", 16.0 * example.ranks);
	imbalance = example_number(&example, "imbalance", 100);
	example_ready(&example);
	weight = example_reserve((size_t)example.ranks, sizeof(double));
	for (int rank = 0; rank < example.ranks; rank++)
		weight[rank] = rank == 0 ? 1 + imbalance / 100 : 1;
	example_share(&example, slab.planes, weight, &slab.first, &slab.count);
	assemble(&slab);
	x = example_reserve((size_t)slab.rows, sizeof(double));
	q = example_reserve((size_t)slab.rows, sizeof(double));
	r = example_reserve((size_t)slab.rows, sizeof(double));
	p = example_reserve((size_t)(slab.rows + 2 * slab.plane), sizeof(double));
	for (long i = 0; i < slab.rows + 2 * slab.plane; i++)
		p[i] = 1;
	exchange(&slab, p, &example);
	multiply(&slab, p, r);
	memcpy(p + slab.plane, r, (size_t)slab.rows * sizeof(double));
	first_square = square = all(advance(&slab, 0, p + slab.plane, r, x, r));
	for (int i = -example.warm_up; i < example.iterations && square > 1e-24 * first_square;
	     i++) {
		double a, next;

		example_iteration_begin(&example, i);
		exchange(&slab, p, &example);
		a = square / all(multiply(&slab, p, q));
		next = all(advance(&slab, a, p + slab.plane, q, x, r));
		turn(&slab, next / square, r, p + slab.plane);
		square = next;
		example_iteration_end(&example, i);
	}
	error = largest_error(&slab, x);
	if (example.rank == 0)
		printf("residual %.3e of the first, largest error %.3e\n",
		       sqrt(square / first_square), error);
	free(weight);
	/* The residual times the matrix's condition, about n squared, bounds the error. */
	return example_end(&example, sqrt(square / first_square),
			   error > (double)slab.n * slab.n * sqrt(square / first_square) + 1e-9
				   ? "the solution is not 1"
				   : NULL);
}
