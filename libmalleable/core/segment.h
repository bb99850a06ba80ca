/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * segment.h: the memory that the ranks of a step on one node share with their controller.
 *
 * It is a sealed memfd: it has no name, other users cannot open it, it needs no /dev/shm, it
 * vanishes with its last user, and no rank can truncate it under the others (memfd_create(2),
 * F_ADD_SEALS in fcntl(2)). Samples go up and plans come down in it. Its writers may be broken or
 * hostile: readers check every index against struct mal_segment, which each process keeps
 * privately, never against the segment.
 *
 * All counters are cumulative and have one writer, so they need no lock and a dead writer leaves
 * them valid. Times are ticks (clock.h).
 *
 * Invariant: the layout does not change without the version (t/t0002-walls.t: another layout
 * without another version does not compile).
 */
#pragma once

#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libmalleable/base/cpumask.h"
#include "libmalleable/base/error.h"
#include "libmalleable/base/pinned.h"
#include "libmalleable/core/counters.h"
#include "libmalleable/core/cpuword.h"

#define MAL_MAX_RANKS 1024
#define MAL_CACHE_LINE 64
/* No CPU, as of a thread that is not placed yet. */
#define MAL_NO_CPU UINT32_MAX

/* What ranks may do by themselves, set by the policy (mal_header.rules). */
enum mal_rule {
	MAL_RULE_READY = 1, /* a controller runs */
	MAL_RULE_BIND = 2,  /* bind threads and apply plans */
	MAL_RULE_LEND = 4,  /* lend in MPI waits, borrow at the start of regions */
	/* open long regions with more threads than CPUs, so that they can grow */
	MAL_RULE_GROW = 8,
	MAL_RULE_KEEP_ONE = 16,	   /* a lender keeps the CPU of its waiting thread */
	MAL_RULE_COLLECTIVES = 32, /* lend in collective calls only */
	MAL_RULE_NEAR_ONLY = 64,   /* borrow on the own NUMA node only */
	MAL_RULE_ANY_ORDER = 128,  /* borrow in the order of CPU numbers */
	MAL_RULE_AWAIT = 256,	   /* wait for the answer to a sample: it may be a plan */
};

enum mal_rank_state {
	MAL_RANK_ABSENT,
	MAL_RANK_RUNNING,
	MAL_RANK_ENDED, /* ended in order */
	MAL_RANK_DEAD,	/* found dead by the controller */
};

/* How a rank's team follows its CPUs. */
enum mal_mode {
	MAL_MODE_AUTO,
	MAL_MODE_TEAM,
	MAL_MODE_CPUSET,
};

/* Why a rank's team keeps its size: the first reason found. */
enum mal_mode_reason {
	MAL_REASON_NONE,	/* it follows the CPUs */
	MAL_REASON_USER,	/* mode=cpuset */
	MAL_REASON_RUNTIME,	/* no OpenMP runtime with OMPT has started */
	MAL_REASON_CROWDED,	/* it keeps libgomp: it asks for more threads than CPUs */
	MAL_REASON_LIBGOMP,	/* it keeps it: libomp would do something else */
	MAL_REASON_TOOL,	/* another OMPT tool goes first */
	MAL_REASON_NUMBER,	/* it started with another number of threads than CPUs */
	MAL_REASON_THREAD_DATA, /* the program keeps data for each thread */
	MAL_REASON_DYNAMIC,	/* the program lets the runtime choose (OMP_DYNAMIC) */
	MAL_REASON_REDUCTION,	/* the user wants reductions in a fixed order */
	MAL_REASON_BITS,     /* bits of results are to be kept, and nothing is known of regions */
	MAL_REASON_DISPLAY,  /* the user has the threads printed */
	MAL_REASON_CANCELS,  /* the program may cancel loops (OMP_CANCELLATION) */
	MAL_REASON_SYSTEM,   /* the system has no room for more threads */
	MAL_REASON_REPORTED, /* the program asks for its number of threads, or may */
};

/* Whether a rank's regions were classified (mal_rank_slot.proves). */
enum mal_proves {
	MAL_PROVES_NOT,
	MAL_PROVES,
	MAL_PROVES_ONE, /* but the program was told 1 thread: all its teams keep their size */
};

/* Who chose the number of threads that a rank started with (mal_rank_slot.chosen), bits. */
enum mal_chosen {
	MAL_CHOSEN_BY_VARIABLE = 1, /* OMP_NUM_THREADS, other than the number of CPUs */
	MAL_CHOSEN_BY_KEY = 2,	    /* max_threads= */
	MAL_CHOSEN_BY_BITS = 4,	    /* one, as it would have without us: bits=strict */
};

