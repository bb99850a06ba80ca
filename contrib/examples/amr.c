/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * amr.c: a wave that travels through an adaptive mesh, as in sam(oa)2: blocks near it are refined,
 * so the work travels.
 *
 * Advection of a pulse along x, second order (Lax-Wendroff), on blocks of CELLS x CELLS cells; each
 * rank owns columns of blocks. Where the solution is steep, blocks and their neighbours get cells
 * REFINE times finer and as many more steps: 64 times the work. The exact solution is known, so the
 * error is checked; it does not depend on ranks or threads.
 */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "contrib/examples/example.h"

#define CELLS 16
#define REFINE 4
#define FINE (CELLS * REFINE)
#define COURANT 0.9
#define STEEP 0.02
#define START 0.1
#define PI 3.14159265358979323846

struct block {
	double coarse[CELLS][CELLS]; /* [y][x]; means of the fine cells, if refined */
	/* the outermost fine columns, left and right, for the neighbours */
	double edge[2][FINE][REFINE];
	double (*fine)[FINE]; /* NULL: not refined */
	bool steep;
};
/* What a neighbour needs of a block besides STEEP: its nearest column, coarse and fine. */
#define SENT_DOUBLES (CELLS + FINE * REFINE)

struct mesh {
	/* numbers of blocks: along y; along x in all, before and in this rank */
	int rows, columns, first, count;
	struct block *now, *next; /* count + 2 columns: at both ends the neighbour's nearest one */
	double *sent, *received;  /* rows * SENT_DOUBLES */
};

static struct block *block_at(const struct mesh *mesh, struct block *blocks, int row, int column)
{
	return &blocks[(column + 1) * mesh->rows + row];
}

/* TIME is in coarse cells travelled. */
static double exact(const struct mesh *mesh, double x, double y, double time)
{
	double from = x - time / (mesh->columns * CELLS) - START;

	return exp(-from * from * 2000) * (1 + 0.1 * cos(2 * PI * y));
}

static bool is_steep(const struct block *block)
{
	double least = block->coarse[0][0], most = least;

	for (int y = 0; y < CELLS; y++)
		for (int x = 0; x < CELLS; x++) {
			least = fmin(least, block->coarse[y][x]);
			most = fmax(most, block->coarse[y][x]);
		}
	return most - least > STEEP;
}

/* Set what neighbours read. */
static void publish(struct block *block)
{
	block->steep = is_steep(block);
	for (int y = 0; y < FINE; y++)
		for (int x = 0; x < REFINE; x++) {
			block->edge[0][y][x] =
				block->fine ? block->fine[y][x] : block->coarse[y / REFINE][0];
			block->edge[1][y][x] = block->fine ? block->fine[y][FINE - REFINE + x]
							   : block->coarse[y / REFINE][CELLS - 1];
		}
}

/* Interpolate linearly along x between the means. */
static void refine(struct block *block)
{
	block->fine = malloc(sizeof(double[FINE][FINE]));
	if (!block->fine)
		MPI_Abort(MPI_COMM_WORLD, 1);
	for (int y = 0; y < FINE; y++)
		for (int x = 0; x < FINE; x++) {
			const double *line = block->coarse[y / REFINE];
			int at = x / REFINE;
			double slope = at == 0		 ? line[1] - line[0]
				       : at == CELLS - 1 ? line[at] - line[at - 1]
							 : (line[at + 1] - line[at - 1]) / 2;

			block->fine[y][x] = line[at] + slope * ((x % REFINE + 0.5) / REFINE - 0.5);
		}
}

static void adapt(struct mesh *mesh)
{
#pragma omp parallel for collapse(2) schedule(dynamic, 4)
	for (int column = 0; column < mesh->count; column++)
		for (int row = 0; row < mesh->rows; row++) {
			struct block *block = block_at(mesh, mesh->now, row, column);
			bool wanted = block->steep ||
				      block_at(mesh, mesh->now, row, column - 1)->steep ||
				      block_at(mesh, mesh->now, row, column + 1)->steep;

			if (wanted && !block->fine) {
				refine(block);
			} else if (!wanted && block->fine) {
				free(block->fine);
				block->fine = NULL;
			}
			publish(block);
		}
}

enum what { SHAPE, EDGES };

