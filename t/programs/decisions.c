/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * decisions.c: programs whose load is easily misjudged: decisions KIND [FILE]. Where not said
 * otherwise rank 0 computes three times as long as rank 1, and both meet in MPI_Barrier. With FILE
 * it goes on until that exists, without it for some phases.
 *
 * tasks, taskloop, sections: threads compute while they wait in a barrier
 * unseen: other threads than OpenMP's compute while the primary one waits in MPI
 * stopped: rank 0 is stopped for 1.5 s, and does not compute
 * recv: rank 1 waits for rank 0 in MPI_Recv
 * thread: the same, and all of it but MPI_Init is in another thread than the first
 * threads: and each phase is in a thread of its own
 * tested: rank 1 waits in a loop of MPI_Test
 * gaps: the same in a loop that computes for 30 us now and then
 * slept: the same in a loop that sleeps between tests
 * left: rank 1 leaves such a loop after 10 ms and computes, for a minute at most, until no thread
 *   of rank 0 is on its CPU; prints how often there still was one
 * passed: the same in a loop in which MPI_Wait returns at once, too
 * busy: rank 1 computes for 10 us between two tests
 * pieces: rank 1 computes between two tests for eight times as long as the shortest one took
 * jump: before, an error handler leaves an MPI call by longjmp()
 * yields: prints how often rank 1 really called sched_yield() while it waited
 * test-yields: the same in a thousand calls of MPI_Test
 * home: prints how many threads of rank 0 are left on CPUs of others after it has met rank 1
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <mpi.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "compute.h"

#define PHASES 30
#define STACK_SIZE (1u << 20)

static int rank, other_pid, shared, away;
static cpu_set_t at_first; /* the CPUs that we started with */
/*
 * Of the primary thread, known by its stack: a program that asks which thread it is keeps its team.
 */
static long yields, yields_in_waits;
static uintptr_t stack;

/* Replaces the C library's syscall(), by which the balancing library calls sched_yield. */
long syscall(long number, ...)
{
	register long a3 __asm__("r10"), a4 __asm__("r8"), a5 __asm__("r9");
	long a0, a1, a2, result;
	va_list list;

	va_start(list, number);
	a0 = va_arg(list, long);
	a1 = va_arg(list, long);
	a2 = va_arg(list, long);
	a3 = va_arg(list, long);
	a4 = va_arg(list, long);
	a5 = va_arg(list, long);
	va_end(list);
	yields += number == SYS_sched_yield &&
		  stack - (uintptr_t)__builtin_frame_address(0) < STACK_SIZE;
	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(number), "D"(a0), "S"(a1), "d"(a2), "r"(a3), "r"(a4), "r"(a5)
			 : "rcx", "r11", "memory");
	if (result >= 0 || result < -4095)
		return result;
	errno = (int)-result;
	return -1;
}

static void compute_pieces(int pieces)
{
#pragma omp parallel for schedule(dynamic)
	for (int i = 0; i < pieces; i++)
		compute_for(1e-3);
}

static void meet(void)
{
	MPI_Barrier(MPI_COMM_WORLD);
}

static void tasks(void)
{
#pragma omp parallel
#pragma omp single
	for (int i = 0; i < (rank ? 4 : 12); i++) {
#pragma omp task
		compute_for(1e-3);
	}
	meet();
}

static void taskloop(void)
{
	unsigned int count = rank ? 4 : 12;

#pragma omp parallel
#pragma omp single
#pragma omp taskloop grainsize(1)
	for (unsigned int i = 0; i < count; i++)
		compute_for(1e-3);
	meet();
}

static void sections(void)
{
	double each = rank ? 2e-3 : 6e-3;

#pragma omp parallel sections
	{
#pragma omp section
		compute_for(each);
#pragma omp section
		compute_for(each);
	}
	meet();
}

#define UNSEEN 4

/* The primary thread waits for this one. */
static void *work_unseen(void *nothing)
{
	int value = 0;

	compute_for(rank ? 4e-3 : 12e-3);
	MPI_Send(&value, 1, MPI_INT, rank, 0, MPI_COMM_WORLD);
	return nothing;
}