/* How results of a rank may differ from those without us (mal_rank_slot.differs), bits. */
enum mal_differs {
	MAL_DIFFERS_ONE = 1,  /* a team of one thread had more, or the program was told of more */
	MAL_DIFFERS_SUMS = 2, /* a team that combines floating-point values had another size */
};

/* What threads beside the primary one and its team do in a rank (foreign_threads), bits. */
enum mal_foreign_threads {
	MAL_FOREIGN_COMPUTE = 1, /* or may do so while that waits in MPI: it lent nothing then */
	MAL_FOREIGN_OPEN = 2,	 /* they open regions, which are not balanced */
	MAL_FOREIGN_WAIT = 4,	 /* they wait in MPI, and that has opened no region yet */
	MAL_FOREIGN_INSIDE = 8,	 /* one of the team called MPI in a region: no phase ends there */
};

/* One CPU, on its own cache line as ranks compete for it. */
struct mal_cpu_slot {
	alignas(MAL_CACHE_LINE) mal_word word;
	_Atomic uint32_t wake;	   /* futex: the borrower left */
	_Atomic uint32_t sleepers; /* owners that sleep on it */
	_Atomic uint32_t target;   /* its owner by the plan, MAL_NOBODY: no change */
	_Atomic uint32_t core;	   /* topology as found by the controller, 0 before */
	_Atomic uint32_t l3;
	_Atomic uint32_t numa;
};

/* One thread of a rank's team, by its number in the team. */
struct mal_thread_slot {
	alignas(MAL_CACHE_LINE) _Atomic int32_t tid;
	_Atomic uint32_t cpu;	    /* its place */
	_Atomic uint32_t bound_cpu; /* that it was last bound to */
	_Atomic uint32_t home;	    /* its place when a borrowed CPU is taken back */
	_Atomic uint64_t busy;	    /* ticks of work */
	/* Its place before somebody else changed it, and that tick (place.h). */
	_Atomic uint32_t from;
	_Atomic uint64_t moved;
	/* How much of BUSY is in the rank's lanes, and the tick at which that was added. */
	_Atomic uint64_t told, told_at;
};

/* NUMA nodes are numbered from 0; what is on further ones is not counted. */
#define MAL_NODES 14

/* How long threads of a rank were busy on each CPU, in ticks, as far as it has said so. */
struct mal_lanes {
	/* Bits: the CPUs below. Others' pages need not be touched. */
	alignas(MAL_CACHE_LINE) _Atomic uint64_t used[MAL_MAX_CPUS / 64];
	/*
	 * Beside these (rank/pages.h): of the rank's pages that it looked at last, how many were on
	 * each NUMA node; errno where it may not look; whether it did.
	 */
	_Atomic uint32_t pages[MAL_NODES];
	_Atomic uint32_t pages_error, pages_known;
	_Atomic uint64_t busy[]; /* by CPU */
};

/* A sample: what a rank says at the end of a phase, all at one moment. */
struct mal_snapshot {
	uint64_t round;
	uint64_t kind; /* of the boundary at which it is said */
	uint64_t boundaries[MAL_BOUNDARY_KINDS];
	uint64_t tick;
	uint64_t busy;
	uint64_t serial;
	uint64_t mpi;
	uint64_t region;
	uint64_t thread_ticks;
	uint64_t regions;
	uint64_t team;
	uint64_t max; /* CPUs that the rank can use, 0: any number */
	uint64_t cpu; /* ticks of CPU time of its threads, from the kernel */
	/* of these, in threads outside the team; 0 for unmanaged ranks, where busy includes them */
	uint64_t outside_team;
	uint64_t beside; /* not in cpu: of our thread that reads the program */
	uint64_t waits;	 /* ticks of its waits outside MPI, at least; of serial, too */
};

#define MAL_GIVEN_MASKS 16
#define MAL_BOUND_TEXT 160
#define MAL_PINS 128

/* mal_rank_slot.unmanaged: it is, and the program declares for how many CPUs it has work. */
#define MAL_DECLARES 2u

