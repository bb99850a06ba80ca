/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * segment.h: the memory that the ranks of a step on one node share with their controller.
 *
 * It is a sealed memfd: it has no name, other users cannot open it, it needs no /dev/shm, it vanishes with its last
 * user, and no rank can truncate it under the others (memfd_create(2), F_ADD_SEALS in fcntl(2)). Samples go up
 * and plans come down in it. Whatever is read from it was written by somebody who may be broken or hostile: readers
 * check every index against struct mal_segment, which each process keeps privately, and never against the segment.
 *
 * All counters are cumulative and have one writer, so they need no lock and a dead writer leaves them valid.
 * Times are ticks (clock.h).
 */
#ifndef MAL_CORE_SEGMENT_H
#define MAL_CORE_SEGMENT_H

#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "libmalleable/core/cpumask.h"
#include "libmalleable/core/error.h"
#include "libmalleable/core/word.h"

#define MAL_MAX_RANKS 1024
#define MAL_CACHE_LINE 64
/* A thread that has no CPU yet. */
#define MAL_NO_CPU UINT32_MAX

/* What the policy allows ranks to do by themselves (header.rules). */
enum mal_rule {
	MAL_RULE_READY = 1,	   /* a controller is there */
	MAL_RULE_BIND = 2,	   /* bind threads and apply plans */
	MAL_RULE_LEND = 4,	   /* lend in MPI waits, borrow at region start */
	MAL_RULE_GROW = 8,	   /* open long regions with more threads than CPUs, to grow inside them */
	MAL_RULE_KEEP_ONE = 16,	   /* a lender keeps the CPU of its waiting thread */
	MAL_RULE_COLLECTIVES = 32, /* lend in collective calls only */
	MAL_RULE_NEAR_ONLY = 64,   /* borrow on the own NUMA node only */
	MAL_RULE_ANY_ORDER = 128,  /* borrow in the order of the CPUs' numbers */
};

/* What ends a phase, the strongest sign that the rank has seen. */
enum mal_boundary_kind {
	MAL_BOUNDARY_NONE,
	MAL_BOUNDARY_PERIOD,	 /* the rank's own repeating sequence of regions */
	MAL_BOUNDARY_COLLECTIVE, /* a collective call over all ranks */
	MAL_BOUNDARY_MARK,	 /* malleable_phase() */
};

enum mal_rank_state {
	MAL_RANK_ABSENT,
	MAL_RANK_RUNNING,
	MAL_RANK_ENDED, /* left in order */
	MAL_RANK_DEAD,	/* found dead by the controller */
};

/* How a rank's team follows its cpuset. */
enum mal_mode {
	MAL_MODE_AUTO,
	MAL_MODE_TEAM,
	MAL_MODE_CPUSET,
};

/* Why a rank's team keeps its size: the first that is true. */
enum mal_mode_reason {
	MAL_REASON_NONE,	/* it follows the CPUs */
	MAL_REASON_USER,	/* mode=cpuset */
	MAL_REASON_RUNTIME,	/* no OpenMP runtime with OMPT has started */
	MAL_REASON_NUMBER,	/* it was started with another number of threads than CPUs */
	MAL_REASON_THREAD_DATA, /* the program has variables for each thread */
	MAL_REASON_DYNAMIC,	/* it lets the runtime choose (OMP_DYNAMIC) */
	MAL_REASON_TOLD,	/* the program asked for its number of threads */
};

/* One CPU, on its own cache line: ranks fight for it. */
struct mal_cpu_slot {
	alignas(MAL_CACHE_LINE) mal_word word;
	_Atomic uint32_t wake;	   /* futex: the borrower left */
	_Atomic uint32_t sleepers; /* owners that wait on it */
	_Atomic uint32_t target;   /* the rank that the plan gives it to, MAL_NOBODY: no change */
	_Atomic uint32_t core;	   /* topology as the controller sees it; 0 until then */
	_Atomic uint32_t l3;
	_Atomic uint32_t numa;
};