static void unseen(void)
{
	pthread_t threads[UNSEEN];
	int value;

	compute_pieces(1);
	for (int i = 0; i < UNSEEN; i++)
		pthread_create(&threads[i], NULL, work_unseen, NULL);
	for (int i = 0; i < UNSEEN; i++)
		MPI_Recv(&value, 1, MPI_INT, rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	for (int i = 0; i < UNSEEN; i++)
		pthread_join(threads[i], NULL);
	meet();
}

static void stopped(void)
{
	static int phase;
	pid_t self = getpid();

	compute_pieces(rank ? 4 : 12);
	if (rank == 0 && phase++ == PHASES / 2) {
		if (fork() == 0) {
			usleep(1500000);
			kill(self, SIGCONT);
			_exit(0);
		}
		raise(SIGSTOP);
	}
	meet();
}

/* Rank 1 waits in WAIT for a message that rank 0 sends after computing. */
static void receive(void (*wait)(MPI_Request *))
{
	MPI_Request request;
	int value = 0;

	compute_pieces(4);
	if (rank == 0) {
		compute_pieces(60);
		MPI_Send(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
	} else {
		MPI_Irecv(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, &request);
		wait(&request);
	}
}

static void wait_blocking(MPI_Request *request)
{
	MPI_Wait(request, MPI_STATUS_IGNORE);
}

static int is_done(MPI_Request *request)
{
	int done;

	MPI_Test(request, &done, MPI_STATUS_IGNORE);
	return done;
}

static void test_only(MPI_Request *request)
{
	while (!is_done(request))
		;
}

static void test_gaps(MPI_Request *request)
{
	for (int i = 0; !is_done(request); i++)
		if (i % 1000 == 0)
			compute_for(30e-6);
}

static void test_and_wait(MPI_Request *request)
{
	MPI_Request none = MPI_REQUEST_NULL;

	while (!is_done(request))
		MPI_Wait(&none, MPI_STATUS_IGNORE);
}

static void test_sleeping(MPI_Request *request)
{
	while (!is_done(request))
		usleep(20);
}

static void test_busy(MPI_Request *request)
{
	while (!is_done(request))
		compute_for(10e-6);
}

/* Real time, read without a system call. */
static long clock_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000 + now.tv_nsec;
}

/* The ratio is the same on each processor, whatever a test takes on it. */
static void test_pieces(MPI_Request *request)
{
	long shortest = LONG_MAX, begin, end;
	int done;

	do {
		begin = clock_ns();
		done = is_done(request);
		end = clock_ns();
		if (end - begin < shortest)
			shortest = end - begin;
		while (clock_ns() - end < 8 * shortest)
			;
	} while (!done);
}

/* The number of threads of process PID that may use CPUs of MASK only; NULL: any. */
static int threads_on(int pid, const cpu_set_t *mask)
{
	char path[64];
	struct dirent *entry;
	DIR *threads;
	int count = 0;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	threads = opendir(path);
	while (threads && (entry = readdir(threads))) {
		cpu_set_t own, both;

		CPU_ZERO(&own);
		if (atoi(entry->d_name) <= 0 ||
		    syscall(SYS_sched_getaffinity, atoi(entry->d_name), sizeof(own), &own) < 0)
			continue;
		if (mask)
			CPU_AND(&both, &own, mask);
		count += !mask || CPU_EQUAL(&both, &own);
	}
	if (threads)
		closedir(threads);
	return count;
}

static void test_and_leave(MPI_Request *request)
{
	double begin = MPI_Wtime();
	cpu_set_t here;

	while (MPI_Wtime() - begin < 10e-3)
		is_done(request);
	CPU_ZERO(&here);
	CPU_SET(sched_getcpu(), &here);
	begin = MPI_Wtime();
	do
		compute_for(5e-3);
	while (threads_on(other_pid, &here) && MPI_Wtime() - begin < 60);
	shared += threads_on(other_pid, &here) > 0;
	MPI_Wait(request, MPI_STATUS_IGNORE);
}

static void left(void)
{
	int pid = getpid(), pids[2];

	MPI_Allgather(&pid, 1, MPI_INT, pids, 1, MPI_INT, MPI_COMM_WORLD);
	other_pid = pids[!rank];
	receive(test_and_leave);
}

static jmp_buf back;

static void leave_by_jump(MPI_Comm *comm, int *code, ...)
{
	(void)comm;
	(void)code;
	longjmp(back, 1);
}

static void jump(void)
{
	static MPI_Errhandler handler;
	int value = 0;

	if (!handler) {
		MPI_Comm_create_errhandler(leave_by_jump, &handler);
		MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
	}
	if (setjmp(back) == 0)
		MPI_Send(&value, 1, MPI_INT, 12345, 0, MPI_COMM_WORLD);
	compute_pieces(rank ? 4 : 12);
	meet();
}

static void count_yields(void)
{
	compute_pieces(rank ? 1 : 10);
	yields = 0;
	meet();
	yields_in_waits += yields;
}

static void home(void)
{
	compute_pieces(rank ? 4 : 60);
	meet();
	if (rank == 0)
		away += threads_on(getpid(), NULL) - threads_on(getpid(), &at_first);
}

/* The message comes long afterwards. */
static void test_yields(void)
{
	MPI_Request request;
	int value = 0;

	meet();
	MPI_Irecv(&value, 1, MPI_INT, !rank, 7, MPI_COMM_WORLD, &request);
	yields = 0;
	for (int i = 0; i < 1000; i++)
		is_done(&request);
	yields_in_waits += yields;
	meet();
	MPI_Send(&value, 1, MPI_INT, !rank, 7, MPI_COMM_WORLD);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static const struct {
	const char *name;
	void (*run)(void);
	void (*wait)(MPI_Request *);
	unsigned int times; /* so many times the phases, for what is asked of windows; 0: once */
} kinds[] = {{"tasks", tasks, NULL, 3},
	     {"taskloop", taskloop, NULL, 3},
	     {"sections", sections, NULL, 3},
	     {"unseen", unseen, NULL, 0},
	     {"stopped", stopped, NULL, 0},
	     {"recv", NULL, wait_blocking, 0},
	     {"thread", NULL, wait_blocking, 0},
	     {"threads", NULL, wait_blocking, 0},
	     {"tested", NULL, test_only, 0},
	     {"gaps", NULL, test_gaps, 0},
	     {"slept", NULL, test_sleeping, 0},
	     {"passed", NULL, test_and_wait, 0},
	     {"busy", NULL, test_busy, 0},
	     {"pieces", NULL, test_pieces, 0},
	     {"left", left, NULL, 0},
	     {"jump", jump, NULL, 0},
	     {"yields", count_yields, NULL, 0},
	     {"test-yields", test_yields, NULL, 0},
	     {"home", home, NULL, 0}};

#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

static size_t kind;
static const char *file; /* NULL: for some phases */

static void *run(void *nothing)
{
	if (kinds[kind].wait)
		receive(kinds[kind].wait);
	else
		kinds[kind].run();
	return nothing;
}

/* Whether the file is still missing, as rank 0 sees it. */
static int goes_on(void)
{
	int on = access(file, F_OK) != 0;

	MPI_Bcast(&on, 1, MPI_INT, 0, MPI_COMM_WORLD);
	return on;
}

static void in_thread(void *(*function)(void *))
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, function, NULL))
		_exit(2);
	pthread_join(thread, NULL);
}

