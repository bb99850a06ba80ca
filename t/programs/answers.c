/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * answers.c: what OpenMP's queries answer: outside regions, in one, in a nested one, and after the
 * program has set or released something. No measured time is printed, so that two runs can be
 * compared.
 */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PLACES 64

/* What a program that runs on libomp in libgomp's place does not call. */
#ifdef PLAIN
#define omp_get_nested() 0
#define omp_get_proc_bind() 0
#define omp_get_supported_active_levels() 0
#define omp_get_affinity_format(text, size) 0
#define omp_pause_resource(kind, device) 0
#define omp_pause_resource_all(kind) 0
#endif

static void say_places(void)
{
#ifndef PLAIN
	int numbers[PLACES] = {0}, count = omp_get_num_places();

	printf(" places %d:", count);
	for (int place = 0; place < count && place < PLACES; place++) {
		int procs = omp_get_place_num_procs(place);

		memset(numbers, 0, sizeof(numbers));
		if (procs <= PLACES)
			omp_get_place_proc_ids(place, numbers);
		printf(" {");
		for (int i = 0; i < procs && i < PLACES; i++)
			printf("%d,", numbers[i]);
		printf("}");
	}
	/* Of places that there are not. */
	printf(" beyond %d %d at %d\n", omp_get_place_num_procs(count), omp_get_place_num_procs(-1),
	       omp_get_place_num());
	count = omp_get_partition_num_places();
	memset(numbers, 0, sizeof(numbers));
	if (count <= PLACES)
		omp_get_partition_place_nums(numbers);
	printf(" partition %d:", count);
	for (int i = 0; i < count && i < PLACES; i++)
		printf(" %d", numbers[i]);
	printf("\n");
#endif
}

static void say(const char *where)
{
	omp_sched_t kind;
	int chunk;

	omp_get_schedule(&kind, &chunk);
	printf("%s\n threads %d of %d max %d limit %d procs %d\n", where, omp_get_thread_num(),
	       omp_get_num_threads(), omp_get_max_threads(), omp_get_thread_limit(),
	       omp_get_num_procs());
	printf(" level %d active %d most %d supported %x parallel %d nested %d dynamic %d final "
	       "%d\n",
	       omp_get_level(), omp_get_active_level(), omp_get_max_active_levels(),
	       (unsigned int)omp_get_supported_active_levels(), omp_in_parallel(), omp_get_nested(),
	       omp_get_dynamic(), omp_in_final());
	for (int level = -1; level <= omp_get_level() + 1; level++)
		printf(" ancestor %d: %d of %d", level, omp_get_ancestor_thread_num(level),
		       omp_get_team_size(level));
	printf("\n schedule %x %d bind %d cancel %d priority %d\n", (unsigned int)kind, chunk,
	       (int)omp_get_proc_bind(), omp_get_cancellation(), omp_get_max_task_priority());
	printf(" devices %d default %d initial %d is %d number %d\n", omp_get_num_devices(),
	       omp_get_default_device(), omp_get_initial_device(), omp_is_initial_device(),
	       omp_get_device_num());
	printf(" teams %d of %d max %d limit %d\n", omp_get_team_num(), omp_get_num_teams(),
	       omp_get_max_teams(), omp_get_teams_thread_limit());
	printf(" allocator %lx\n", (unsigned long)omp_get_default_allocator());
	say_places();
}

static void regions(void)
{
	int threads = omp_get_max_threads();

	say("outside");
#pragma omp parallel
#pragma omp for ordered schedule(static, 1)
	for (int i = 0; i < threads; i++)
#pragma omp ordered
		say("in a region");
#pragma omp parallel num_threads(2)
#pragma omp for ordered schedule(static, 1)
	for (int i = 0; i < 2; i++)
#pragma omp ordered
	{
#pragma omp parallel num_threads(2)
#pragma omp for ordered schedule(static, 1)
		for (int j = 0; j < 2; j++)
#pragma omp ordered
			say("in a nested one");
	}
#pragma omp task final(1)
	say("in a task");
}

/* Regions after a hard pause, which ends libomp now and then where nobody balances it. */
static int pause_hard(void)
{
	int result = omp_pause_resource_all(omp_pause_hard);

	for (int i = 0; i < 100; i++)
#pragma omp parallel num_threads(2)
	{
#pragma omp barrier
	}
	return result;
}

int main(int argc, char **argv)
{
	char text[200] = "";
	double tick, begin;

	(void)argv;
	/* libgomp has read these before main(), libomp not. */
	setenv("OMP_SCHEDULE", "guided,9", 1);
	setenv("OMP_MAX_ACTIVE_LEVELS", "2", 1);
	if (argc > 1)
		return pause_hard();
	regions();
	printf("set %s %s\n", getenv("OMP_SCHEDULE"), getenv("OMP_MAX_ACTIVE_LEVELS"));
	printf("times %d %d\n", omp_get_wtick() > 0, omp_get_wtick() < 1e-3);
	tick = omp_get_wtick();
	begin = omp_get_wtime();
	printf("tick %g %d\n", tick, begin > 0);
	printf("format %d\n", (int)(omp_get_affinity_format(text, sizeof(text)) < sizeof(text)));
	printf("'%s'\n", text);
	omp_set_num_threads(2);
	omp_set_max_active_levels(2);
	omp_set_schedule(omp_sched_guided, 3);
	omp_set_default_device(1);
	omp_set_num_teams(3);
	omp_set_teams_thread_limit(2);
	regions();
	printf("pause %d %d\n", omp_pause_resource(omp_pause_soft, omp_get_initial_device()),
	       omp_pause_resource_all(omp_pause_soft));
	say("after a soft pause");
	printf("pause %d %d\n", omp_pause_resource(omp_pause_hard, omp_get_initial_device()),
	       omp_pause_resource_all(omp_pause_hard));
	omp_set_num_threads(2);
	omp_set_max_active_levels(1);
	omp_set_dynamic(0);
	omp_set_schedule(omp_sched_static, 0);
	regions();
	return 0;
}