struct mal_rank_slot {
	/* Identity: written at registration. */
	alignas(MAL_CACHE_LINE) _Atomic int32_t pid;
	_Atomic uint32_t state;
	_Atomic uint32_t reported;  /* most threads reported to the program, 0: none */
	_Atomic uint32_t reason;    /* enum mal_mode_reason */
	_Atomic uint32_t chosen;    /* bits of enum mal_chosen */
	_Atomic uint32_t unmanaged; /* its threads have no slots and run on all its CPUs */
	_Atomic uint64_t finalized; /* tick of its last MPI_Finalize, 0: there was none */
	_Atomic uint32_t uses_mpi;  /* a program of its task called MPI_Init where we see it */
	_Atomic uint32_t foreign_threads; /* bits of enum mal_foreign_threads */
	struct mal_cpumask home;	  /* CPUs that the rank started with */
	/*
	 * Whether what is proved of regions counts, enum mal_proves; and of the first region that
	 * ran and was bound the name and why, or why no region was classified, any bytes, or empty.
	 * And whether the program is not read yet, and how long that went on beside the run.
	 */
	_Atomic uint32_t proves;
	_Atomic uint32_t unread, beside_ms;
	_Atomic uint32_t differs; /* what may change results: bits of enum mal_differs */
	char bound_reason[MAL_BOUND_TEXT];
	/* State: written by the rank, read by others. */
	/* start of its wait in MPI, 0: it does not wait */
	alignas(MAL_CACHE_LINE) _Atomic uint64_t waiting_since;
	_Atomic uint32_t team;
	/* number of its threads that are binding threads, going by words that they read */
	_Atomic uint32_t binding;
	/* Written by others when its CPUs change. */
	alignas(MAL_CACHE_LINE) _Atomic uint32_t changes;
	_Atomic uint32_t use;	   /* CPUs that its team uses at most, 0: all */
	_Atomic uint32_t sleepers; /* threads of it that sleep until CHANGES changes, a futex */
	/*
	 * In an unmanaged rank: hashes of the masks that its threads were last given, by any
	 * process, and the threads that the program bound itself: thread number and part of the
	 * mask's hash (rank/cpus/pins.h).
	 */
	alignas(MAL_CACHE_LINE) _Atomic uint32_t given_count;
	_Atomic uint32_t pin_count;
	_Atomic uint64_t given[MAL_GIVEN_MASKS];
	_Atomic uint64_t pins[MAL_PINS];
	/* Counters, and the last snapshot, guarded by an odd/even sequence number. */
	alignas(MAL_CACHE_LINE) struct mal_counters count;
	alignas(MAL_CACHE_LINE) _Atomic uint32_t snapshot_sequence;
	struct mal_snapshot snapshot;
};

/*
 * What a rank counts in a named region: ticks, of which WORK and INSIDE are those of threads in
 * parallel regions, OFFERED is a part of MPI, and WAITS outside MPI are known of LOOKED alone; or
 * its parallel regions. Differences of counters: one may be below 0 for a moment.
 */
enum mal_region_count {
	MAL_REGION_ELAPSED,
	MAL_REGION_WORK,
	MAL_REGION_INSIDE,
	MAL_REGION_SERIAL,
	MAL_REGION_MPI,
	MAL_REGION_OFFERED,
	MAL_REGION_PARALLEL,
	MAL_REGION_LOOKED,
	MAL_REGION_WAITS,
	MAL_REGION_COUNTS
};

#define MAL_NAMED_REGIONS 64
#define MAL_REGION_NAME 64

/* A named region of a rank, which alone writes it. Behind the first without a name is none. */
struct mal_region_slot {
	alignas(MAL_CACHE_LINE) char name[MAL_REGION_NAME]; /* any bytes */
	_Atomic uint64_t runs;
	_Atomic uint64_t sum[MAL_REGION_COUNTS]; /* of runs, and of those that last to a sample */
};

/*
 * What a rank asks of others (request.h). Lenders look at those of all ranks, so they are apart; a
 * rank writes its own in each region that may get CPUs, so no two share a cache line.
 */
struct mal_request_slot {
	alignas(MAL_CACHE_LINE) _Atomic uint64_t word;
	_Atomic uint64_t since; /* tick at which the rank opened it */
};