static bool is_kind(const char *name)
{
	return strcmp(kinds[kind].name, name) == 0;
}

static void *run_all(void *nothing)
{
	unsigned int phases = PHASES * (kinds[kind].times ? kinds[kind].times : 1);

	for (unsigned int i = 0; file ? goes_on() : i < phases; i++) {
		if (is_kind("threads"))
			in_thread(run);
		else
			run(NULL);
	}
	return nothing;
}

/* How many threads call MPI. */
static int level_of_kind(void)
{
	if (is_kind("unseen"))
		return MPI_THREAD_MULTIPLE;
	return is_kind("thread") || is_kind("threads") ? MPI_THREAD_SERIALIZED
						       : MPI_THREAD_FUNNELED;
}

static void tell(void)
{
	if (rank == 1 && kinds[kind].run == left)
		printf("shared %d\n", shared);
	if (rank == 1 && (kinds[kind].run == count_yields || kinds[kind].run == test_yields))
		printf("yields %ld\n", yields_in_waits);
	if (rank == 0 && kinds[kind].run == home)
		printf("away %d\n", away);
	if (rank == 0)
		puts("done");
}

int main(int argc, char **argv)
{
	int level;

	stack = (uintptr_t)__builtin_frame_address(0);
	CPU_ZERO(&at_first);
	syscall(SYS_sched_getaffinity, 0, sizeof(at_first), &at_first);
	while (argc > 1 && kind < KINDS && strcmp(argv[1], kinds[kind].name) != 0)
		kind++;
	if (argc < 2 || kind == KINDS)
		return 2;
	file = argc > 2 ? argv[2] : NULL;
	MPI_Init_thread(&argc, &argv, level_of_kind(), &level);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	if (is_kind("thread"))
		in_thread(run_all);
	else
		run_all(NULL);
	meet();
	MPI_Finalize();
	tell();
	return 0;
}
