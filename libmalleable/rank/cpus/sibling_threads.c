/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * sibling_threads.c: whether the rank's other threads sleep, as the kernel sees them.
 *
 * Invariant: CPUs are not idle while a thread computes that nobody told us of
 * (t/unit/test_threads.c: older_threads_keep_cpus_busy; t/t3001-balance.t).
 */
#include "libmalleable/rank/cpus/sibling_threads.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "libmalleable/base/clock.h"
#include "libmalleable/base/input.h"
#include "libmalleable/rank/cpus/lock.h"
#include "libmalleable/rank/cpus/threads.h"
#include "libmalleable/rank/state/rank.h"

/* So many are looked at, beside the team. */
#define LOOK_MAX 512

/* What the last look found of each. */
static struct {
	int32_t tid;
	uint64_t used; /* CPU time, ns */
	bool ran;
} last[LOOK_MAX];
static unsigned int looked_at;
/* That look: of the primary thread and the team too? Did all sleep? By which thread? */
static bool at_all, all_slept;
static int32_t looked_by;
/* The process's threads then: how many, and the numbers of ours, which are not among the last. */
static nlink_t tasks_before;
static int64_t ours_before;

/*
 * Read what stands behind the name's bracket in /proc/self/task/TID/stat (proc(5)), from the
 * thread's state on. Returns TEXT, or NULL if there is none.
 */
static const char *read_stat(int32_t tid, char text[1024])
{
	char path[64];
	const char *bracket;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", (int)tid);
	mal_input_text(path, text, 1024);
	bracket = strrchr(text, ')');
	return bracket && bracket[1] == ' ' ? bracket + 2 : NULL;
}

static char state_of(int32_t tid)
{
	char text[1024];
	const char *stat = read_stat(tid, text);

	return stat ? *stat : 'X';
}

/* Field 39, and the state is field 3. */
unsigned int mal_thread_cpu(int32_t tid)
{
	char text[1024];
	const char *stat = read_stat(tid, text);

	for (unsigned int field = 3; stat && field < 39; field++) {
		stat = strchr(stat, ' ');
		stat += stat != NULL;
	}
	return stat ? (unsigned int)strtoul(stat, NULL, 10) : MAL_NO_CPU;
}

/* The CPU time of thread TID, in ns; 0: it has ended. */
static uint64_t used_by(int32_t tid)
{
	return mal_clock_ns(mal_thread_clock(tid));
}

/*
 * Whether thread TID runs. One that slept at the last look and used no CPU time since, as its clock
 * tells, still sleeps: that takes a tenth of the time.
 */
static bool runs(int32_t tid, unsigned int index)
{
	uint64_t used = used_by(tid);

	/* Once one runs the others may. */
	if (last[index].tid != tid || last[index].ran || last[index].used != used)
		last[index].ran = !all_slept || state_of(tid) == 'R';
	last[index].tid = tid;
	last[index].used = used;
	return last[index].ran;
}

bool mal_thread_sleeps(int32_t tid)
{
	char state = state_of(tid);

	return state == 'S' || state == 'Z';
}

/*
 * The primary thread waits, and the team's threads for work, whether they poll or sleep; our reader
 * keeps nobody waiting.
 */
static bool is_ours(const struct mal_rank *rank, int32_t tid)
{
	if (tid == mal_threads_background_tid())
		return true;
	if (at_all)
		return false;
	if (tid == rank->primary.tid)
		return true;
	for (unsigned int i = 0; i < rank->segment.thread_count; i++) {
		int32_t one = atomic_load_explicit(&rank->threads[i].tid, memory_order_relaxed);

		if (!one || one == tid)
			return one == tid;
	}
	return false;
}

/* The team's threads only come: as more are counted, they are not needed here. */
static int64_t sum_of_ours(const struct mal_rank *rank)
{
	return mal_threads_background_tid() + (int64_t)rank->primary.tid;
}

/* All have to be known: where as many end as are made, only those that have gone tell of it. */
static void look_at_each(const struct mal_rank *rank)
{
	DIR *tasks = opendir("/proc/self/task");
	struct dirent *entry;
	nlink_t entries = 0;

	all_slept = tasks != NULL;
	looked_at = 0;
	while (tasks && (entry = readdir(tasks))) {
		int32_t tid = (int32_t)strtol(entry->d_name, NULL, 10);

		entries++;
		if (tid <= 0 || tid == looked_by || is_ours(rank, tid))
			continue;
		if (looked_at == LOOK_MAX)
			entries = 0;
		all_slept &= looked_at < LOOK_MAX && !runs(tid, looked_at++);
	}
	if (tasks)
		closedir(tasks);
	/* With . and .. as many as are counted; else one came or went meanwhile. */
	if (entries != tasks_before)
		tasks_before = 0;
}

/* How many threads the process has, and some more: proc_task_getattr() in fs/proc/base.c. */
static nlink_t count_tasks(void)
{
	struct stat status;

	return stat("/proc/self/task", &status) < 0 ? 0 : status.st_nlink;
}

/* Whether the threads are as many as at the last look, and the same ones are ours. */
static bool have_stayed(const struct mal_rank *rank)
{
	return tasks_before && count_tasks() == tasks_before && sum_of_ours(rank) == ours_before;
}

/*
 * Whether each thread slept when its clock was read last and has used no CPU time since: one that
 * had run then may be ready without a CPU. The clock of one that has gone is 0.
 */
static bool all_slept_on(void)
{
	for (unsigned int i = 0; i < looked_at; i++)
		if (last[i].ran || !last[i].used || used_by(last[i].tid) != last[i].used)
			return false;
	return true;
}

/* The process's threads are looked at by name only where they may be others, or one has run. */
static bool they_sleep(const struct mal_rank *rank, bool all)
{
	int32_t own = mal_own_tid();

	if (all_slept && at_all == all && looked_by == own && have_stayed(rank) && all_slept_on())
		return true;
	at_all = all;
	looked_by = own;
	tasks_before = count_tasks();
	ours_before = sum_of_ours(rank);
	look_at_each(rank);
	return all_slept;
}

bool mal_others_sleep(const struct mal_rank *rank)
{
	return they_sleep(rank, false);
}

bool mal_all_sleep(const struct mal_rank *rank)
{
	return they_sleep(rank, true);
}

bool mal_others_compute(const struct mal_rank *rank, uint64_t ns)
{
	bool compute = false, same = have_stayed(rank);

	for (unsigned int i = 0; i < looked_at; i++) {
		uint64_t now = used_by(last[i].tid);

		same &= now != 0;
		compute |= now > last[i].used + ns / 10;
		/* It may run now, or has gone. */
		last[i].ran |= !now || now != last[i].used;
		last[i].used = now;
	}
	return compute || (!same && !they_sleep(rank, at_all));
}
