/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * borrower_use.c: whether another rank, an unmanaged one, uses the CPUs that it has borrowed.
 *
 * It has more threads than CPUs, but nobody sees how many of them compute at once. Threads that
 * take turns, as they wait for each other or for one lock, use one CPU, and are slower on two: each
 * wakes the next one on another CPU. A lender has the time to look. The CPUs are used if the
 * process has more CPU time than its own ones give, or would have, but for others that run there.
 * (A thread that wakes another and is about to sleep counts as ready too, until it has a CPU.)
 * The process's CPU time is one system call; for how long its threads were ready is several for
 * each thread, and read only of a process whose CPU time is not enough.
 *
 * Invariant: threads that take turns keep no CPU of others (t/unit/test_borrower_use.c:
 * threads_in_turn_lose_it; t/t2006-builds.t), and those that compute at once get one though they
 * did not before (threads_after_a_serial_part_get_it).
 */
#include "libmalleable/rank/cpus/borrower_use.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

#include "libmalleable/base/clock.h"
#include "libmalleable/base/schedstat.h"
#include "libmalleable/core/cpuword.h"
#include "libmalleable/core/segment.h"
#include "libmalleable/rank/state/rank.h"

/* The part of its borrowed CPUs that a rank has to use, or for which it has ready threads. */
#define USED 0.25
#define WANTED 0.75
/*
 * From one look to the next; a verdict needs so much of borrowed CPUs, and holds for so long at
 * most: less where threads queue from one look to the next, which are this far apart.
 */
#define LOOK_S 1e-3
#define ENOUGH_S 20e-3
#define REFUSED_S 1.0
#define QUEUED_S 5e-3
/* A look at a process of many threads is long, and on a CPU that another rank could have. */
#define LOOK_PART 32

struct look {
	uint64_t at;	       /* tick */
	uint64_t used, queued; /* ticks of all threads, so far; queued: of one that is doubted */
	uint32_t changes;      /* of the rank's CPUs */
};

static struct {
	struct look last;
	uint64_t cost;		  /* of that look, in ticks */
	double had, used, wanted; /* ticks of borrowed CPUs, since the last verdict */
	uint64_t refused;	  /* until this tick */
	bool doubted;		  /* it used too little when that was last concluded */
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

/*
 * Look at NUMBER, and keep that as the last look. False: the last one was less than APART_S ago, or
 * there is no such process that we see.
 */
static bool look_at(const struct mal_rank *rank, unsigned int number, double apart_s,
		    struct look *look)
{
	const struct mal_rank_slot *slot = &rank->segment.ranks[number];
	uint64_t now = mal_ticks(), since = now - borrowers[number].last.at;
	int32_t pid = atomic_load(&slot->pid);
	uint64_t used_ns;

	if (since < mal_s_to_ticks(apart_s) || since < LOOK_PART * borrowers[number].cost ||
	    pid <= 0 || !(used_ns = mal_clock_ns(mal_process_clock(pid))))
		return false;
	*look = (struct look){
		.at = now,
		.used = mal_s_to_ticks((double)used_ns * 1e-9),
		.queued = borrowers[number].doubted ? queued_in(pid) : 0,
		.changes = atomic_load(&slot->changes),
	};
	borrowers[number].last = *look;
	borrowers[number].cost = mal_ticks() - now;
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
static void add(const struct mal_rank *rank, unsigned int number, const struct look *last,
		const struct look *now)
{
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

/*
 * Enough is known: does NUMBER use what it had, or may it, as its queues were not read? Begin
 * again.
 */
static bool conclude(unsigned int number)
{
	bool used = borrowers[number].used >= USED * borrowers[number].had,
	     wanted = borrowers[number].wanted >= WANTED * borrowers[number].had,
	     uses = used || wanted || !borrowers[number].doubted;

	if (!used && !borrowers[number].doubted)
		borrowers[number].last.at = 0;
	borrowers[number].doubted = !used;
	borrowers[number].had = borrowers[number].used = borrowers[number].wanted = 0;
	return uses;
}

/* Whether threads of NUMBER queued so much since the last look that it would use a further CPU. */
static bool needs_more(const struct mal_rank *rank, unsigned int number)
{
	struct look look, last = borrowers[number].last;

	return look_at(rank, number, QUEUED_S, &look) && look.changes == last.changes &&
	       look.queued > last.queued &&
	       (double)(look.queued - last.queued) >= WANTED * (double)(look.at - last.at);
}

bool mal_borrower_may(const struct mal_rank *rank, unsigned int number, uint64_t now)
{
	if (now >= borrowers[number].refused ||
	    atomic_load(&rank->segment.ranks[number].unmanaged) != true)
		return true;
	if (!needs_more(rank, number))
		return false;
	borrowers[number].refused = 0;
	return true;
}

bool mal_borrower_uses(const struct mal_rank *rank, unsigned int number, uint64_t now)
{
	struct look look, last = borrowers[number].last;

	if (atomic_load(&rank->segment.ranks[number].unmanaged) != true)
		return true;
	if (now < borrowers[number].refused)
		return false;
	if (!look_at(rank, number, LOOK_S, &look))
		return true;
	if (look.changes == last.changes && last.at)
		add(rank, number, &last, &look);
	if (borrowers[number].had < (double)mal_s_to_ticks(ENOUGH_S) || conclude(number))
		return true;
	borrowers[number].refused = now + mal_s_to_ticks(REFUSED_S);
	return false;
}
