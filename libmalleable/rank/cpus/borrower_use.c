/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * borrower_use.c: whether another rank, an unmanaged one, uses the CPUs that it has borrowed.
 *
 * It has more threads than CPUs, but nobody sees how many of them compute at once. Threads that
 * take turns, as they wait for each other or for one lock, use one CPU, and are slower on two: each
 * wakes the next one on another CPU. A lender has the time to look. The CPUs are used if the
 * process has more CPU time than its own ones give, or would have, but for others that run there.
 * (A thread that wakes another and is about to sleep counts as ready too, until it has a CPU.)
 *
 * Invariant: threads that take turns keep no CPU of others (t/unit/test_borrower_use.c;
 * t/t2006-builds.t).
 */
#include "libmalleable/rank/cpus/borrower_use.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "libmalleable/base/clock.h"
#include "libmalleable/base/schedstat.h"
#include "libmalleable/core/cpuword.h"
#include "libmalleable/core/segment.h"
#include "libmalleable/rank/state/rank.h"

/* The part of its borrowed CPUs that a rank has to use, or for which it has ready threads. */
#define USED 0.25
#define WANTED 0.75
/* From one look to the next; a verdict needs so much of borrowed CPUs, and holds for so long. */
#define LOOK_S 1e-3
#define ENOUGH_S 20e-3
#define REFUSED_S 1.0

struct look {
	uint64_t at;	       /* tick */
	uint64_t used, queued; /* ticks of all threads, so far */
	uint32_t changes;      /* of the rank's CPUs */
};

static struct {
	struct look last;
	double had, used, wanted; /* ticks of borrowed CPUs, since the last verdict */
	uint64_t refused;	  /* until this tick */
} borrowers[MAL_MAX_RANKS];

/* For how long threads of process PID have been ready without a CPU in all, as far as is known. */
static uint64_t queued_in(int32_t pid)
{
	struct dirent *entry;
	uint64_t sum = 0, ns;
	char path[64];
	DIR *tasks;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	tasks = opendir(path);
	while (tasks && (entry = readdir(tasks))) {
		int32_t tid = (int32_t)strtol(entry->d_name, NULL, 10);

		if (tid <= 0)
			continue;
		snprintf(path, sizeof(path), "/proc/%d/task/%d/schedstat", (int)pid, (int)tid);
		mal_schedstat_waited(path, &ns);
		sum += ns;
	}
	if (tasks)
		closedir(tasks);
	return mal_s_to_ticks((double)sum * 1e-9);
}

/* False: there is no such process that we see. */
static bool look_at(const struct mal_rank_slot *slot, uint64_t now, struct look *look)
{
	int32_t pid = atomic_load(&slot->pid);
	struct timespec used;

	if (pid <= 0 || clock_gettime(mal_process_clock(pid), &used) < 0)
		return false;
	*look = (struct look){
		.at = now,
		.used = mal_s_to_ticks((double)used.tv_sec + (double)used.tv_nsec * 1e-9),
		.queued = queued_in(pid),
		.changes = atomic_load(&slot->changes),
	};
	return true;
}

/* How many CPUs rank NUMBER owns, and how many it has of others. */
static void count_cpus(const struct mal_rank *rank, unsigned int number, unsigned int *owned,
		       unsigned int *borrowed)
{
	*owned = *borrowed = 0;
	for (unsigned int cpu = 0; cpu < rank->segment.cpu_count; cpu++) {
		struct mal_cpu_state state = mal_word_read(&rank->segment.cpus[cpu].word);

		*owned += state.owner == number;
		*borrowed += state.owner != number && state.user == number;
	}
}

/* Add what NUMBER did from one look to the next, both with the same CPUs. */
static void add(const struct mal_rank *rank, unsigned int number, const struct look *now)
{
	const struct look *last = &borrowers[number].last;
	double ticks = (double)(now->at - last->at), used, queued = 0;
	unsigned int owned, borrowed;

	count_cpus(rank, number, &owned, &borrowed);
	used = (double)(now->used - last->used) - ticks * owned;
	/* Threads that have ended do not count. */
	if (now->queued > last->queued)
		queued = (double)(now->queued - last->queued);
	borrowers[number].had += ticks * borrowed;
	borrowers[number].used += used > 0 ? used : 0;
	borrowers[number].wanted += used + queued > 0 ? used + queued : 0;
}

/* Enough is known: does NUMBER use what it had? Begin again. */
static bool conclude(unsigned int number)
{
	bool uses = borrowers[number].used >= USED * borrowers[number].had ||
		    borrowers[number].wanted >= WANTED * borrowers[number].had;

	borrowers[number].had = borrowers[number].used = borrowers[number].wanted = 0;
	return uses;
}

bool mal_borrower_may(const struct mal_rank *rank, unsigned int number, uint64_t now)
{
	return now >= borrowers[number].refused ||
	       atomic_load(&rank->segment.ranks[number].unmanaged) != true;
}

bool mal_borrower_uses(const struct mal_rank *rank, unsigned int number, uint64_t now)
{
	const struct mal_rank_slot *slot = &rank->segment.ranks[number];
	struct look look;

	if (atomic_load(&slot->unmanaged) != true ||
	    now - borrowers[number].last.at < mal_s_to_ticks(LOOK_S) || !look_at(slot, now, &look))
		return mal_borrower_may(rank, number, now);
	if (look.changes == borrowers[number].last.changes && borrowers[number].last.at)
		add(rank, number, &look);
	borrowers[number].last = look;
	if (borrowers[number].had < (double)mal_s_to_ticks(ENOUGH_S))
		return true;
	if (!conclude(number))
		borrowers[number].refused = now + mal_s_to_ticks(REFUSED_S);
	return mal_borrower_may(rank, number, now);
}
