/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* run_queue.c: how long threads waited in run queues, by /proc/PID/task/TID/schedstat. */
#include "libmalleable/controller/load/run_queue.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "libmalleable/base/schedstat.h"

/* For how long thread TID of PID waited, in ns. False where the kernel does not count that. */
static bool read_wait(int32_t pid, int32_t tid, uint64_t *waited)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task/%d/schedstat", (int)pid, (int)tid);
	return mal_schedstat_waited(path, waited);
}

static struct mal_wait *find(struct mal_waits *waits, int32_t tid, size_t *at)
{
	/* The kernel lists threads in the same order each time. */
	for (size_t i = 0; i < waits->count; i++) {
		struct mal_wait *wait = &waits->list[(*at)++ % waits->count];

		if (wait->tid == tid)
			return wait;
	}
	return NULL;
}

/* Thread TID, which had waited for BEFORE_NS; NULL: no memory. */
static struct mal_wait *add(struct mal_waits *waits, int32_t tid, uint64_t before_ns)
{
	if (waits->count == waits->room) {
		size_t room = waits->room ? 2 * waits->room : 8;
		struct mal_wait *list = realloc(waits->list, room * sizeof(*list));

		if (!list)
			return NULL;
		waits->list = list;
		waits->room = room;
	}
	waits->list[waits->count] = (struct mal_wait){.tid = tid, .before_ns = before_ns};
	return &waits->list[waits->count++];
}

/* How long thread TID, which has waited for NOW ns, did so since the first reading. */
static uint64_t wait_of(struct mal_waits *waits, int32_t tid, uint64_t now, size_t *at)
{
	struct mal_wait *wait = find(waits, tid, at);

	/* One that came later has waited since then alone. */
	if (!wait)
		wait = add(waits, tid, waits->since_s > 0 ? 0 : now);
	if (!wait)
		return 0;
	wait->seen = true;
	/* A number may be given again. */
	return now > wait->before_ns ? now - wait->before_ns : 0;
}

/* Forget threads that have ended. */
static void forget_ended(struct mal_waits *waits)
{
	size_t count = 0;

	for (size_t i = 0; i < waits->count; i++) {
		if (!waits->list[i].seen)
			continue;
		waits->list[count] = waits->list[i];
		waits->list[count++].seen = false;
	}
	waits->count = count;
}

double mal_waits_longest(struct mal_waits *waits, int32_t pid, double now_s)
{
	struct dirent *entry;
	uint64_t longest = 0;
	bool known = false;
	size_t at = 0;
	char path[32];
	DIR *tasks;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	tasks = opendir(path);
	while (tasks && (entry = readdir(tasks))) {
		int32_t tid = (int32_t)strtol(entry->d_name, NULL, 10);
		uint64_t now, waited;

		if (tid <= 0 || !read_wait(pid, tid, &now))
			continue;
		known = true;
		waited = wait_of(waits, tid, now, &at);
		if (waited > longest)
			longest = waited;
	}
	if (tasks)
		closedir(tasks);
	forget_ended(waits);
	if (known && waits->since_s <= 0) {
		waits->since_s = now_s;
		return NAN;
	}
	return known && now_s > waits->since_s ? (double)longest * 1e-9 / (now_s - waits->since_s)
					       : NAN;
}

void mal_waits_close(struct mal_waits *waits)
{
	free(waits->list);
	*waits = (struct mal_waits){0};
}
