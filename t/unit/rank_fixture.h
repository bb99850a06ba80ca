/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * rank_fixture.h: a node in plain memory for tests of the rank library: its segment, a clock that
 * the test turns, and a kernel that only notes where threads are bound. What a test does not link
 * of the library is there as a function that does nothing (rank_stubs.c).
 */
#pragma once

#include "t/unit/unit.h"

#include <stdlib.h>
#include <string.h>

#include "libmalleable/core/request.h"
#include "libmalleable/rank/state/rank.h"

/* Threads of the node have numbers (tid) below this. */
#define TIDS 64u
#define US UINT64_C(1000)
#define MS UINT64_C(1000000)

/* All clocks, in ns, which are the ticks too. */
extern struct test_clock {
	uint64_t now;
	uint64_t step;	  /* added whenever the time is read */
	uint64_t process; /* CPU time */
	uint64_t thread;
} test_clock;

/* The kernel: what threads may run where, by number. */
extern struct test_kernel {
	uint32_t at[TIDS]; /* the CPU to which the thread was bound last */
	struct mal_cpumask mask[TIDS];
	bool ended[TIDS];
	pid_t caller;	    /* the thread that calls; 0: the real one */
	unsigned int binds; /* so many threads were bound to one CPU */
	unsigned int naps;  /* futex waits and sleeps */
	unsigned int wakes; /* futexes that were woken */
	unsigned int yields;
} test_kernel;

/*
 * What somebody else does the next time that a thread is bound, just before; or that a word has
 * changed, just after.
 */
extern void (*while_binding)(void);
extern void (*while_changing)(void);
/*
 * And each time that the thread gives way: it sleeps or yields, or is at a moment at which others
 * may do something.
 */
extern void (*give_way)(void);
/* What the system says of the NUMA nodes of pages (move_pages(2)). */
extern long (*asks_for_pages)(size_t count, char **pages, const int *to, int *node);

/*
 * RANKS ranks that run, rank R with EACH CPUs from R * EACH on and room for THREADS threads. We
 * are rank 0, and know of our CPUs; its thread 0 calls.
 */
void open_ranks(unsigned int ranks, unsigned int each, unsigned int threads);
void close_ranks(void);

void *memory_for(size_t size);
void turn_clock(uint64_t ns);
mal_word *word_of(unsigned int cpu);
struct mal_cpu_state cpu_state(unsigned int cpu);
struct mal_thread_slot *thread_of(unsigned int rank, unsigned int thread);
int32_t tid_of(unsigned int rank, unsigned int thread);

/* RANK's region asks for CPUs; RANK would borrow. */
bool asks(unsigned int rank);
bool is_borrower(unsigned int rank);

/* RANK would borrow; and is in a region that may be given CPUs, since the beginning of time. */
void let_borrow(unsigned int rank);
void open_region(unsigned int rank);

/* Thread THREAD of RANK is on CPU, and where it is. */
void put_thread(unsigned int rank, unsigned int thread, unsigned int cpu);
uint32_t where_is(unsigned int rank, unsigned int thread);
