/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* settings.c: what OpenMP has made of its environment variables, in one line, without a time. */
#define _GNU_SOURCE
#include <omp.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>

static void say_places(void)
{
#ifndef PLAIN /* with these a program keeps libgomp */
	printf(" bind %d places %d", (int)omp_get_proc_bind(), omp_get_num_places());
	for (int place = 0; place < omp_get_num_places() && place < 8; place++) {
		int ids[CPU_SETSIZE] = {0}, count = omp_get_place_num_procs(place);

		if (count > CPU_SETSIZE)
			continue;
		omp_get_place_proc_ids(place, ids);
		for (int i = 0; i < count; i++)
			printf("%s%d", i ? "," : " ", ids[i]);
	}
#endif
}

/* Of the thread behind the first, if there is one. */
static void say_thread(void)
{
	size_t stack = 0;
	int cpus = 0;

#pragma omp parallel
	if (omp_get_thread_num() == 1) {
		pthread_attr_t attributes;
		cpu_set_t set;

		pthread_getattr_np(pthread_self(), &attributes);
		pthread_attr_getstacksize(&attributes, &stack);
		pthread_attr_destroy(&attributes);
		sched_getaffinity(0, sizeof(set), &set);
		cpus = CPU_COUNT(&set);
	}
	/* libomp adds less than a page. */
	printf(" stack %zu cpus %d", stack / 4096, cpus);
}

int main(void)
{
	omp_sched_t kind;
	int chunk, number = 0;

	omp_get_schedule(&kind, &chunk);
	printf("threads %d limit %d levels %d dynamic %d cancel %d schedule %x,%d priority %d "
	       "device %d teams %d,%d allocator %lx",
	       omp_get_max_threads(), omp_get_thread_limit(), omp_get_max_active_levels(),
	       omp_get_dynamic(), omp_get_cancellation(), (unsigned int)kind, chunk,
	       omp_get_max_task_priority(), omp_get_default_device(), omp_get_max_teams(),
	       omp_get_teams_thread_limit(), (unsigned long)omp_get_default_allocator());
	say_places();
	say_thread();
#pragma omp parallel for schedule(runtime) reduction(+ : number)
	for (int i = 0; i < 100; i++)
		number += i;
	printf(" sum %d\n", number);
	return 0;
}