struct mal_header {
	uint64_t magic;
	uint32_t version;
	uint32_t rank_count;
	uint32_t cpu_count;
	uint32_t thread_count;
	/* Written by the controller, read by the ranks at every region and MPI call. */
	alignas(MAL_CACHE_LINE) _Atomic uint32_t rules;
	/* of loops with schedule(runtime): kind + chunk * 65536, 0: the program's own */
	_Atomic uint32_t schedule;
	_Atomic uint32_t max;  /* CPUs that a rank uses at most when it borrows, 0: any number */
	_Atomic uint32_t plan; /* number of the plan in mal_cpu_slot.target */
	/*
	 * Which kind of boundary ends a phase, for all ranks. Ranks meet at those beyond
	 * MAL_BOUNDARY_PERIOD, and no other counts then; else stronger ones count too.
	 */
	_Atomic uint32_t kind;
	_Atomic uint64_t round;	       /* number of the round of samples being collected */
	_Atomic uint64_t sample_at;    /* where ranks meet: give a sample at this boundary */
	_Atomic uint64_t sample_after; /* else: give a sample after this tick */
	/*
	 * Ranks that would borrow, and lent CPUs without a user: bit N is set if any of N, N + 64
	 * and so on is one. Lenders act only if a bit of the first is set, borrowers only if one of
	 * the second is.
	 */
	alignas(MAL_CACHE_LINE) const _Atomic uint64_t borrowers;
	const _Atomic uint64_t free_cpus;
	/* The controller sleeps on this futex. */
	alignas(MAL_CACHE_LINE) _Atomic uint32_t wake;
	_Atomic uint32_t arrivals;
	_Atomic uint32_t answers;  /* futex: the controller has decided on the last round */
	_Atomic uint32_t awaiting; /* ranks that sleep on answers */
	_Atomic uint32_t expected;
	_Atomic uint32_t refused; /* a task runs unbalanced; the first has said why */
	_Atomic uint32_t over;	  /* the step has ended */
	/* Which rank reads the program for all, how often it kept verdicts, and the next region. */
	_Atomic int32_t reader; /* prover/rank/reader.h */
	_Atomic uint32_t verdicts_kept;
	_Atomic uint64_t awaited;
	_Atomic uint32_t starts[4];  /* by enum mal_start (core/starts.h) */
	_Atomic uint32_t unloadable; /* a program ran where our libraries cannot be loaded */
	_Atomic uint32_t absent;     /* libraries that a program missed, bits (core/absent.h) */
	_Atomic uint32_t pages;	     /* ranks are to look where their memory is (pages=yes) */
};

/*
 * A rank may have the library of another build, as in a container: it runs unbalanced where the
 * versions differ. Where one of these fails, increment the version, then mend the numbers.
 */
#define MAL_SEGMENT_VERSION 22

