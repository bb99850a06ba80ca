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
static bool at_all; /* the primary thread and the team too */
/* That look: of which thread, how many the process had, and whether all others slept. */
static int32_t looked_by;
static nlink_t tasks_before;
static bool all_slept;

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

	if (last[index].tid != tid || last[index].ran || last[index].used != used)
		last[index].ran = state_of(tid) == 'R';
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

		if (!one)
			return false;
		if (one == tid)
			return true;
	}
	return false;
}

static void look_at_each(const struct mal_rank *rank)
{
	DIR *tasks = opendir("/proc/self/task");
	struct dirent *entry;

	all_slept = tasks != NULL;
	looked_at = 0;
	while (all_slept && (entry = readdir(tasks))) {
		int32_t tid = (int32_t)strtol(entry->d_name, NULL, 10);

		if (tid <= 0 || tid == looked_by || is_ours(rank, tid))
			continue;
		all_slept = looked_at < LOOK_MAX && !runs(tid, looked_at++);
	}
	if (tasks)
		closedir(tasks);
}

/* How many threads the process has, and some more: proc_task_getattr() in fs/proc/base.c. */
static nlink_t count_tasks(void)
{
	struct stat status;

	return stat("/proc/self/task", &status) < 0 ? 0 : status.st_nlink;
}

/*
 * Whether each thread slept when its clock was read last and has used no CPU time since: one that
 * had run then may be ready without a CPU.
 */
static bool all_slept_on(void)
{
	for (unsigned int i = 0; i < looked_at; i++)
		if (last[i].ran || used_by(last[i].tid) != last[i].used)
			return false;
	return true;
}

/* The process's threads are looked at by name only where they may be others, or one has run. */
static bool they_sleep(const struct mal_rank *rank, bool all)
{
	nlink_t tasks = count_tasks();
	int32_t own = mal_own_tid();

	if (all_slept && at_all == all && looked_by == own && tasks_before == tasks &&
	    all_slept_on())
		return true;
	at_all = all;
	looked_by = own;
	tasks_before = tasks;
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
	bool compute = false;

	if (count_tasks() != tasks_before)
		return !they_sleep(rank, at_all);
	for (unsigned int i = 0; i < looked_at; i++) {
		uint64_t now = used_by(last[i].tid);

		compute |= now > last[i].used + ns / 10;
		/* It may run now. */
		last[i].ran |= now != last[i].used;
		last[i].used = now;
	}
	return compute;
}
