/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * example.h: what the example programs share: options, the loop of iterations, the verified result.
 *
 * Every program here is a plain MPI+OpenMP program, malleable as it is: it never asks for its number of threads. Its
 * result does not depend on the number of ranks or threads beyond rounding, and it checks that itself.
 */
#ifndef EXAMPLE_H
#define EXAMPLE_H

#include <stdbool.h>
#include <stddef.h>

struct example {
	const char *name;
	int argc;
	char **argv;
	bool *used; /* options that somebody asked for */
	int rank, ranks;
	int iterations; /* that count */
	int warm_up;	/* and before them */
	bool verbose;
	void (*mark)(void); /* malleable_phase, with --mark-phases */
	double began, iteration_began;
};

/* malleable_phase, where the library is there, else NULL. */
void (*example_find_mark(void))(void);

/* MPI_Init, and the options that all have; prints SUMMARY and HELP (the program's own options) and leaves for --help. */
void example_begin(struct example *example, int argc, char **argv, const char *summary, const char *help,
		   int iterations);

/* The number given by --NAME=N, or FALLBACK. To be called before the first iteration. */
double example_number(struct example *example, const char *name, double fallback);

/* Refuses options that nobody asked for; then waits for all ranks. To be called once, before the first iteration. */
void example_ready(struct example *example);

/* Around each iteration, numbered from -warm_up to iterations - 1. The end is a boundary for those who mark phases. */
void example_iteration_begin(struct example *example, int iteration);
void example_iteration_end(struct example *example, int iteration);

/*
 * Prints the elapsed time and the result, VALUE, the same for all numbers of ranks and threads; FLAW says what is wrong
 * with it, NULL if nothing. Then MPI_Finalize. Returns the program's exit status.
 */
int example_end(struct example *example, double value, const char *flaw);

/* COUNT zeroed elements of SIZE bytes; ends the program where there is no memory. The caller frees them. */
void *example_reserve(size_t count, size_t size);

/* The rank STEP ranks further, MPI_PROC_NULL beyond the ends. */
int example_neighbour(const struct example *example, int step);

/* Rows FIRST to FIRST+COUNT-1 of ROWS are this rank's, where rank r has the part weight[r] of their sum. */
void example_share(const struct example *example, int rows, const double *weight, int *first, int *count);

#endif
