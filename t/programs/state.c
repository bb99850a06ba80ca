/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * state.c: what a program sees of the state of its threads and of how it was started: state KIND.
 * Two runs, with and without balancing, print the same lines. Rank 0 computes longer than the
 * others. Built with PLACED it asks for CPUs and settings in seldom ways, with CANCELS it leaves
 * loops early; else its teams can be widened.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <fenv.h>
#include <mpi.h>
#ifdef PLACED
#include <omp.h>
#endif
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>
#include <wordexp.h>

#define REGIONS 30
/* No call fails with it. */
#define ERROR 4095

static int rank;

/* Measured in CPU time, so that the work is the same on a busy machine. Needs no rounding. */
static void compute(long us)
{
	struct timespec now;
	long begin = -1, t;

	do {
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
		t = now.tv_sec * 1000000 + now.tv_nsec / 1000;
		if (begin < 0)
			begin = t;
	} while (t - begin < (rank == 0 ? us : us / 20));
}

#ifndef CANCELS
static void work(void)
{
	for (int i = 0; i < REGIONS; i++) {
#pragma omp parallel
		compute(8000);
		MPI_Barrier(MPI_COMM_WORLD);
	}
}

#endif

#ifdef CANCELS
static void cancelled(void)
{
	int found = 0;

	for (int i = 0; i < REGIONS; i++) {
		int hit = 0;

#pragma omp parallel
#pragma omp for schedule(dynamic, 1)
		for (int k = 0; k < 100; k++) {
			compute(200);
			if (k == 50) {
#pragma omp atomic write
				hit = 1;
#pragma omp cancel for
			}
		}
		found += hit;
		MPI_Barrier(MPI_COMM_WORLD);
	}
	printf("found %d\n", found);
}

#elif defined(PLACED)
/* What a child finds that is started without a call of a name that is usual. */
static void child(int shell)
{
	char *arguments[] = {"sh", "-c", "echo child $(nproc)", NULL};
	pid_t pid = vfork();

	if (pid == 0) {
		fexecve(shell, arguments, environ);
		_exit(1);
	}
	waitpid(pid, NULL, 0);
}

static void show(void)
{
	int shell = open("/bin/sh", O_RDONLY | O_CLOEXEC);
	pthread_attr_t attributes;
	wordexp_t words;
	cpu_set_t set;

	CPU_ZERO(&set);
	if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
		pthread_attr_getaffinity_np(&attributes, sizeof(set), &set);
		pthread_attr_destroy(&attributes);
	}
	printf("attributes %d\n", CPU_COUNT(&set));
	if (wordexp("$(nproc)", &words, 0) == 0) {
		printf("words %s\n", words.we_wordv[0]);
		wordfree(&words);
	}
	fflush(stdout);
	child(shell);
	close(shell);
}

static void placed(void)
{
	show();
	work();
	show();
}

/* The CPUs that a new thread says it has. */
static int tell_cpus(void *who)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	sched_getaffinity(0, sizeof(set), &set);
	printf("%s", (const char *)who);
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, &set))
			printf(" %d", cpu);
	puts("");
	return 0;
}

static void *tell_cpus_posix(void *who)
{
	tell_cpus(who);
	return NULL;
}

/* Threads that threads of the team make, after these were placed. */
static void heirs(void)
{
	char name[] = "heir of thread 0";
	pthread_t posix;
	thrd_t c11;

	work();
#pragma omp parallel private(posix) firstprivate(name)
#pragma omp critical
	{
		name[sizeof(name) - 2] = (char)('0' + omp_get_thread_num());
		if (pthread_create(&posix, NULL, tell_cpus_posix, name) == 0)
			pthread_join(posix, NULL);
	}
	if (thrd_create(&c11, tell_cpus, (char[]){"c11"}) == thrd_success)
		thrd_join(c11, NULL);
	work();
}

/* What OpenMP made of the user's variables. */
static void variables(void)
{
	omp_sched_t kind;
	int chunk, count = 0;

#pragma omp parallel
#pragma omp atomic
	count++;
	omp_get_schedule(&kind, &chunk);
	printf("team %d of %d, limit %d, levels %d, bind %d, places %d, schedule %x %d\n", count,
	       omp_get_max_threads(), omp_get_thread_limit(), omp_get_max_active_levels(),
	       (int)omp_get_proc_bind(), omp_get_num_places(), (unsigned int)kind, chunk);
}

#else
/* Calls that succeed, and do nothing that the program asked for with floating point. */
static void kept(void)
{
	int numbers = 0, flags = 0;

	work();
	for (int i = 0; i < REGIONS; i++) {
		feclearexcept(FE_ALL_EXCEPT);
		errno = ERROR;
#pragma omp parallel
		compute(4000);
		numbers += errno != ERROR;
		flags |= fetestexcept(FE_ALL_EXCEPT);
		errno = ERROR;
		MPI_Barrier(MPI_COMM_WORLD);
		numbers += errno != ERROR;
		flags |= fetestexcept(FE_ALL_EXCEPT);
	}
	printf("errno lost %d, flags %x\n", numbers, (unsigned int)flags);
}

/* Flags of before a region, and those that it raises in any thread. */
static void raised(void)
{
	work();
	for (int i = 0; i < REGIONS; i++) {
		feclearexcept(FE_ALL_EXCEPT);
		feraiseexcept(FE_UNDERFLOW);
#pragma omp parallel
		{
			compute(8000);
#pragma omp single
			feraiseexcept(FE_OVERFLOW);
		}
		printf("flags %x\n", (unsigned int)fetestexcept(FE_UNDERFLOW | FE_OVERFLOW));
		MPI_Barrier(MPI_COMM_WORLD);
	}
}

/* Whether threads round up and to the nearest, after the primary one has changed its rounding. */
static void rounding(void)
{
	work();
	fesetround(FE_UPWARD);
	for (int i = 0; i < REGIONS; i++) {
		int up = 0, nearest = 0;

#pragma omp parallel reduction(| : up, nearest)
		{
			up |= fegetround() == FE_UPWARD;
			nearest |= fegetround() == FE_TONEAREST;
			compute(8000);
		}
		printf("up %d, nearest %d\n", up, nearest);
		MPI_Barrier(MPI_COMM_WORLD);
	}
	fesetround(FE_TONEAREST);
}

#endif

static void names(void)
{
	char name[16] = "";

	prctl(PR_GET_NAME, name);
	printf("%s %s %s %s\n", name, program_invocation_name, program_invocation_short_name,
	       (const char *)getauxval(AT_EXECFN));
}

static const struct kind {
	const char *name;
	void (*run)(void);
} kinds[] = {
	{"names", names},
#ifdef CANCELS
	{"cancelled", cancelled},
#elif defined(PLACED)
	{"placed", placed},
	{"heirs", heirs},
	{"variables", variables},
#else
	{"kept", kept},
	{"raised", raised},
	{"rounding", rounding},
#endif
};

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (argc > 1 && strcmp(argv[1], kinds[i].name) == 0)
			kinds[i].run();
	printf("done\n");
	MPI_Finalize();
	return 0;
}
