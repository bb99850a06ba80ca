/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* cpumask.h: a set of CPUs of fixed size, which can be in shared memory and needs no library. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "libmalleable/base/error.h"

#define MAL_MAX_CPUS 1024
/* Longest text of a set: at worst 342 pairs with gaps between them. */
#define MAL_CPUMASK_TEXT 3072

/* CPUs by their Linux number: bit i of word w is CPU 64 w + i. */
struct mal_cpumask {
	uint64_t bits[MAL_MAX_CPUS / 64];
};

static inline bool mal_cpumask_has(const struct mal_cpumask *mask, unsigned int cpu)
{
	return cpu < MAL_MAX_CPUS && (mask->bits[cpu / 64] >> (cpu % 64) & 1);
}

static inline void mal_cpumask_add(struct mal_cpumask *mask, unsigned int cpu)
{
	if (cpu < MAL_MAX_CPUS)
		mask->bits[cpu / 64] |= UINT64_C(1) << (cpu % 64);
}

static inline void mal_cpumask_remove(struct mal_cpumask *mask, unsigned int cpu)
{
	if (cpu < MAL_MAX_CPUS)
		mask->bits[cpu / 64] &= ~(UINT64_C(1) << (cpu % 64));
}

/* The number of CPUs in MASK. */
unsigned int mal_cpumask_count(const struct mal_cpumask *mask);

/* The first CPU in MASK from FROM on, MAL_MAX_CPUS: none. */
unsigned int mal_cpumask_next(const struct mal_cpumask *mask, unsigned int from);

/* Intersection: remove from MASK the CPUs that are not in OTHER. */
void mal_cpumask_intersect(struct mal_cpumask *mask, const struct mal_cpumask *other);

/* Union: add the CPUs of OTHER to MASK. */
void mal_cpumask_union(struct mal_cpumask *mask, const struct mal_cpumask *other);

/* Difference: remove the CPUs of OTHER from MASK. */
void mal_cpumask_drop(struct mal_cpumask *mask, const struct mal_cpumask *other);

/*
 * Parse a list as the kernel and Slurm write it ("0-3,8"). Returns 0, or -1 with ERR and an empty
 * MASK, also for an empty list and for CPUs from MAL_MAX_CPUS on.
 */
int mal_cpumask_parse(const char *list, struct mal_cpumask *mask, struct mal_error *err);

/*
 * Write MASK as such a list into TEXT, cut at SIZE bytes (MAL_CPUMASK_TEXT is enough). Returns
 * TEXT.
 */
char *mal_cpumask_format(const struct mal_cpumask *mask, char *text, size_t size);

/*
 * Read the affinity of thread TID (0: the caller). Returns 0, or -1 with errno of
 * sched_getaffinity(2).
 */
int mal_cpumask_get_affinity(pid_t tid, struct mal_cpumask *mask);

/*
 * Set the affinity of thread TID (0: the caller). Returns 0, or -1 with errno of
 * sched_setaffinity(2).
 */
int mal_cpumask_set_affinity(pid_t tid, const struct mal_cpumask *mask);

/* Bind thread TID to one CPU. Returns like mal_cpumask_set_affinity(). */
int mal_bind_thread(pid_t tid, unsigned int cpu);
