/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * table.h: what the vnode command and its shim share: which virtual core each thread is on, and which it may use.
 *
 * The table is a memfd of the vnode command, mapped by every process of the virtual node through /proc/PID/fd, so
 * nothing is left behind however the node ends. It is indexed by thread id; a process that starts finds either its
 * own entry (inherited across fork and exec) or, when the id was used before by another one, its parent's.
 */
#ifndef VNODE_TABLE_H
#define VNODE_TABLE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define VNODE_MOST_CORES 256
#define VNODE_WORDS (VNODE_MOST_CORES / 64)
/* Names of the environment that tells the shim of its node. */
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
	_Atomic uint64_t
		started; /* start of its process, in the kernel's ticks, to tell a thread id used again; 0: none */
	_Atomic uint32_t place; /* the core that it is on, plus one; 0: outside, on the real CPUs */
	uint32_t padding[3];
};

struct vnode_table {
	uint32_t cores;
	uint32_t threads;		  /* entries of thread[] */
	double cpu_time_scale;		  /* virtual core's seconds per second of real CPU time */
	uint32_t real[VNODE_MOST_CORES];  /* the real CPU under each core */
	char tasks[VNODE_MOST_CORES][96]; /* the cgroup file that takes a thread id */
	_Atomic uint32_t movable;	  /* threads were placed that may use several cores */
	struct vnode_thread thread[];
};

#endif
