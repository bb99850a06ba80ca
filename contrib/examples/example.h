/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * example.h: shared by the example programs: options, the loop of iterations, the verified result.
 *
 * Every program here is a plain MPI+OpenMP program, malleable as it is: it never asks for its
 * number of threads. Its result does not depend on the number of ranks or threads beyond rounding,
 * and it verifies that.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct example {
	const char *name;
	int argc;
	char **argv;
	bool *used; /* options that were read */
	int rank, ranks;
	int iterations; /* timed ones */
	int warm_up;	/* before the timed ones */
	bool verbose;
	void (*mark)(void); /* malleable_phase, with --mark-phases */
	double began, iteration_began;
};

/*
 * On the timed node (t/node), where work is time, UNITS of the program's work take --unit-ns each;
 * for short ones the node waits until some are together. Elsewhere nothing happens, and work takes
 * what it takes.
 */
extern double example_unit_ns;
int example_take_ns(double ns);
static inline void example_take(double units)
{
	if (example_unit_ns > 0)
		example_take_ns(units * example_unit_ns);
}

/* malleable_phase() if the library is loaded, else NULL. */
void (*example_find_mark(void))(void);

/*
 * Call MPI_Init() and read the common options. For --help print SUMMARY and HELP (the program's own
 * options) and exit.
 */
void example_begin(struct example *example, int argc, char **argv, const char *summary,
		   const char *help, int iterations);

/* The number in --NAME=N, or FALLBACK. Call before example_ready(). */
double example_number(struct example *example, const char *name, double fallback);

/*
 * Refuse unknown options, then wait for all ranks. Call once, after reading options and before the
 * first iteration.
 */
void example_ready(struct example *example);

/*
 * Around each iteration, numbered from -warm_up to iterations - 1. The end marks a phase with
 * --mark-phases.
 */
void example_iteration_begin(struct example *example, int iteration);
void example_iteration_end(struct example *example, int iteration);

/*
 * Print the elapsed time and the result VALUE, which is the same for all numbers of ranks and
 * threads, and ERROR, what is wrong with it (NULL: nothing). Then call MPI_Finalize(). Returns the
 * program's exit status.
 */
int example_end(struct example *example, double value, const char *error);

/*
 * COUNT zeroed elements of SIZE bytes, for the caller to free. Ends the program if there is no
 * memory.
 */
void *example_reserve(size_t count, size_t size);

/* The rank STEP ranks further, MPI_PROC_NULL beyond the ends. */
int example_neighbour(const struct example *example, int step);

/* Rows FIRST to FIRST+COUNT-1 of ROWS are this rank's; rank r gets weight[r] of their sum. */
void example_share(const struct example *example, int rows, const double *weight, int *first,
		   int *count);