/* One thread of a rank's team, by its number in the team. */
struct mal_thread_slot {
	alignas(MAL_CACHE_LINE) _Atomic int32_t tid;
	_Atomic uint32_t cpu;	/* where it is to run now */
	_Atomic uint32_t bound; /* where it was last bound */
	_Atomic uint32_t home;	/* where it goes when a borrowed CPU is taken back */
	_Atomic uint64_t busy;	/* ticks of work */
};

/* Cumulative counters of a rank; one writer, its primary thread. */
struct mal_counters {
	_Atomic uint64_t serial;       /* ticks outside regions and MPI */
	_Atomic uint64_t mpi;	       /* ticks in blocking MPI calls */
	_Atomic uint64_t region;       /* ticks inside regions, primary thread */
	_Atomic uint64_t thread_ticks; /* ticks inside regions times threads */
	_Atomic uint64_t regions;
	_Atomic uint64_t boundaries;
	_Atomic uint64_t lends;
	_Atomic uint64_t borrows;
	_Atomic uint64_t grants; /* threads of others sent to a CPU of ours */
	_Atomic uint64_t reclaims;
	_Atomic uint64_t evictions; /* reclaims that found a borrower at work */
	_Atomic uint64_t overlap;   /* ticks between such a reclaim and the borrower's leaving */
	_Atomic uint64_t back;	    /* ticks that all reclaims took */
	_Atomic uint64_t moves;	    /* CPUs taken over for good */
	_Atomic uint64_t own;	    /* ticks that our own slow paths took */
};

/* What a rank says at the end of a phase: its counters, all at one moment. */
struct mal_snapshot {
	uint64_t round;
	uint64_t boundary;
	uint64_t kind;
	uint64_t tick;
	uint64_t busy;
	uint64_t serial;
	uint64_t mpi;
	uint64_t region;
	uint64_t thread_ticks;
	uint64_t regions;
	uint64_t team;
	uint64_t most; /* CPUs that are of use to the rank, 0: any number */
};

struct mal_rank_slot {
	/* Who it is: written at registration. */
	alignas(MAL_CACHE_LINE) _Atomic int32_t pid;
	_Atomic uint32_t state;
	_Atomic uint32_t told;	 /* largest number of threads that the program has been told, 0: none */
	_Atomic uint32_t reason; /* enum mal_mode_reason */
	_Atomic uint32_t loose;	 /* its threads are in no slots: they run on all its CPUs */
	struct mal_cpumask home; /* CPUs that the rank started with */
	/* What it does now: written by it, read by others. */
	alignas(MAL_CACHE_LINE) _Atomic uint64_t waiting_since; /* 0: it does not wait in MPI */
	_Atomic uint64_t hungry_since;				/* start of a region that wants more CPUs */
	/* Where that region would end with the CPUs it has, going by its past runs; lenders write both on as they give. */
	_Atomic uint64_t hungry_until;
	_Atomic uint32_t hungry_cpus;
	_Atomic uint32_t team;
	/* Written by others: its CPUs have changed. */
	alignas(MAL_CACHE_LINE) _Atomic uint32_t changes;
	_Atomic uint32_t use; /* CPUs that its team is to use at most, 0: all */
	/* Counters and the last snapshot, guarded by an odd/even sequence number. */
	alignas(MAL_CACHE_LINE) struct mal_counters count;
	alignas(MAL_CACHE_LINE) _Atomic uint32_t snapshot_sequence;
	struct mal_snapshot snapshot;
};

