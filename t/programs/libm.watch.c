/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libm.watch.c: preloaded, sees which teams regions get that cannot tell themselves: a
 * region calls cbrt(KIND), which is the mathematics library's as far as anybody knows, and this
 * one's in fact: 0. Appends to the file $WATCH.RANK a line "KIND TEAM" whenever a region of that
 * kind has another team than its last one, and "KIND threads" if the team has other threads of the
 * system than before, or in another order.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { KINDS = 64, THREADS = 64 };

static struct {
	_Atomic int team;
	long threads[THREADS];
} last[KINDS];
static int (*team_of)(void), (*number_of)(void);

/* The runtime's own answers: what the program is told is not changed by these questions. */
static int find(void)
{
	void *runtime = dlopen("libomp.so.5", RTLD_LAZY | RTLD_NOLOAD);

	if (!runtime)
		return 0;
	*(void **)&team_of = dlsym(runtime, "omp_get_num_threads");
	*(void **)&number_of = dlsym(runtime, "omp_get_thread_num");
	return team_of && number_of;
}

static void add(const char *format, int kind, int team)
{
	const char *slurms = getenv("SLURM_PROCID"), *name = getenv("WATCH");
	const char *rank = slurms ? slurms : getenv("OMPI_COMM_WORLD_RANK");
	char path[4096], line[64];
	int fd, length = snprintf(line, sizeof(line), format, kind, team);

	if (!name || !rank)
		return;
	snprintf(path, sizeof(path), "%s.%s", name, rank);
	fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	if (fd < 0 || write(fd, line, (size_t)length) < 0)
		abort();
	close(fd);
}

double cbrt(double value)
{
	int kind = (int)value, team, number;
	long thread = syscall(SYS_gettid);

	if (kind < 0 || kind >= KINDS || (!number_of && !find()))
		return 0;
	team = team_of();
	number = number_of();
	if (last[kind].team != team && atomic_exchange(&last[kind].team, team) != team)
		add("%d %d\n", kind, team);
	if (number < THREADS && last[kind].threads[number] != thread) {
		if (last[kind].threads[number])
			add("%d threads\n", kind, 0);
		last[kind].threads[number] = thread;
	}
	return 0;
}
