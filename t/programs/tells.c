/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tells.c: what a program sees of its threads, CPUs and children: tells KIND. Two runs, with and
 * without balancing, print the same lines. Rank 0 computes longer than the others. Built with PLAIN
 * it refers to nothing that would keep its teams from being widened, with DISPLAY to what OpenMP
 * writes of its threads.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <mpi.h>
#include <omp.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "compute.h"

#define REGIONS 40
#define TEXT 200
#define THREADS 64

static int rank;
#ifndef PLAIN
static char lines[THREADS][2 * TEXT];
#endif

/* Regions that can be widened. In the last of them one thread calls INSIDE. */
static void work(void (*inside)(void))
{
	for (int i = 0; i < REGIONS; i++) {
#pragma omp parallel
		{
			compute(rank, 0.008);
#pragma omp barrier
#pragma omp single
			if (inside && i > REGIONS - 4)
				inside();
		}
		MPI_Barrier(MPI_COMM_WORLD);
	}
}

#ifndef DISPLAY
static const char *text_of(const cpu_set_t *set, char *text)
{
	int used = 0;

	text[0] = '\0';
	for (int cpu = 0; cpu < CPU_SETSIZE && used < TEXT - 8; cpu++)
		if (CPU_ISSET(cpu, set))
			used += sprintf(text + used, "%d,", cpu);
	return text;
}

static const char *by_pthread(pthread_t thread, char *text)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	pthread_getaffinity_np(thread, sizeof(set), &set);
	return text_of(&set, text);
}
#endif

#ifdef DISPLAY
/* What OpenMP itself writes of its threads. It would show the number of a widened team. */
static void look(void)
{
	char text[TEXT];
	int count = 0;

	omp_set_affinity_format("level %L thread %n of %N on %A");
#pragma omp parallel
	{
		omp_capture_affinity(lines[omp_get_thread_num()], TEXT, NULL);
#pragma omp single
		count = omp_get_num_threads();
	}
	for (int i = 0; i < count; i++)
		puts(lines[i]);
	omp_capture_affinity(text, sizeof(text), "%{thread_num} %.6A %{nesting_level}");
	puts(text);
	omp_display_affinity("shown %n %N %A");
}

static void display(void)
{
	look();
	work(NULL);
	look();
}
#elif defined(PLAIN)
/* From within regions, by each way. */
static void start_children(void)
{
	char *arguments[] = {"sh", "-c", "echo forked $(nproc)", NULL};
	char text[TEXT];
	FILE *pipe;
	pid_t child;

	fflush(stdout);
	if (system("echo system $(nproc)"))
		puts("no child");
	pipe = popen("echo popen $(nproc)", "r");
	if (pipe && fgets(text, sizeof(text), pipe))
		printf("%s", text);
	if (pipe)
		pclose(pipe);
	fflush(stdout);
	child = fork();
	if (child == 0) {
		execv("/bin/sh", arguments);
		_exit(1);
	}
	waitpid(child, NULL, 0);
}

static void children(void)
{
	work(start_children);
	start_children();
}

/* A thread that a region starts, and that outlives it. */
static _Atomic int goes_on = 1;
static pthread_t lasting[REGIONS];
static int lasting_count;

static void *last_on(void *nothing)
{
	while (goes_on)
		usleep(1000);
	return nothing;
}

static void start_thread(void)
{
	if (pthread_create(&lasting[lasting_count], NULL, last_on, NULL) == 0)
		lasting_count++;
}

static void threads(void)
{
	char text[TEXT];

	work(start_thread);
	for (int i = 0; i < lasting_count; i++)
		printf("lasting %s\n", by_pthread(lasting[i], text));
	/* Where a rank has one CPU, no thread may run on another's. */
	fflush(stdout);
	snprintf(text, sizeof(text),
		 "cat /proc/%d/task/*/status | grep -c Cpus_allowed_list:.*[,-] | sed s/^/wide:/",
		 getpid());
	if (system(text))
		puts("none is wide");
	goes_on = 0;
	for (int i = 0; i < lasting_count; i++)
		pthread_join(lasting[i], NULL);
}