#define PIN_SIZE(type, size) MAL_PIN_SIZE(type, size, "MAL_SEGMENT_VERSION")
#define PIN(type, member, offset) MAL_PIN(type, member, offset, "MAL_SEGMENT_VERSION")
/* clang-format off */
PIN_SIZE(mal_header, 320) PIN(mal_header, magic, 0) PIN(mal_header, version, 8)
PIN(mal_header, rank_count, 12) PIN(mal_header, cpu_count, 16) PIN(mal_header, thread_count, 20)
PIN(mal_header, rules, 64) PIN(mal_header, schedule, 68) PIN(mal_header, max, 72)
PIN(mal_header, plan, 76) PIN(mal_header, kind, 80) PIN(mal_header, round, 88)
PIN(mal_header, sample_at, 96) PIN(mal_header, sample_after, 104) PIN(mal_header, borrowers, 128)
PIN(mal_header, free_cpus, 136) PIN(mal_header, wake, 192) PIN(mal_header, arrivals, 196)
PIN(mal_header, answers, 200) PIN(mal_header, awaiting, 204) PIN(mal_header, expected, 208)
PIN(mal_header, refused, 212) PIN(mal_header, over, 216) PIN(mal_header, reader, 220)
PIN(mal_header, verdicts_kept, 224) PIN(mal_header, awaited, 232)
PIN(mal_header, starts, 240) PIN(mal_header, unloadable, 256) PIN(mal_header, absent, 260)
PIN(mal_header, pages, 264)
PIN_SIZE(mal_cpu_slot, 64) PIN(mal_cpu_slot, word, 0) PIN(mal_cpu_slot, wake, 8)
PIN(mal_cpu_slot, sleepers, 12) PIN(mal_cpu_slot, target, 16) PIN(mal_cpu_slot, core, 20)
PIN(mal_cpu_slot, l3, 24) PIN(mal_cpu_slot, numa, 28)
PIN_SIZE(mal_request_slot, 64) PIN(mal_request_slot, word, 0) PIN(mal_request_slot, since, 8)
PIN_SIZE(mal_rank_slot, 2112) PIN(mal_rank_slot, pid, 0) PIN(mal_rank_slot, state, 4)
PIN(mal_rank_slot, reported, 8) PIN(mal_rank_slot, reason, 12) PIN(mal_rank_slot, chosen, 16)
PIN(mal_rank_slot, unmanaged, 20) PIN(mal_rank_slot, finalized, 24)
PIN(mal_rank_slot, uses_mpi, 32) PIN(mal_rank_slot, foreign_threads, 36)
PIN(mal_rank_slot, home, 40)
PIN(mal_rank_slot, proves, 168) PIN(mal_rank_slot, unread, 172) PIN(mal_rank_slot, beside_ms, 176)
PIN(mal_rank_slot, differs, 180) PIN(mal_rank_slot, bound_reason, 184)
PIN(mal_rank_slot, waiting_since, 384) PIN(mal_rank_slot, team, 392)
PIN(mal_rank_slot, binding, 396) PIN(mal_rank_slot, changes, 448) PIN(mal_rank_slot, use, 452)
PIN(mal_rank_slot, sleepers, 456)
PIN(mal_rank_slot, given_count, 512) PIN(mal_rank_slot, pin_count, 516)
PIN(mal_rank_slot, given, 520) PIN(mal_rank_slot, pins, 648) PIN(mal_rank_slot, count, 1728)
PIN(mal_rank_slot, snapshot_sequence, 1920) PIN(mal_rank_slot, snapshot, 1928)
PIN_SIZE(mal_counters, 168) PIN(mal_counters, serial, 0) PIN(mal_counters, mpi, 8)
PIN(mal_counters, region, 16) PIN(mal_counters, thread_ticks, 24) PIN(mal_counters, regions, 32)
PIN(mal_counters, free, 40) PIN(mal_counters, kept, 48) PIN(mal_counters, overhead_ticks, 56)
PIN(mal_counters, lends, 64) PIN(mal_counters, borrows, 72) PIN(mal_counters, grants, 80)
PIN(mal_counters, reclaims, 88) PIN(mal_counters, moves, 96) PIN(mal_counters, evictions, 104)
PIN(mal_counters, overlap, 112) PIN(mal_counters, reclaim_ticks, 120)
PIN(mal_counters, boundaries, 128)
PIN_SIZE(mal_snapshot, 160) PIN(mal_snapshot, round, 0) PIN(mal_snapshot, kind, 8)
PIN(mal_snapshot, boundaries, 16) PIN(mal_snapshot, tick, 56) PIN(mal_snapshot, busy, 64)
PIN(mal_snapshot, serial, 72) PIN(mal_snapshot, mpi, 80) PIN(mal_snapshot, region, 88)
PIN(mal_snapshot, thread_ticks, 96) PIN(mal_snapshot, regions, 104) PIN(mal_snapshot, team, 112)
PIN(mal_snapshot, max, 120) PIN(mal_snapshot, cpu, 128) PIN(mal_snapshot, outside_team, 136)
PIN(mal_snapshot, beside, 144) PIN(mal_snapshot, waits, 152)
PIN_SIZE(mal_thread_slot, 64) PIN(mal_thread_slot, tid, 0) PIN(mal_thread_slot, cpu, 4)
PIN(mal_thread_slot, bound_cpu, 8) PIN(mal_thread_slot, home, 12) PIN(mal_thread_slot, busy, 16)
PIN(mal_thread_slot, from, 24)
PIN(mal_thread_slot, moved, 32) PIN(mal_thread_slot, told, 40) PIN(mal_thread_slot, told_at, 48)
PIN_SIZE(mal_lanes, 192) PIN(mal_lanes, used, 0) PIN(mal_lanes, pages, 128)
PIN(mal_lanes, pages_error, 184) PIN(mal_lanes, pages_known, 188) PIN(mal_lanes, busy, 192)
PIN_SIZE(mal_region_slot, 192) PIN(mal_region_slot, name, 0) PIN(mal_region_slot, runs, 64)
PIN(mal_region_slot, sum, 72)
_Static_assert(MAL_BOUNDARY_KINDS == 5 && MAL_RANK_DEAD == 3 && MAL_RULE_AWAIT == 256 &&
	       MAL_REASON_REPORTED == 14 && MAL_NOBODY == 0xffff && MAL_REGION_COUNTS == 9 &&
	       MAL_NAMED_REGIONS == 64,
	       "processes of two builds share these numbers: increment MAL_SEGMENT_VERSION");
