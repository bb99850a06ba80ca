/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * place.h: put the place of a rank's thread right, and bind the thread to it.
 *
 * The rank itself does so, and lenders and the controller for it, at the same time. All functions
 * are safe between threads and processes.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "libmalleable/core/segment.h"

/* Whose threads are placed, and where they may be. */
struct mal_placing {
	const struct mal_segment *segment;
	const struct mal_cpumask *allocation; /* never left, whatever the segment says */
	unsigned int rank;
	/* CPUs that it has lent are places too: a thread that waits in MPI is on one */
	bool lent;
};

/*
 * Whether threads of the rank may be on CPU, going by its word: the rank uses it, or was just given
 * it and may start at once.
 */
bool mal_place_is_allowed(const struct mal_placing *placing, uint32_t cpu);

/* A CPU that the rank uses: HOME, or else any; MAL_NO_CPU: none. */
uint32_t mal_place_refuge(const struct mal_placing *placing, uint32_t home);

/*
 * Make TO the place of the thread in SLOT, if that is still *EXPECTED; else set *EXPECTED to it.
 * Until when it was there is noted for whoever counts what the thread did on each CPU.
 */
bool mal_place_change(struct mal_thread_slot *slot, uint32_t *expected, uint32_t to);

/*
 * Bind the thread in SLOT to its place, after putting that right if the rank may not use it. A
 * thread that has no place, or does not exist yet, is left alone.
 */
void mal_place_bind(const struct mal_placing *placing, struct mal_thread_slot *slot);
