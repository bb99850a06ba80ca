/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* foreign.c: threads of the program that neither OpenMP nor MPI started. */
#include "libmalleable/rank/foreign.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "libmalleable/rank/state.h"

#define LOOK_EVERY_S 0.1

static unsigned int baseline = 1;
static uint64_t next_look;
static bool found;

/* The number of threads of this process: field 20 of /proc/self/stat (proc(5)), 18 behind the name's bracket. */
static unsigned int count_threads(void)
{
	char text[1024];
	unsigned int threads = 0;
	int fd = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
	ssize_t length = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	const char *at;

	if (fd >= 0)
		close(fd);
	if (length <= 0)
		return 0;
	text[length] = '\0';
	at = strrchr(text, ')');
	for (int field = 2; at && field < 20; field++) {
		at = strchr(at, ' ');
		at = at ? at + 1 : NULL;
	}
	return at && sscanf(at, "%u", &threads) == 1 ? threads : 0;
}

static unsigned int team_threads(void)
{
	unsigned int count = 0;

	while (count < mal.segment.thread_count && atomic_load_explicit(&mal.threads[count].tid, memory_order_relaxed))
		count++;
	return count;
}

void mal_foreign_baseline(void)
{
	unsigned int threads = count_threads();
	unsigned int team = team_threads();

	/* The primary thread is in both. */
	baseline = threads > team && team ? threads - team + 1 : threads;
}

bool mal_foreign_threads(void)
{
	uint64_t now = mal_ticks();
	unsigned int team;

	if (now < next_look)
		return found;
	next_look = now + mal_s_to_ticks(LOOK_EVERY_S);
	team = team_threads();
	found = count_threads() > baseline + (team ? team - 1 : 0);
	return found;
}
