/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * selftest.c: check that the virtual node is true in time: two ranks with work 3:1 on 8 cores must
 * take what theory says.
 *
 * Also: cores of different real CPUs have their turns together, and a thread that yields on its own
 * core goes on at once, as on a real node.
 *
 * Run by vnode --cores=8. Each rank is a process with one thread per core; threads take pieces of
 * the rank's work from a counter. Expected in units of the light rank's work W, which one thread
 * measures first: 4+4 cores 3W/4, 6+2 cores W/2.
 */
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PIECES 240
#define ALLOWED 0.05
#define EXCHANGES 20000
/* Half a turn: on cores that do not run together an exchange takes at least one. */
#define TOGETHER_US 250
#define YIELD_S 1.0

static long units = 4000000; /* of arithmetic per piece */

struct rank {
	_Atomic int left;
	unsigned int first, count;
	bool bind; /* bind each thread to one core, or all to all cores of the rank */
	_Atomic unsigned int next;
};

static void work(long count)
{
	double value = 1;

	for (long i = 0; i < count; i++) {
		value = value * 0.999999 + 1e-6;
		__asm__ volatile(""
				 : "+x"(value)); /* or the compiler finds that it need not loop */
	}
}

static double read_clock(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static double now(void)
{
	return read_clock(CLOCK_MONOTONIC);
}

static double cpu_time(void)
{
	return read_clock(CLOCK_PROCESS_CPUTIME_ID);
}

static void bind_to(unsigned int first, unsigned int count)
{
	cpu_set_t mask;

	CPU_ZERO(&mask);
	for (unsigned int i = 0; i < count; i++)
		CPU_SET(first + i, &mask);
	if (sched_setaffinity(0, sizeof(mask), &mask) < 0)
		perror("selftest: cannot bind");
}

static void *thread(void *data)
{
	struct rank *rank = data;

	if (rank->bind)
		bind_to(rank->first + atomic_fetch_add(&rank->next, 1), 1);
	while (atomic_fetch_sub(&rank->left, 1) > 0)
		work(units);
	return NULL;
}

static void run_rank(struct rank *rank)
{
	pthread_t threads[64];

	bind_to(rank->first, rank->count);
	for (unsigned int i = 0; i < rank->count; i++)
		pthread_create(&threads[i], NULL, thread, rank);
	for (unsigned int i = 0; i < rank->count; i++)
		pthread_join(threads[i], NULL);
}

/* Seconds until the last rank is done. */
static double run(unsigned int heavy_cores, unsigned int light_cores, bool bind)
{
	struct rank ranks[2] = {{3 * PIECES, 0, heavy_cores, bind, 0},
				{PIECES, heavy_cores, light_cores, bind, 0}};
	double begin = now();

	for (int i = 0; i < 2; i++) {
		if (fork() == 0) {
			run_rank(&ranks[i]);
			_exit(0);
		}
	}
	while (wait(NULL) > 0)
		;
	return now() - begin;
}

static double single(void)
{
	struct rank rank = {PIECES / 2, 0, 1, true, 0};
	double begin = now();

	run_rank(&rank);
	return (now() - begin) * 2;
}

static int check(const char *what, double time, double theory)
{
	double off = time / theory - 1;
	bool good = fabs(off) <= ALLOWED;

	printf("%s %s: %.3f s, theory %.3f s, %+.1f %%\n", good ? "ok" : "not ok", what, time,
	       theory, off * 100);
	fflush(stdout);
	return good ? 0 : 1;
}

static _Atomic int ball;

static void *play(void *data)
{
	int me = *(const int *)data;

	bind_to((unsigned int)me, 1);
	for (int i = 0; i < EXCHANGES; i++) {
		/* A core whose thread slept keeps its turns. */
		if (me && i % 1000 == 0)
			nanosleep(&(struct timespec){0, 700000}, NULL);
		while (atomic_load(&ball) % 2 != me)
			;
		atomic_fetch_add(&ball, 1);
	}
	return NULL;
}

/*
 * Two threads on cores 0 and 1, which are on different real CPUs, answer each other. Where these
 * cores have their turns one after the other an exchange takes a turn or more.
 */
static int check_together(void)
{
	static const int players[] = {0, 1};
	pthread_t threads[2];
	double begin = now(), each_us;
	bool good;

	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, play, (void *)&players[i]);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	each_us = (now() - begin) / EXCHANGES * 1e6;
	good = each_us < TOGETHER_US;
	printf("%s two cores run together: an exchange takes %.1f us\n", good ? "ok" : "not ok",
	       each_us);
	return good ? 0 : 1;
}

/* A thread that yields all the time has its core all the same: nobody else is there. */
static int check_yield(void)
{
	double begin = now(), used;
	bool good;

	bind_to(0, 1);
	used = -cpu_time();
	while (now() - begin < YIELD_S)
		sched_yield();
	used = (used + cpu_time()) / (now() - begin);
	good = used > 1 - 2 * ALLOWED;
	printf("%s a thread that yields has %.2f of its core\n", good ? "ok" : "not ok", used);
	return good ? 0 : 1;
}

int main(int argc, char **argv)
{
	double light, even, moved;
	int failed = check_together() + check_yield();

	if (argc > 1)
		units = atol(argv[1]);
	light = single();
	printf("work of the light rank: %.3f s on one core\n", light);
	for (int bind = 1; bind >= 0; bind--) {
		const char *how =
			bind ? "bound threads" : "threads that may use all cores of their rank";

		printf("%s\n", how);
		even = run(4, 4, bind);
		moved = run(6, 2, bind);
		failed += check("4+4 cores", even, light * 3 / 4);
		failed += check("6+2 cores", moved, light / 2);
		failed += check("6+2 against 4+4", moved / even, 2.0 / 3);
	}
	return failed ? 1 : 0;
}