struct mal_header {
	uint64_t magic;
	uint32_t version;
	uint32_t rank_count;
	uint32_t cpu_count;
	uint32_t thread_count;
	/* Written by the controller, read by the ranks at every region and MPI call. */
	alignas(MAL_CACHE_LINE) _Atomic uint32_t rules;
	_Atomic uint32_t schedule;     /* of loops with schedule(runtime): kind + chunk * 65536, 0: the program's own */
	_Atomic uint32_t most;	       /* CPUs that a rank uses at most when it borrows, 0: any number */
	_Atomic uint32_t plan;	       /* number of the plan in the CPU slots' targets */
	_Atomic uint64_t round;	       /* number of the round of samples that is being collected */
	_Atomic uint64_t sample_at;    /* aligned boundaries: say a sample at this one */
	_Atomic uint64_t sample_after; /* other boundaries: say a sample after this tick */
	/* Ranks that want to borrow: lenders act only if there is one. */
	alignas(MAL_CACHE_LINE) _Atomic uint32_t borrowers;
	_Atomic uint32_t free_cpus; /* a hint: lent CPUs without user */
	/* Bit per rank: it is in a region with several threads on a CPU. */
	alignas(MAL_CACHE_LINE) _Atomic uint64_t hungry[MAL_MAX_RANKS / 64];
	/* The controller waits on this. */
	alignas(MAL_CACHE_LINE) _Atomic uint32_t kick;
	_Atomic uint32_t arrivals;
	_Atomic uint32_t answers;  /* futex word: the controller has decided on the last round */
	_Atomic uint32_t awaiting; /* ranks that sleep on answers */
	_Atomic uint32_t expected;
};

/* A mapped segment; the counts are this process's own, checked when it was mapped. */
struct mal_segment {
	struct mal_header *header;
	struct mal_cpu_slot *cpus;
	struct mal_rank_slot *ranks;
	struct mal_thread_slot *threads;
	uint32_t rank_count;
	uint32_t cpu_count;    /* CPUs 0 .. cpu_count - 1 have slots */
	uint32_t thread_count; /* thread slots of each rank */
	size_t size;
};

/*
 * Make a segment for RANK_COUNT ranks on the CPUs in ALLOCATION, map it into *SEGMENT and seal it. Returns its
 * descriptor (close-on-exec) or -1 with ERR filled. Unmap with mal_segment_close.
 */
int mal_segment_create(struct mal_segment *segment, unsigned int rank_count, const struct mal_cpumask *allocation,
		       struct mal_error *err);

/*
 * The same for whoever starts the ranks and never looks inside: nothing stays mapped, and the descriptor is inherited, with
 * the first free number from MAL_SEGMENT_FD_LEAST (env.h) on.
 */
int mal_segment_create_for_ranks(unsigned int rank_count, const struct mal_cpumask *allocation, struct mal_error *err);

/*
 * Map the segment behind descriptor FD, which stays open. Refused (-1, ERR filled): anything that is not a
 * sealed memfd of the right size and version.
 */
int mal_segment_open(struct mal_segment *segment, int fd, struct mal_error *err);

/* Unmap. Safe on a segment that was never mapped and keeps errno. */
void mal_segment_close(struct mal_segment *segment);

/* Thread slot INDEX of rank RANK. */
static inline struct mal_thread_slot *mal_thread_slot(const struct mal_segment *segment, unsigned int rank,
						      unsigned int index)
{
	return &segment->threads[(size_t)rank * segment->thread_count + index];
}

/* Add to a counter that only the caller writes: no locked instruction is needed. */
static inline void mal_count(_Atomic uint64_t *counter, uint64_t add)
{
	atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + add, memory_order_relaxed);
}

/* Say whether RANK is in a region with several threads on a CPU: lenders look for such ranks. */
static inline void mal_hungry_say(const struct mal_segment *segment, unsigned int rank, bool hungry)
{
	_Atomic uint64_t *word = &segment->header->hungry[rank / 64];
	uint64_t bit = UINT64_C(1) << rank % 64;

	if (hungry)
		atomic_fetch_or_explicit(word, bit, memory_order_release);
	else
		atomic_fetch_and_explicit(word, ~bit, memory_order_relaxed);
}

/* Write a rank's snapshot; only the rank itself may. */
void mal_snapshot_write(struct mal_rank_slot *rank, const struct mal_snapshot *snapshot);

/* Read it. False if the writer was always in the middle of it (it may have died there). */
bool mal_snapshot_read(const struct mal_rank_slot *rank, struct mal_snapshot *snapshot);

#endif