/* What the system says of the process. */
static void process(void)
{
	struct rlimit limit;
	struct rusage usage;
	char text[TEXT];
	FILE *status;

	work(NULL);
	for (int i = 0; i < RLIM_NLIMITS; i++)
		if (getrlimit((__rlimit_resource_t)i, &limit) == 0)
			printf("limit %d %ld\n", i, (long)limit.rlim_cur);
	getrusage(RUSAGE_CHILDREN, &usage);
	printf("children %ld %d\n", (long)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec),
	       waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD);
	status = fopen("/proc/self/status", "r");
	while (status && fgets(text, sizeof(text), status))
		if (strncmp(text, "Sig", 3) == 0 && strncmp(text, "SigQ", 4) != 0)
			printf("%s", text);
	if (status)
		fclose(status);
	printf("online %ld\n", sysconf(_SC_NPROCESSORS_ONLN));
}

/* Signals on a small stack, in waits and in regions, out of which a handler jumps. */
static volatile sig_atomic_t hits, jumps, may_jump;
static sigjmp_buf back;

static void on_alarm(int number)
{
	cpu_set_t set;

	(void)number;
	hits++;
	sched_getaffinity(0, sizeof(set), &set);
	if (may_jump && hits % 5 == 0) {
		may_jump = 0;
		jumps++;
		siglongjmp(back, 1);
	}
}

static void nap(void)
{
	const struct timespec pause = {0, 5000000};

	if (sigsetjmp(back, 1))
		return;
	may_jump = 1;
	while (may_jump)
		nanosleep(&pause, NULL);
}

static _Atomic int handled;

static void count(int number)
{
	(void)number;
	handled++;
}

static void *print_mask(void *nothing)
{
	FILE *status = fopen("/proc/thread-self/status", "r");
	char text[TEXT];

	while (status && fgets(text, sizeof(text), status))
		if (strncmp(text, "SigBlk", 6) == 0)
			printf("thread %s", text);
	if (status)
		fclose(status);
	return nothing;
}

/* From within a region. */
static void hand_on_mask(void)
{
	pthread_t thread;
	pid_t child;

	fflush(stdout);
	if (system("grep SigBlk /proc/self/status"))
		puts("no child");
	child = fork();
	if (child == 0) {
		execl("/bin/grep", "grep", "SigBlk", "/proc/self/status", NULL);
		_exit(1);
	}
	waitpid(child, NULL, 0);
	if (pthread_create(&thread, NULL, print_mask, NULL) == 0)
		pthread_join(thread, NULL);
	raise(SIGUSR1);
	raise(SIGUSR2);
}

/* A blocked signal comes when the program asks for it. main() has let MPI's threads block it. */
static void blocked(void)
{
	const struct timespec none = {0, 0};
	sigset_t set;

	signal(SIGUSR1, count);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	work(NULL);
	sigprocmask(SIG_BLOCK, &set, NULL);
	kill(getpid(), SIGUSR2);
	printf("came %d\n", sigtimedwait(&set, NULL, &none));
	work(hand_on_mask);
	printf("came %d\n", sigtimedwait(&set, NULL, &none));
	printf("handled %d\n", handled);
}

static void alarms(void)
{
	static char stack[16384];
	const stack_t small = {.ss_sp = stack, .ss_size = sizeof(stack)};
	struct sigaction action = {.sa_handler = on_alarm, .sa_flags = SA_ONSTACK | SA_RESTART};
	struct itimerval timer = {{0, 3000}, {0, 3000}};
	long sum = 0;

	sigaltstack(&small, NULL);
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &timer, NULL);
	for (int i = 0; i < REGIONS; i++) {
#pragma omp parallel for reduction(+ : sum)
		for (int k = 0; k < 100; k++) {
			sum += k;
			compute(rank, 0.0001);
		}
		if (rank)
			nap();
		MPI_Barrier(MPI_COMM_WORLD);
	}
	timer = (struct itimerval){{0, 0}, {0, 0}};
	setitimer(ITIMER_REAL, &timer, NULL);
	printf("sum %ld jumps %d\n", sum, (int)jumps);
}

