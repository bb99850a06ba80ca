/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * table.h: shared by the node command and its shim: the cores, who works on them, and the cores
 * that each thread may use.
 *
 * The table is a memfd of the node command. Every process of the node maps it through
 * /proc/PID/fd, so nothing is left behind however the node ends. It is indexed by thread id. A
 * process that starts finds its own entry (inherited across fork and exec) or, if the entry is
 * another process's with the same id, its parent's.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#define NODE_MAX_CORES 256
#define NODE_WORDS (NODE_MAX_CORES / 64)
/* Environment variables for the shim. */
#define NODE_TABLE_ENV "NODE_TABLE"
#define NODE_PER_RANK_ENV "NODE_PER_RANK"

/* Cores, as bits. */
struct node_mask {
	uint64_t word[NODE_WORDS];
};

static inline unsigned int node_mask_weight(const struct node_mask *mask)
{
	unsigned int weight = 0;

	for (int i = 0; i < NODE_WORDS; i++)
		weight += (unsigned int)__builtin_popcountll(mask->word[i]);
	return weight;
}

static inline bool node_mask_has(const struct node_mask *mask, unsigned int core)
{
	return mask->word[core / 64] >> core % 64 & 1;
}

/* Times are in nanoseconds, moments on CLOCK_MONOTONIC. What is not atomic is under the lock. */
struct node_thread {
	struct node_mask mask; /* the cores that it may use */
	/* start of its process in the kernel's ticks, which shows if its id is reused; 0: none */
	_Atomic uint64_t started;
	_Atomic uint32_t place; /* the core it is on plus one; 0: none */
	_Atomic uint32_t bell;	/* another number: look anew when the work will be done */
	_Atomic uint64_t worked;
	_Atomic bool working;
	bool away;	     /* it works on another NUMA node than its process's */
	uint32_t core;	     /* where it worked last plus one; 0: nowhere */
	uint32_t next;	     /* who has the core after it, by thread id; 0: nobody */
	uint64_t left, used; /* still to work; of its turn */
	uint64_t ended;	     /* when its last work was done */
	uint64_t late;	     /* how late it woke up, in sum, and */
	uint64_t made_good;  /* how much of that the next work did, see run.h */

	uint32_t process; /* the id of its process's first thread, whose entry has: */
	_Atomic uint64_t all_worked;
	uint32_t home; /* the NUMA node of its memory plus one; 0: none yet */
};

struct node_core {
	uint32_t first;		   /* who has the turn, by thread id; 0: nobody */
	uint32_t last;		   /* who had it, if nobody has */
	uint64_t at;		   /* what was worked on it is counted until then */
	uint32_t l3, socket, numa; /* which it belongs to */
};

struct node_table {
	_Atomic uint32_t lock; /* by thread id */
	uint32_t cores;
	uint32_t threads; /* entries of thread[] */
	uint64_t slice;
	uint64_t cold[3]; /* for work on another core of the same L3, of another L3, socket */
	double slow;	  /* factor of work away from the process's NUMA node */
	uint64_t spin;	  /* of a turn that a thread holds which yields; 0: none */
	struct node_core core[NODE_MAX_CORES];
	_Atomic uint64_t worked, wakeups, late_wakeups;
	uint64_t most, lost; /* what the process worked that worked most, and what it lost */
	struct node_thread thread[];
};

static inline uint64_t node_now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}
