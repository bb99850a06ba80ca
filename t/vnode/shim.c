/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * shim.c: preloaded library that shows a program the virtual cores as its CPUs: affinity calls move
 * threads between the cores' cgroups, and CPU time counts in virtual cores' time.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <time.h>
#include <unistd.h>

#include "table.h"

static struct vnode_table *table;
static __thread pid_t own_tid;

static long (*next_syscall)(long, ...);
static int (*next_pthread_create)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
static int (*next_clock_gettime)(clockid_t, struct timespec *);
static int (*next_getrusage)(int, struct rusage *);
static long (*next_sysconf)(int);

static void find_next(void)
{
	if (next_syscall)
		return;
	*(void **)&next_pthread_create = dlsym(RTLD_NEXT, "pthread_create");
	*(void **)&next_clock_gettime = dlsym(RTLD_NEXT, "clock_gettime");
	*(void **)&next_getrusage = dlsym(RTLD_NEXT, "getrusage");
	*(void **)&next_sysconf = dlsym(RTLD_NEXT, "sysconf");
	*(void **)&next_syscall = dlsym(RTLD_NEXT, "syscall");
}

static pid_t tid_of(pid_t tid)
{
	if (tid)
		return tid;
	if (!own_tid)
		own_tid = gettid();
	return own_tid;
}

static struct vnode_thread *entry_of(pid_t tid)
{
	tid = tid_of(tid);
	return table && tid > 0 && (uint32_t)tid < table->threads ? &table->thread[tid] : NULL;
}

static unsigned int threads_on(unsigned int core)
{
	FILE *file = fopen(table->tasks[core], "re");
	unsigned int lines = 0;
	int tid;

	while (file && fscanf(file, "%d", &tid) == 1)
		lines++;
	if (file)
		fclose(file);
	return lines;
}

/*
 * The core for a thread: its present one if in MASK, else the one of MASK with the fewest threads.
 */
static int choose_core(const struct vnode_thread *thread)
{
	unsigned int fewest = ~0u, weight = vnode_mask_weight(&thread->mask);
	int best = -1;

	if (thread->place && vnode_mask_has(&thread->mask, thread->place - 1))
		return (int)thread->place - 1;
	for (unsigned int core = 0; core < table->cores; core++) {
		unsigned int here;

		if (!vnode_mask_has(&thread->mask, core))
			continue;
		here = weight == 1 ? 0 : threads_on(core);
		if (here < fewest) {
			fewest = here;
			best = (int)core;
		}
	}
	if (weight > 1)
		atomic_store(&table->movable, 1);
	return best;
}