#else
static const char *by_sched(char *text)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	sched_getaffinity(0, sizeof(set), &set);
	return text_of(&set, text);
}

/* The CPUs of each thread, by each way of asking for one's own. */
static void look(const char *when)
{
	char text[TEXT];
	int count = 0;

#pragma omp parallel
	{
		char sched[TEXT], own[TEXT];
		int me = omp_get_thread_num();

		snprintf(lines[me], sizeof(lines[me]), "%.99s %.99s place %d", by_sched(sched),
			 by_pthread(pthread_self(), own), omp_get_place_num());
#pragma omp single
		count = omp_get_num_threads();
	}
	for (int i = 0; i < count; i++)
		printf("%s thread %d: %s\n", when, i, lines[i]);
	printf("%s: %s\n", when, by_sched(text));
}

/* Those of the primary thread, as others are told, where the user binds nothing. */
static void others(void)
{
	pthread_t primary = pthread_self();

	work(NULL);
#pragma omp parallel
	{
		char other[TEXT];

		snprintf(lines[omp_get_thread_num()], TEXT, "%.99s", by_pthread(primary, other));
	}
	for (int i = 0; i < omp_get_max_threads(); i++)
		puts(lines[i]);
}

static void places(void)
{
	look("first");
	work(NULL);
	look("later");
	fflush(stdout);
	if (system("echo child $(nproc)"))
		puts("no child");
}

/* The program binds its primary thread itself, before OpenMP has started. */
static void pinned(void)
{
	cpu_set_t set, last;

	CPU_ZERO(&set);
	CPU_ZERO(&last);
	sched_getaffinity(0, sizeof(set), &set);
	for (int cpu = CPU_SETSIZE; cpu-- && !CPU_COUNT(&last);)
		if (CPU_ISSET(cpu, &set))
			CPU_SET(cpu, &last);
	sched_setaffinity(0, sizeof(last), &last);
	places();
	printf("max %d\n", omp_get_max_threads());
}

/* Settings where they are seldom made: in regions, by several threads, at several levels. */
static void nested(void)
{
	long sum = 0;

	omp_set_max_active_levels(3);
	for (int i = 0; i < REGIONS; i++) {
		int size = 1 + i % 3;

		omp_set_num_threads(size);
#pragma omp parallel reduction(+ : sum)
		{
			int inner = 0;

			sum += omp_get_num_threads() * 100;
			omp_set_num_threads(2);
#pragma omp parallel reduction(+ : inner)
			inner += omp_get_team_size(1) * 10 + omp_get_ancestor_thread_num(1);
			sum += inner;
			omp_set_num_threads(5);
		}
		MPI_Barrier(MPI_COMM_WORLD);
		sum += omp_get_max_threads() != size;
	}
	printf("sum %ld\n", sum);
}
#endif

static const struct kind {
	const char *name;
	void (*run)(void);
} kinds[] = {
#ifdef DISPLAY
	{"display", display},
#elif defined(PLAIN)
	{"children", children}, {"threads", threads}, {"process", process},
	{"alarms", alarms},	{"blocked", blocked},
#else
	{"places", places},
	{"others", others},
	{"pinned", pinned},
	{"nested", nested},
#endif
};

int main(int argc, char **argv)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	sigprocmask(SIG_BLOCK, &set, NULL);
	MPI_Init(&argc, &argv);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (argc > 1 && strcmp(argv[1], kinds[i].name) == 0)
			kinds[i].run();
	printf("done\n");
	MPI_Finalize();
	return 0;
}
