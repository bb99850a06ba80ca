/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* loose.c: ranks whose threads no OpenMP runtime tells us about. */
#include "libmalleable/rank/loose.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libmalleable/rank/cpus.h"
#include "libmalleable/rank/state.h"
#include "libmalleable/rank/threads.h"

#define LOOK_EVERY_S 1e-3

static uint64_t waited;	     /* CPU time, ns, of the primary thread in waits */
static uint64_t wait_begin;  /* its CPU time at the start of this one */
static uint64_t last_cpu;    /* of the process without waits, ns, at the last sample */
static uint64_t last_serial; /* the counter at the last sample, ticks */
static uint64_t busy;	     /* ticks, while loose */
static uint64_t not_serial;  /* ticks of the serial counter in which other threads could work */
static unsigned int peak = 1;

void mal_loose_open(void)
{
	mal.loose = !mal.ompt;
	last_cpu = mal_clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	last_serial = atomic_load_explicit(&mal.slot->count.serial, memory_order_relaxed);
}

/* What the threads worked since the last sample. */
static void look_at_work(const struct mal_snapshot *snapshot)
{
	uint64_t cpu = mal_clock_ns(CLOCK_PROCESS_CPUTIME_ID) - waited;
	uint64_t worked = cpu > last_cpu ? mal_s_to_ticks((double)(cpu - last_cpu) * 1e-9) : 0;

	peak = mal_threads_peak();
	/* One thread alone is as fast on one CPU as on many. */
	if (peak > 1) {
		busy += worked;
		not_serial += snapshot->serial - last_serial;
	}
	last_cpu = cpu;
	last_serial = snapshot->serial;
	atomic_store_explicit(&mal.slot->loose, true, memory_order_relaxed);
	atomic_store_explicit(&mal.slot->team, peak, memory_order_relaxed);
}

void mal_loose_sample(struct mal_snapshot *snapshot)
{
	if (mal.loose) {
		look_at_work(snapshot);
		snapshot->most = peak;
	}
	snapshot->busy += busy;
	snapshot->serial -= not_serial;
}

void mal_loose_wait_begin(void)
{
	wait_begin = mal_clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

void mal_loose_wait_end(void)
{
	waited += mal_clock_ns(CLOCK_THREAD_CPUTIME_ID) - wait_begin;
}

void mal_loose_call_begin(void)
{
	if (mal.borrower)
		mal_hungry_say(&mal.segment, mal.me, false);
}

void mal_loose_call_end(void)
{
	if (!mal_rule(MAL_RULE_GROW))
		return;
	mal_cpus_want(peak > mal.own_count);
	if (!mal.borrower)
		return;
	atomic_store_explicit(&mal.slot->hungry_since, mal.left_mpi, memory_order_relaxed);
	mal_hungry_say(&mal.segment, mal.me, true);
}

/* The state of thread TID: the field behind the name's bracket in /proc/self/task/TID/stat (proc(5)). */
static char state_of(const char *tid)
{
	char path[64], text[512];
	const char *bracket;
	ssize_t length;
	int fd;

	snprintf(path, sizeof(path), "/proc/self/task/%.20s/stat", tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 'X';
	length = read(fd, text, sizeof(text) - 1);
	close(fd);
	text[length > 0 ? length : 0] = '\0';
	bracket = strrchr(text, ')');
	return bracket && bracket[1] == ' ' ? bracket[2] : 'X';
}

static bool others_sleep(void)
{
	DIR *tasks = opendir("/proc/self/task");
	struct dirent *entry;
	bool sleep = tasks != NULL;

	while (sleep && (entry = readdir(tasks))) {
		long tid = strtol(entry->d_name, NULL, 10);

		sleep = tid <= 0 || tid == mal_self.tid || state_of(entry->d_name) != 'R';
	}
	if (tasks)
		closedir(tasks);
	return sleep;
}

bool mal_loose_is_idle(void)
{
	static uint64_t looked;
	static bool idle;
	uint64_t now = mal_ticks();

	if (now - looked > mal_s_to_ticks(LOOK_EVERY_S)) {
		idle = others_sleep();
		looked = now;
	}
	return idle;
}
