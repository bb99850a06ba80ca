/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * particles.c: Monte Carlo particle transport, as in Quicksilver; the particles drift from
 * subdomain to subdomain.
 *
 * Ranks own slabs along x of a box of length 1. Particles start near x = 0, move, collide, and
 * drift along, most of them to x = 1 by the end. Every particle has its own random numbers, counted
 * by its own events, so the tallies do not depend on the rank that tracked it: they are the same,
 * to the last digit, for all numbers of ranks and threads. With --rebalance the ranks move the
 * borders between them, so that each has as many particles.
 */
#include <math.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "contrib/examples/example.h"

struct particle {
	double x, energy;
	uint64_t number, events;
};

struct bank {
	struct particle *list;
	long count, room;
};

/* Bins along the slabs where these are laid anew, for each rank. */
#define BINS 64

static uint64_t mix(uint64_t value)
{
	value = (value ^ value >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	value = (value ^ value >> 27) * UINT64_C(0x94d049bb133111eb);
	return value ^ value >> 31;
}

/*
 * The particle's next random number, in (0, 1): SplitMix64 of its number and its count of events.
 */
static double draw(struct particle *particle)
{
	uint64_t bits =
		mix(particle->number * UINT64_C(0x9e3779b97f4a7c15) + mix(++particle->events));

	return ((double)(bits >> 11) + 0.5) * 0x1p-53;
}

static void add(struct bank *bank, const struct particle *particle)
{
	if (bank->count == bank->room) {
		long room = bank->room ? 2 * bank->room : 1024;
		struct particle *list = realloc(bank->list, (size_t)room * sizeof(*list));

		if (!list) {
			fputs("particles: out of memory\n", stderr);
			MPI_Abort(MPI_COMM_WORLD, 1);
		}
		bank->list = list;
		bank->room = room;
	}
	bank->list[bank->count++] = *particle;
}

/* One time step: flights and collisions, then the drift. Returns the number of collisions. */
static long track(struct particle *particle, double drift, double collisions)
{
	double left = 1;
	long count = 0;

	for (;;) {
		double flight = -log(draw(particle)) / collisions;

		if (flight >= left)
			break;
		left -= flight;
		particle->energy *= 0.5 + 0.5 * draw(particle);
		if (particle->energy < 1e-3)
			particle->energy = 1;
		particle->x += (draw(particle) - 0.5) * 1e-3 * sqrt(particle->energy);
		count++;
	}
	example_take((double)count);
	particle->x += drift;
	if (particle->x < 0)
		particle->x = -particle->x;
	if (particle->x >= 1)
		particle->x = 2 - particle->x - 1e-12;
	return count;
}

static long track_all(struct bank *bank, double drift, double collisions)
{
	long sum = 0;

#pragma omp parallel for schedule(dynamic, 64) reduction(+ : sum)
	for (long i = 0; i < bank->count; i++)
		sum += track(&bank->list[i], drift, collisions);
	return sum;
}

/* The rank whose slab X is in: that of rank r is from BORDER[r] to BORDER[r + 1]. */
static int owner(double x, const double *border, int ranks)
{
	int first = 0, last = ranks - 1;

	while (first < last) {
		int middle = (first + last + 1) / 2;

		if (x >= border[middle])
			first = middle;
		else
			last = middle - 1;
	}
	return first;
}

/* Move particles that left the subdomain to its neighbours. */
static void migrate(struct bank *bank, const struct example *example, const double *border)
{
	struct bank leave[2] = {{0}};

	for (long i = 0; i < bank->count;) {
		int to = owner(bank->list[i].x, border, example->ranks);

		if (to == example->rank) {
			i++;
			continue;
		}
		add(&leave[to > example->rank], &bank->list[i]);
		bank->list[i] = bank->list[--bank->count];
	}
	for (int up = 0; up < 2; up++) {
		int to = example_neighbour(example, up ? 1 : -1),
		    from = example_neighbour(example, up ? -1 : 1);
		long come = 0;

		MPI_Sendrecv(&leave[up].count, 1, MPI_LONG, to, 0, &come, 1, MPI_LONG, from, 0,
			     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		struct particle *arrive = malloc((size_t)(come + 1) * sizeof(*arrive));
		if (!arrive)
			MPI_Abort(MPI_COMM_WORLD, 1);
		MPI_Sendrecv(leave[up].list, (int)(leave[up].count * (long)sizeof(*arrive)),
			     MPI_BYTE, to, 1, arrive, (int)(come * (long)sizeof(*arrive)), MPI_BYTE,
			     from, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		for (long i = 0; i < come; i++)
			add(bank, &arrive[i]);
		free(arrive);
		free(leave[up].list);
	}
}

/* Move particles on until each is in its slab, however far that is. */
static void settle(struct bank *bank, const struct example *example, const double *border)
{
	long away;

	do {
		migrate(bank, example, border);
		away = 0;
		for (long i = 0; i < bank->count; i++)
			away += owner(bank->list[i].x, border, example->ranks) != example->rank;
		MPI_Allreduce(MPI_IN_PLACE, &away, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
	} while (away);
}

/* Lay the borders so that each slab has as many particles. */
static void rebalance(const struct bank *bank, const struct example *example, double *border)
{
	int bins = BINS * example->ranks;
	double *count = example_reserve((size_t)bins, sizeof(*count)), total = 0, sum = 0;

	for (long i = 0; i < bank->count; i++)
		count[(int)(bank->list[i].x * bins)]++;
	MPI_Allreduce(MPI_IN_PLACE, count, bins, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	for (int bin = 0; bin < bins; bin++)
		total += count[bin];
	for (int bin = 0, rank = 1; bin < bins && rank < example->ranks; sum += count[bin++])
		for (; rank < example->ranks; rank++) {
			double wanted = total * rank / example->ranks;

			if (sum + count[bin] < wanted)
				break;
			border[rank] = (bin + (wanted - sum) / count[bin]) / bins;
			if (example->verbose && example->rank == 0)
				printf("rank %d begins at %.4f\n", rank, border[rank]);
		}
	free(count);
}

/* Where in the box a particle starts, of 0 to 1, by CHANCE: the density falls by SLOPE. */
static double start_at(double chance, double slope)
{
	double first = 1 + slope;

	return slope > 0 ? (first - sqrt(first * first - 4 * slope * chance)) / (2 * slope)
			 : chance;
}

int main(int argc, char **argv)
{
	struct example example;
	struct bank bank = {0};
	double spread, collisions, slope, *border;
	long total, steps, every, tally[2] = {0, 0}, sum[2];

	example_begin(
		&example, argc, argv,
		"Monte Carlo particle transport, as Quicksilver; particles drift over the ranks.\n"
		"A unit is a collision.",
		"  --particles=N    in sum (default 10000 per rank)\n"
		"  --collisions=N   per particle and iteration (default 200)\n"
		"  --spread=F       the particles start in this part of the box (default 0.3)\n"
		"  --slope=F        their density there falls from 1+F to 1-F (default 0)\n"
		"  --rebalance=N    lay the ranks' borders anew after each N iterations, so that\n"
		"                   each has as many particles (default 0: never)\n",
		40);
	total = (long)example_number(&example, "particles", 10000.0 * example.ranks);
	collisions = example_number(&example, "collisions", 200);
	spread = example_number(&example, "spread", 0.3);
	slope = fmin(example_number(&example, "slope", 0), 1);
	every = (long)example_number(&example, "rebalance", 0);
	example_ready(&example);
	steps = example.warm_up + example.iterations;
	border = example_reserve((size_t)example.ranks + 1, sizeof(*border));
	for (int rank = 0; rank <= example.ranks; rank++)
		border[rank] = (double)rank / example.ranks;
	for (long i = 0; i < total; i++) {
		struct particle particle = {.energy = 1, .number = (uint64_t)i};

		particle.x = start_at(draw(&particle), slope) * spread;
		if (owner(particle.x, border, example.ranks) == example.rank)
			add(&bank, &particle);
	}
	for (int i = -example.warm_up; i < example.iterations; i++) {
		example_iteration_begin(&example, i);
		tally[0] += track_all(&bank, (1 - spread) / (double)steps, collisions);
		if (every > 0) {
			if ((i + example.warm_up + 1) % every == 0)
				rebalance(&bank, &example, border);
			settle(&bank, &example, border);
		} else {
			migrate(&bank, &example, border);
		}
		MPI_Barrier(MPI_COMM_WORLD);
		example_iteration_end(&example, i);
	}
	tally[1] = bank.count;
	MPI_Allreduce(tally, sum, 2, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
	free(border);
	free(bank.list);
	/* A Poisson variable: its relative spread is the inverse of its root. */
	return example_end(&example, (double)sum[0],
			   sum[1] != total ? "particles were lost"
			   : fabs((double)sum[0] / ((double)total * collisions * (double)steps) -
				  1) > 5 / sqrt((double)total * collisions * (double)steps)
				   ? "the number of collisions is not what was asked for"
				   : NULL);
}