#undef PIN_SIZE
#undef PIN
/* clang-format on */

/* A mapped segment. The counts are this process's own, checked when it was mapped. */
struct mal_segment {
	struct mal_header *header;
	struct mal_cpu_slot *cpus;
	const struct mal_request_slot *requests; /* of each rank; request.h */
	struct mal_rank_slot *ranks;
	struct mal_thread_slot *threads;
	struct mal_region_slot *regions; /* MAL_NAMED_REGIONS of each rank */
	char *lanes;			 /* mal_lanes_of() each rank */
	uint32_t rank_count;
	uint32_t cpu_count;    /* CPUs 0 .. cpu_count - 1 have slots */
	uint32_t thread_count; /* thread slots of each rank */
	size_t size;
};

/* The task that has descriptor FD, or its launcher, said why it runs unbalanced. */
void mal_segment_note_unbalanced(int fd);

/* If FD is a running step's segment: a program is executed where our libraries cannot be loaded. */
void mal_segment_note_unloadable(int fd);

/*
 * Create a segment for RANK_COUNT ranks on the CPUs in ALLOCATION, map it into *SEGMENT and seal
 * it. Returns its descriptor (close-on-exec), or -1 with ERR. Unmap with mal_segment_close().
 */
int mal_segment_create(struct mal_segment *segment, unsigned int rank_count,
		       const struct mal_cpumask *allocation, struct mal_error *err);

/*
 * The same for a caller that starts the ranks and never reads the segment: it is not mapped, and
 * its descriptor is inherited, with the first free number from MAL_SEGMENT_FD_MIN (env.h) on.
 */
int mal_segment_create_for_ranks(unsigned int rank_count, const struct mal_cpumask *allocation,
				 struct mal_error *err);

/*
 * Map the segment of descriptor FD, which stays open. Returns 0, or -1 with ERR for anything but a
 * sealed memfd of the right size and version.
 */
int mal_segment_open(struct mal_segment *segment, int fd, struct mal_error *err);

/* The number of the descriptor that ENVIRONMENT names; -1: none, or no number. */
int mal_segment_named(char *const *environment);

/* What descriptor FD is: a segment, of any version, whose step runs; has ended; no segment. */
enum mal_segment_look { MAL_SEGMENT_THERE, MAL_SEGMENT_OVER, MAL_SEGMENT_NONE };
enum mal_segment_look mal_segment_look(int fd);

/* Unmap SEGMENT, if it is mapped. */
void mal_segment_close(struct mal_segment *segment);

/* Thread slot INDEX of rank RANK. */
static inline struct mal_thread_slot *mal_thread_slot(const struct mal_segment *segment,
						      unsigned int rank, unsigned int index)
{
	return &segment->threads[(size_t)rank * segment->thread_count + index];
}

/* The named regions of rank RANK. */
static inline struct mal_region_slot *mal_region_slots(const struct mal_segment *segment,
						       unsigned int rank)
{
	return &segment->regions[(size_t)rank * MAL_NAMED_REGIONS];
}

/* The size of a rank's lanes. */
static inline size_t mal_lanes_size(const struct mal_segment *segment)
{
	size_t size = sizeof(struct mal_lanes) + segment->cpu_count * sizeof(uint64_t);

	return (size + MAL_CACHE_LINE - 1) / MAL_CACHE_LINE * MAL_CACHE_LINE;
}

/* The lanes of rank RANK. */
static inline struct mal_lanes *mal_lanes_of(const struct mal_segment *segment, unsigned int rank)
{
	return (struct mal_lanes *)(segment->lanes + rank * mal_lanes_size(segment));
}

/* Ticks of work of all threads in the slots of rank RANK. */
uint64_t mal_segment_busy(const struct mal_segment *segment, unsigned int rank);

/* Add to a counter that only the caller writes, without a locked instruction. */
static inline uint64_t mal_count(_Atomic uint64_t *counter, uint64_t add)
{
	uint64_t sum = atomic_load_explicit(counter, memory_order_relaxed) + add;

	atomic_store_explicit(counter, sum, memory_order_relaxed);
	return sum;
}

/* Write a rank's snapshot; only the rank itself may. */
void mal_snapshot_write(struct mal_rank_slot *rank, const struct mal_snapshot *snapshot);

/*
 * Read a rank's snapshot. False if the writer was in the middle of it at each try (it may have died
 * there).
 */
bool mal_snapshot_read(const struct mal_rank_slot *rank, struct mal_snapshot *snapshot);
