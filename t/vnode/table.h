/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * table.h: shared by the vnode command and its shim: the core that each thread is on, and the cores
 * it may use.
 *
 * The table is a memfd of the vnode command. Every process of the node maps it through
 * /proc/PID/fd, so nothing is left behind however the node ends. It is indexed by thread id. A
 * process that starts finds its own entry (inherited across fork and exec) or, if the entry is
 * another process's with the same id, its parent's.
 */
#ifndef VNODE_TABLE_H
#define VNODE_TABLE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define VNODE_MAX_CORES 256
#define VNODE_WORDS (VNODE_MAX_CORES / 64)
/* Environment variables for the shim. */
#define VNODE_TABLE_ENV "VNODE_TABLE"
#define VNODE_PER_RANK_ENV "VNODE_PER_RANK"

/* Virtual cores, as bits. */
struct vnode_mask {
	_Atomic uint64_t word[VNODE_WORDS];
};

static inline unsigned int vnode_mask_weight(const struct vnode_mask *mask)
{
	unsigned int weight = 0;

	for (int i = 0; i < VNODE_WORDS; i++)
		weight += (unsigned int)__builtin_popcountll(mask->word[i]);
	return weight;
}

static inline bool vnode_mask_has(const struct vnode_mask *mask, unsigned int core)
{
	return mask->word[core / 64] >> core % 64 & 1;
}

struct vnode_thread {
	struct vnode_mask mask; /* the cores that it may use */
	/* start of its process in the kernel's ticks, which shows if its id is reused; 0: none */
	_Atomic uint64_t started;
	_Atomic uint32_t place; /* the core it is on plus one, 0: none, on the real CPUs */
	uint32_t padding[3];
};

struct vnode_table {
	uint32_t cores;
	uint32_t threads;		  /* entries of thread[] */
	double cpu_time_scale;		  /* virtual core's seconds per second of real CPU time */
	uint32_t real[VNODE_MAX_CORES];	  /* the real CPU of each core */
	char tasks[VNODE_MAX_CORES][128]; /* the cgroup file that takes thread ids */
	_Atomic uint32_t movable;	  /* some threads may use several cores */
	struct vnode_thread thread[];
};

#endif