/* Pack the doubles of WHAT in BLOCK; SIDE (0: left, 1: right) faces the neighbour. */
static int pack(const struct block *block, enum what what, int side, double *to)
{
	if (what == SHAPE) {
		to[0] = block->steep;
		return 1;
	}
	for (int y = 0; y < CELLS; y++)
		to[y] = block->coarse[y][side ? CELLS - 1 : 0];
	memcpy(to + CELLS, block->edge[side], sizeof(block->edge[side]));
	return SENT_DOUBLES;
}

static int unpack(struct block *block, enum what what, int side, const double *from)
{
	if (what == SHAPE) {
		block->steep = from[0] > 0;
		return 1;
	}
	for (int y = 0; y < CELLS; y++)
		block->coarse[y][side ? CELLS - 1 : 0] = from[y];
	memcpy(block->edge[side], from + CELLS, sizeof(block->edge[side]));
	return SENT_DOUBLES;
}

/*
 * Send WHAT of our column on SIDE to the neighbour there, and receive the same from the other
 * neighbour.
 */
static void shift(struct mesh *mesh, const struct example *example, enum what what, int side)
{
	int ours = side ? mesh->count - 1 : 0, theirs = side ? -1 : mesh->count;
	int to = example_neighbour(example, side ? 1 : -1),
	    from = example_neighbour(example, side ? -1 : 1);
	int count = 0, came = 0;

	for (int row = 0; row < mesh->rows; row++)
		count += pack(block_at(mesh, mesh->now, row, ours), what, side, mesh->sent + count);
	MPI_Sendrecv(mesh->sent, count, MPI_DOUBLE, to, 0, mesh->received, count, MPI_DOUBLE, from,
		     0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	for (int row = 0; from != MPI_PROC_NULL && row < mesh->rows; row++)
		came += unpack(block_at(mesh, mesh->now, row, theirs), what, side,
			       mesh->received + came);
}

static void exchange(struct mesh *mesh, const struct example *example, enum what what)
{
	shift(mesh, example, what, 0);
	shift(mesh, example, what, 1);
}

/* One step of the inner N - 2 of N values. */
static void step_row(const double *value, double *next, int n)
{
	for (int x = 1; x < n - 1; x++)
		next[x] = value[x] - COURANT / 2 * (value[x + 1] - value[x - 1]) +
			  COURANT * COURANT / 2 * (value[x + 1] - 2 * value[x] + value[x - 1]);
}

static void step_coarse(const struct block *west, const struct block *block,
			const struct block *east, struct block *next)
{
	double line[2][CELLS + 2];

	for (int y = 0; y < CELLS; y++) {
		line[0][0] = west->coarse[y][CELLS - 1];
		memcpy(line[0] + 1, block->coarse[y], sizeof(block->coarse[y]));
		line[0][CELLS + 1] = east->coarse[y][0];
		step_row(line[0], line[1], CELLS + 2);
		memcpy(next->coarse[y], line[1] + 1, sizeof(next->coarse[y]));
	}
}

/* REFINE steps use up the REFINE columns that each neighbour provides. */
static void step_fine(const struct block *west, const struct block *block, const struct block *east,
		      struct block *next)
{
	double line[2][FINE + 2 * REFINE];

	for (int y = 0; y < FINE; y++) {
		memcpy(line[0], west->edge[1][y], sizeof(west->edge[1][y]));
		memcpy(line[0] + REFINE, block->fine[y], sizeof(block->fine[y]));
		memcpy(line[0] + REFINE + FINE, east->edge[0][y], sizeof(east->edge[0][y]));
		for (int i = 0; i < REFINE; i++)
			step_row(line[i % 2] + i, line[1 - i % 2] + i, FINE + 2 * REFINE - 2 * i);
		memcpy(next->fine[y], line[REFINE % 2] + REFINE, sizeof(next->fine[y]));
	}
	for (int y = 0; y < CELLS; y++)
		for (int x = 0; x < CELLS; x++) {
			double sum = 0;

			for (int i = 0; i < REFINE * REFINE; i++)
				sum += next->fine[y * REFINE + i / REFINE][x * REFINE + i % REFINE];
			next->coarse[y][x] = sum / (REFINE * REFINE);
		}
}

static void step(struct mesh *mesh)
{
	struct block *swap = mesh->now;

#pragma omp parallel for collapse(2) schedule(dynamic, 1)
	for (int column = 0; column < mesh->count; column++)
		for (int row = 0; row < mesh->rows; row++) {
			struct block *block = block_at(mesh, mesh->now, row, column);
			struct block *next = block_at(mesh, mesh->next, row, column);
			const struct block *west = block_at(mesh, mesh->now, row, column - 1);
			const struct block *east = block_at(mesh, mesh->now, row, column + 1);

			if (block->fine && !next->fine &&
			    !(next->fine = malloc(sizeof(double[FINE][FINE]))))
				MPI_Abort(MPI_COMM_WORLD, 1);
			example_take(block->fine ? FINE * FINE * REFINE : CELLS * CELLS);
			if (block->fine) {
				step_fine(west, block, east, next);
			} else {
				free(next->fine);
				next->fine = NULL;
				step_coarse(west, block, east, next);
			}
			publish(next);
		}
	mesh->now = mesh->next;
	mesh->next = swap;
}

static void set_up(struct mesh *mesh)
{
	size_t blocks = (size_t)(mesh->count + 2) * (size_t)mesh->rows;

	mesh->now = example_reserve(blocks, sizeof(*mesh->now));
	mesh->next = example_reserve(blocks, sizeof(*mesh->next));
	mesh->sent = example_reserve((size_t)mesh->rows * SENT_DOUBLES, sizeof(*mesh->sent));
	mesh->received =
		example_reserve((size_t)mesh->rows * SENT_DOUBLES, sizeof(*mesh->received));
	for (int column = 0; column < mesh->count; column++)
		for (int row = 0; row < mesh->rows; row++) {
			struct block *block = block_at(mesh, mesh->now, row, column);

			for (int i = 0; i < CELLS * CELLS; i++)
				block->coarse[i / CELLS][i % CELLS] = exact(
					mesh,
					((mesh->first + column) * CELLS + i % CELLS + 0.5) /
						(mesh->columns * CELLS),
					(row * CELLS + i / CELLS + 0.5) / (mesh->rows * CELLS), 0);
			publish(block);
		}
}

/* Root mean square of the error, summed column by column in a fixed order. */
static double error_of(const struct mesh *mesh, int steps)
{
	double *part = example_reserve((size_t)mesh->columns, sizeof(*part));
	double sum = 0;

	for (int column = 0; column < mesh->count; column++)
		for (int row = 0; row < mesh->rows; row++)
			for (int i = 0; i < CELLS * CELLS; i++) {
				double is = block_at(mesh, mesh->now, row, column)
						    ->coarse[i / CELLS][i % CELLS];
				double off =
					is - exact(mesh,
						   ((mesh->first + column) * CELLS + i % CELLS +
						    0.5) / (mesh->columns * CELLS),
						   (row * CELLS + i / CELLS + 0.5) /
							   (mesh->rows * CELLS),
						   steps * COURANT);

				part[mesh->first + column] += off * off;
			}
	MPI_Allreduce(MPI_IN_PLACE, part, mesh->columns, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	for (int column = 0; column < mesh->columns; column++)
		sum += part[column];
	free(part);
	return sqrt(sum / ((double)mesh->columns * mesh->rows * CELLS * CELLS));
}

int main(int argc, char **argv)
{
	struct example example;
	struct mesh mesh = {0};
	double error;

	example_begin(
		&example, argc, argv,
		"A wave that travels through an adaptive mesh; the refined part travels with it.\n"
		"A unit is a step of a cell.",
		"  --rows=N         blocks along y (default 64)\n"
		"  --columns=N      blocks along x, divided among the ranks (default 16)\n",
		200);
	mesh.rows = (int)example_number(&example, "rows", 64);
	mesh.columns = (int)example_number(&example, "columns", 16);
	example_ready(&example);
	mesh.first = mesh.columns * example.rank / example.ranks;
	mesh.count = mesh.columns * (example.rank + 1) / example.ranks - mesh.first;
	set_up(&mesh);
	for (int i = -example.warm_up; i < example.iterations; i++) {
		example_iteration_begin(&example, i);
		exchange(&mesh, &example, SHAPE);
		adapt(&mesh);
		exchange(&mesh, &example, EDGES);
		step(&mesh);
		MPI_Barrier(MPI_COMM_WORLD);
		example_iteration_end(&example, i);
	}
	error = error_of(&mesh, example.warm_up + example.iterations);
	for (int i = 0; i < mesh.count * mesh.rows; i++) {
		free(mesh.now[mesh.rows + i].fine);
		free(mesh.next[mesh.rows + i].fine);
	}
	free(mesh.now);
	free(mesh.next);
	free(mesh.sent);
	free(mesh.received);
	return example_end(&example, error,
			   error < 0.02 ? NULL : "the wave is not where it should be");
}