/* Move a thread to a core of its mask. */
static int place(pid_t tid, struct vnode_thread *thread)
{
	int core = choose_core(thread);
	uint64_t real[16] = {0};
	char text[32];
	ssize_t put;
	int fd;

	if (core < 0 || (uint32_t)core + 1 == thread->place)
		return core < 0 ? -1 : 0;
	real[table->real[core] / 64] |= 1ull << table->real[core] % 64;
	if (next_syscall(SYS_sched_setaffinity, tid, sizeof(real), real) < 0)
		return -1;
	fd = open(table->tasks[core], O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	put = write(fd, text, (size_t)snprintf(text, sizeof(text), "%d", tid));
	close(fd);
	if (put < 0)
		return -1;
	atomic_store(&thread->place, (uint32_t)core + 1);
	return 0;
}

static int set_affinity(pid_t tid, size_t size, const void *bytes)
{
	struct vnode_thread *thread = entry_of(tid);
	uint64_t word[VNODE_WORDS] = {0};
	uint64_t any = 0;

	if (!thread) {
		errno = ESRCH;
		return -1;
	}
	memcpy(word, bytes, size < sizeof(word) ? size : sizeof(word));
	for (unsigned int i = 0; i < VNODE_WORDS; i++) {
		unsigned int here = table->cores > i * 64 ? table->cores - i * 64 : 0;

		word[i] &= here >= 64 ? ~0ull : (1ull << here) - 1;
		any |= word[i];
	}
	if (!any) {
		errno = EINVAL;
		return -1;
	}
	for (unsigned int i = 0; i < VNODE_WORDS; i++)
		atomic_store(&thread->mask.word[i], word[i]);
	return place(tid_of(tid), thread);
}

/* Returns the number of bytes that the system call would write, or -1 with errno. */
static long get_affinity(pid_t tid, size_t size, void *bytes)
{
	struct vnode_thread *thread = entry_of(tid);
	uint64_t word[VNODE_WORDS];

	if (!thread || size * 8 < table->cores || size % sizeof(long)) {
		errno = thread ? EINVAL : ESRCH;
		return -1;
	}
	for (unsigned int i = 0; i < VNODE_WORDS; i++)
		word[i] = atomic_load(&thread->mask.word[i]);
	memset(bytes, 0, size);
	memcpy(bytes, word, size < sizeof(word) ? size : sizeof(word));
	return (long)(size < sizeof(word) ? size : sizeof(word));
}

int sched_setaffinity(pid_t tid, size_t size, const cpu_set_t *mask)
{
	find_next();
	return table ? set_affinity(tid, size, mask)
		     : (int)next_syscall(SYS_sched_setaffinity, tid, size, mask);
}

int sched_getaffinity(pid_t tid, size_t size, cpu_set_t *mask)
{
	long got;

	find_next();
	if (table)
		return get_affinity(tid, size, mask) < 0 ? -1 : 0;
	memset(mask, 0, size);
	got = next_syscall(SYS_sched_getaffinity, tid, size, mask);
	return got < 0 ? -1 : 0;
}

/* The kernel's id of a thread of this process (0: the caller), which its CPU-time clock encodes. */
static pid_t tid_of_pthread(pthread_t thread)
{
	clockid_t clock;

	if (pthread_equal(thread, pthread_self()))
		return 0;
	if (pthread_getcpuclockid(thread, &clock))
		return -1;
	return (pid_t) ~(clock >> 3);
}

int pthread_setaffinity_np(pthread_t thread, size_t size, const cpu_set_t *mask)
{
	pid_t tid = tid_of_pthread(thread);

	return tid < 0 ? ESRCH : sched_setaffinity(tid, size, mask) < 0 ? errno : 0;
}

int pthread_getaffinity_np(pthread_t thread, size_t size, cpu_set_t *mask)
{
	pid_t tid = tid_of_pthread(thread);

	return tid < 0 ? ESRCH : sched_getaffinity(tid, size, mask) < 0 ? errno : 0;
}

int sched_getcpu(void)
{
	struct vnode_thread *thread;
	unsigned int cpu = 0;

	find_next();
	thread = entry_of(0);
	if (thread && thread->place)
		return (int)thread->place - 1;
	next_syscall(SYS_getcpu, &cpu, NULL, NULL);
	return table ? 0 : (int)cpu;
}

long syscall(long number, ...)
{
	long a[6];
	va_list arguments;

	find_next();
	va_start(arguments, number);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(arguments, long);
	va_end(arguments);
	if (table && number == SYS_sched_setaffinity)
		return set_affinity((pid_t)a[0], (size_t)a[1], (const void *)a[2]);
	if (table && number == SYS_sched_getaffinity)
		return get_affinity((pid_t)a[0], (size_t)a[1], (void *)a[2]);
	if (table && number == SYS_getcpu && a[0]) {
		*(unsigned int *)a[0] = (unsigned int)sched_getcpu();
		if (a[1])
			*(unsigned int *)a[1] = 0;
		return 0;
	}
	return next_syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

long sysconf(int name)
{
	find_next();
	if (table && (name == _SC_NPROCESSORS_ONLN || name == _SC_NPROCESSORS_CONF))
		return table->cores;
	return next_sysconf(name);
}

int get_nprocs(void)
{
	return (int)sysconf(_SC_NPROCESSORS_ONLN);
}

int get_nprocs_conf(void)
{
	return (int)sysconf(_SC_NPROCESSORS_CONF);
}

static bool counts_cpu_time(clockid_t clock)
{
	return clock == CLOCK_THREAD_CPUTIME_ID || clock == CLOCK_PROCESS_CPUTIME_ID || clock < 0;
}

int clock_gettime(clockid_t clock, struct timespec *time)
{
	int result;

	find_next();
	result = next_clock_gettime(clock, time);
	if (result == 0 && table && counts_cpu_time(clock)) {
		double ns = ((double)time->tv_sec * 1e9 + (double)time->tv_nsec) *
			    table->cpu_time_scale;

		time->tv_sec = (time_t)(ns / 1e9);
		time->tv_nsec = (long)(ns - (double)time->tv_sec * 1e9);
	}
	return result;
}

static void stretch(struct timeval *time)
{
	double us = ((double)time->tv_sec * 1e6 + (double)time->tv_usec) * table->cpu_time_scale;

	time->tv_sec = (time_t)(us / 1e6);
	time->tv_usec = (suseconds_t)(us - (double)time->tv_sec * 1e6);
}

int getrusage(__rusage_who_t who, struct rusage *usage)
{
	int result;

	find_next();
	result = next_getrusage((int)who, usage);
	if (result == 0 && table) {
		stretch(&usage->ru_utime);
		stretch(&usage->ru_stime);
	}
	return result;
}

/* ---- inheritance ---- */

static void inherit(struct vnode_thread *thread, const struct vnode_thread *parent)
{
	for (unsigned int i = 0; i < VNODE_WORDS; i++)
		atomic_store(&thread->mask.word[i], atomic_load(&parent->mask.word[i]));
	atomic_store(&thread->place, atomic_load(&parent->place));
	atomic_store(&thread->started, atomic_load(&parent->started));
}

struct start {
	void *(*run)(void *);
	void *argument;
	struct vnode_thread parent;
};

/* A new thread starts on its parent's core; if it may use several, on an emptier one. */
static void *start_thread(void *data)
{
	struct start start = *(struct start *)data;
	struct vnode_thread *thread = entry_of(0);

	free(data);
	if (thread) {
		inherit(thread, &start.parent);
		if (start.parent.place) {
			atomic_store(&thread->place, 0);
			place(tid_of(0), thread);
		}
	}
	return start.run(start.argument);
}

int pthread_create(pthread_t *new, const pthread_attr_t *attributes, void *(*run)(void *),
		   void *argument)
{
	struct vnode_thread *parent;
	struct start *start;
	int failed;

	find_next();
	parent = entry_of(0);
	start = parent ? malloc(sizeof(*start)) : NULL;
	if (!start)
		return next_pthread_create(new, attributes, run, argument);
	start->run = run;
	start->argument = argument;
	inherit(&start->parent, parent);
	failed = next_pthread_create(new, attributes, start_thread, start);
	if (failed)
		free(start);
	return failed;
}

/* When process PID started, in the kernel's ticks; 0: unknown. */
static uint64_t start_of(pid_t pid)
{
	char path[64], text[1024], *at;
	unsigned long long started = 0;
	ssize_t got;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	got = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (got <= 0)
		return 0;
	text[got] = 0;
	at = strrchr(text, ')');
	for (int field = 2; at && field < 22; field++)
		at = strchr(at + 1, ' ');
	if (at)
		sscanf(at, "%llu", &started);
	return started;
}

static void after_fork(void)
{
	struct vnode_thread *parent = table && own_tid ? &table->thread[own_tid] : NULL;
	struct vnode_thread *thread;

	own_tid = 0;
	thread = entry_of(0);
	if (!thread || !parent)
		return;
	inherit(thread, parent);
	atomic_store(&thread->started, start_of(getpid()));
}

static long rank_on_node(void)
{
	static const char *const names[] = {"OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID",
					    "SLURM_LOCALID", "PMI_LOCAL_RANK"};

	for (unsigned int i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (getenv(names[i]))
			return atol(getenv(names[i]));
	return -1;
}

static void map_table(void)
{
	const char *path = getenv(VNODE_TABLE_ENV);
	int fd = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
	struct stat status;
	void *mapped;

	if (fd < 0 || fstat(fd, &status) < 0)
		return;
	mapped = mmap(NULL, (size_t)status.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (mapped != MAP_FAILED)
		table = mapped;
}

/*
 * Place a starting process: where it was before exec, where its parent is or, if it is a rank, on
 * the rank's cores.
 */
static void settle(void)
{
	const char *text = getenv(VNODE_PER_RANK_ENV);
	unsigned int per_rank = text ? (unsigned int)atoi(text) : 0;
	long rank = rank_on_node();
	struct vnode_thread *thread = entry_of(0), *parent = entry_of(getppid());
	uint64_t started = start_of(getpid());

	if (!thread)
		return;
	if (thread->started != started || !started) {
		if (parent && parent->started)
			inherit(thread, parent);
		else
			memset(thread, 0, sizeof(*thread));
		atomic_store(&thread->started, started);
	}
	if (thread->place)
		return;
	for (unsigned int i = 0; i < VNODE_WORDS; i++)
		atomic_store(&thread->mask.word[i], 0);
	for (unsigned int core = 0; core < table->cores; core++)
		if (!per_rank || rank < 0 ||
		    (long)(core / per_rank) == rank % (long)(table->cores / per_rank))
			atomic_fetch_or(&thread->mask.word[core / 64], 1ull << core % 64);
	/* A launcher stays on the real CPUs: on a real node it would sleep. */
	if (rank >= 0 || !per_rank)
		place(tid_of(0), thread);
}

__attribute__((constructor(101))) static void begin(void)
{
	find_next();
	map_table();
	if (!table)
		return;
	pthread_atfork(NULL, NULL, after_fork);
	settle();
}
