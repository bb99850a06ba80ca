/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * shim.c: preloaded library that shows a program the node's cores as its CPUs: affinity calls move
 * threads between them, work counts as CPU time, and threads that work look as if they ran.
 */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
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

#include "cores.h"
#include "run.h"
#include "table.h"
#include "work.h"

/* What replaces a function of libc. */
#define SHOWN __attribute__((visibility("default")))

static struct node_table *table;
static __thread pid_t own_tid;
/* Works that are put together until they are so long. */
#define SHORT_NS 100000u
static __thread uint64_t together;
/* So many polls in a row are as fast as they are, further ones take a nap. */
#define POLLS 256
#define POLL_NS 50000
static __thread unsigned int polls;
static __thread long sleeps; /* in works */

static long (*next_syscall)(long, ...);
static int (*next_pthread_create)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
static int (*next_clock_gettime)(clockid_t, struct timespec *);
static int (*next_getrusage)(int, struct rusage *);
static long (*next_sysconf)(int);
static int (*next_clock_nanosleep)(clockid_t, int, const struct timespec *, struct timespec *);

static void find_next(void)
{
	if (next_syscall)
		return;
	*(void **)&next_pthread_create = dlsym(RTLD_NEXT, "pthread_create");
	*(void **)&next_clock_gettime = dlsym(RTLD_NEXT, "clock_gettime");
	*(void **)&next_getrusage = dlsym(RTLD_NEXT, "getrusage");
	*(void **)&next_sysconf = dlsym(RTLD_NEXT, "sysconf");
	*(void **)&next_clock_nanosleep = dlsym(RTLD_NEXT, "clock_nanosleep");
	*(void **)&next_syscall = dlsym(RTLD_NEXT, "syscall");
}

static uint32_t self(void)
{
	if (!own_tid)
		own_tid = gettid();
	return (uint32_t)own_tid;
}

/* The entry of a thread; 0: of the caller. NULL with errno if there is none. */
static struct node_thread *entry_of(pid_t tid)
{
	uint32_t number = tid ? (uint32_t)tid : self();

	if (table && number < table->threads &&
	    (number == self() || kill(tid, 0) == 0 || errno != ESRCH))
		return &table->thread[number];
	errno = ESRCH;
	return NULL;
}

static int set_affinity(pid_t tid, size_t size, const void *bytes)
{
	struct node_thread *thread = entry_of(tid);
	struct node_mask mask = {{0}};

	if (!thread)
		return -1;
	memcpy(&mask, bytes, size < sizeof(mask) ? size : sizeof(mask));
	for (unsigned int i = table->cores; i < NODE_MAX_CORES; i++)
		mask.word[i / 64] &= ~(1ull << i % 64);
	if (!node_mask_weight(&mask)) {
		errno = EINVAL;
		return -1;
	}
	node_lock(table, self());
	thread->mask = mask;
	node_move(table, (uint32_t)(thread - table->thread), node_now());
	node_unlock(table);
	return 0;
}

/* Returns the number of bytes that the system call would write, or -1 with errno. */
static long get_affinity(pid_t tid, size_t size, void *bytes)
{
	struct node_thread *thread = entry_of(tid);
	size_t used = size < sizeof(thread->mask) ? size : sizeof(thread->mask);

	if (!thread)
		return -1;
	if (size * 8 < table->cores || size % sizeof(long)) {
		errno = EINVAL;
		return -1;
	}
	memset(bytes, 0, size);
	node_lock(table, self());
	memcpy(bytes, &thread->mask, used);
	node_unlock(table);
	return (long)used;
}

SHOWN int sched_setaffinity(pid_t tid, size_t size, const cpu_set_t *mask)
{
	find_next();
	return table ? set_affinity(tid, size, mask)
		     : (int)next_syscall(SYS_sched_setaffinity, tid, size, mask);
}

SHOWN int sched_getaffinity(pid_t tid, size_t size, cpu_set_t *mask)
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

SHOWN int pthread_setaffinity_np(pthread_t thread, size_t size, const cpu_set_t *mask)
{
	pid_t tid = tid_of_pthread(thread);

	return tid < 0 ? ESRCH : sched_setaffinity(tid, size, mask) < 0 ? errno : 0;
}

SHOWN int pthread_getaffinity_np(pthread_t thread, size_t size, cpu_set_t *mask)
{
	pid_t tid = tid_of_pthread(thread);

	return tid < 0 ? ESRCH : sched_getaffinity(tid, size, mask) < 0 ? errno : 0;
}

SHOWN int sched_getcpu(void)
{
	unsigned int cpu = 0;

	find_next();
	if (table)
		return entry_of(0)->place ? (int)entry_of(0)->place - 1 : 0;
	next_syscall(SYS_getcpu, &cpu, NULL, NULL);
	return (int)cpu;
}

/*
 * A thread that polls has its turns on its core, if others work there. One that polls for long
 * leaves the real CPUs to others.
 */
static long yield(void)
{
	const struct timespec nap = {0, POLL_NS};

	if (table && table->spin && table->core[sched_getcpu()].first)
		node_run(table, self(), table->spin);
	else if (!table || polls++ < POLLS)
		return next_syscall(SYS_sched_yield);
	else
		nanosleep(&nap, NULL);
	return 0;
}

SHOWN int sched_yield(void)
{
	find_next();
	return (int)yield();
}

void opal_progress(void);

/* Open MPI polls: without mpi_yield_when_idle nothing else tells. */
SHOWN void opal_progress(void)
{
	static void (*next)(void);
	unsigned int before = polls;

	if (!next)
		*(void **)&next = dlsym(RTLD_NEXT, "opal_progress");
	next();
	if (table && polls == before && polls++ >= POLLS)
		nanosleep(&(struct timespec){0, POLL_NS}, NULL);
}

SHOWN long syscall(long number, ...)
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
	if (table && number == SYS_sched_yield)
		return yield();
	return next_syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

SHOWN long sysconf(int name)
{
	find_next();
	if (table && (name == _SC_NPROCESSORS_ONLN || name == _SC_NPROCESSORS_CONF))
		return table->cores;
	return next_sysconf(name);
}

SHOWN int get_nprocs(void)
{
	return (int)sysconf(_SC_NPROCESSORS_ONLN);
}

/* What a process worked until now, all threads of it, or one thread. */
static uint64_t worked(pid_t tid, bool all)
{
	struct node_thread *thread = entry_of(tid);
	uint64_t now = node_now();

	if (!thread)
		return 0;
	node_lock(table, self());
	for (unsigned int core = 0; core < table->cores; core++)
		node_count(table, core, now);
	node_unlock(table);
	return all ? thread->all_worked : thread->worked;
}

/* A CPU-time clock's number is made as clock_getcpuclockid(3) and pthread_getcpuclockid(3) do. */
static uint64_t worked_by_clock(clockid_t clock)
{
	if (!table ||
	    (clock >= 0 && clock != CLOCK_THREAD_CPUTIME_ID && clock != CLOCK_PROCESS_CPUTIME_ID))
		return 0;
	if (clock == CLOCK_THREAD_CPUTIME_ID)
		return entry_of(0)->worked;
	if (clock == CLOCK_PROCESS_CPUTIME_ID)
		return worked(getpid(), true);
	return worked((pid_t) ~(clock >> 3), !(clock & 4));
}

SHOWN int clock_gettime(clockid_t clock, struct timespec *time)
{
	uint64_t ns;
	int result;

	find_next();
	result = next_clock_gettime(clock, time);
	ns = result ? 0 : worked_by_clock(clock);
	if (ns) {
		ns += (uint64_t)time->tv_nsec;
		time->tv_sec += (time_t)(ns / 1000000000u);
		time->tv_nsec = (long)(ns % 1000000000u);
	}
	return result;
}

/* A thread that works sleeps for it, which is no switch that it wanted. */
SHOWN int getrusage(__rusage_who_t who, struct rusage *usage)
{
	int result;
	uint64_t us;

	find_next();
	result = next_getrusage((int)who, usage);
	if (result || !table || who == RUSAGE_CHILDREN)
		return result;
	us = (who == RUSAGE_SELF ? worked(getpid(), true) : worked(0, false)) / 1000 +
	     (uint64_t)usage->ru_utime.tv_usec;
	usage->ru_utime.tv_sec += (time_t)(us / 1000000);
	usage->ru_utime.tv_usec = (suseconds_t)(us % 1000000);
	if (who != RUSAGE_SELF)
		usage->ru_nvcsw -= sleeps;
	return result;
}

/* In /proc the state of a thread that works is R: the same text, of a thread that runs. */
static int show_running(const char *path, int fd)
{
	const char *task = strstr(path, "/task/");
	pid_t tid = atoi(task ? task + 6 : path + 6);
	struct node_thread *thread = tid > 0 ? entry_of(tid) : NULL;
	char text[1024], *bracket;
	ssize_t length;
	int shown;

	if (!thread || !thread->working)
		return fd;
	length = read(fd, text, sizeof(text) - 1);
	text[length > 0 ? length : 0] = 0;
	bracket = strrchr(text, ')');
	shown = memfd_create("stat", MFD_CLOEXEC);
	if (shown < 0 || !bracket || !bracket[1])
		return fd;
	bracket[2] = 'R';
	length = pwrite(shown, text, (size_t)length, 0);
	close(fd);
	return shown;
}

static int open_file(const char *path, int flags, mode_t mode)
{
	size_t length = strlen(path);
	int fd = (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);

	return fd >= 0 && table && strncmp(path, "/proc/", 6) == 0 && length > 11 &&
			       strcmp(path + length - 5, "/stat") == 0
		       ? show_running(path, fd)
		       : fd;
}

/* Both read a mode that is not there if none is given, which the kernel does not look at. */
SHOWN int open(const char *path, int flags, ...)
{
	va_list arguments;
	int fd;

	va_start(arguments, flags);
	fd = open_file(path, flags, va_arg(arguments, mode_t));
	va_end(arguments);
	return fd;
}

SHOWN int open64(const char *path, int flags, ...) __attribute__((alias("open")));

/* ---- work ---- */

SHOWN void node_work(uint64_t nanoseconds)
{
	find_next();
	together += nanoseconds;
	if (!table || together < SHORT_NS)
		return;
	nanoseconds = together;
	together = 0;
	polls = 0;
	sleeps += node_run(table, self(), nanoseconds);
}

/* To sleep until the thread has used so much CPU time, which Linux has not, is to work. */
SHOWN int clock_nanosleep(clockid_t clock, int flags, const struct timespec *time,
			  struct timespec *left)
{
	find_next();
	if (!table || clock != CLOCK_THREAD_CPUTIME_ID || flags)
		return next_clock_nanosleep(clock, flags, time, left);
	node_work((uint64_t)time->tv_sec * 1000000000u + (uint64_t)time->tv_nsec);
	return 0;
}

/* ---- inheritance ---- */

/* A new thread, or one of a new process. It is where its parent is, and has not worked. */
static void inherit(const struct node_thread *parent)
{
	struct node_thread *thread = entry_of(0);

	node_lock(table, self());
	node_drop(table, self(), node_now());
	memset(thread, 0, sizeof(*thread));
	thread->mask = parent->mask;
	thread->place = parent->place;
	thread->started = parent->started;
	thread->process = (uint32_t)getpid();
	node_unlock(table);
}

struct start {
	void *(*run)(void *);
	void *argument;
	struct node_thread parent;
};

static void *start_thread(void *data)
{
	struct start start = *(struct start *)data;

	free(data);
	inherit(&start.parent);
	return start.run(start.argument);
}

SHOWN int pthread_create(pthread_t *new, const pthread_attr_t *attributes, void *(*run)(void *),
			 void *argument)
{
	struct start *start;
	int failed;

	find_next();
	start = table ? malloc(sizeof(*start)) : NULL;
	if (!start)
		return next_pthread_create(new, attributes, run, argument);
	*start = (struct start){run, argument, *entry_of(0)};
	failed = next_pthread_create(new, attributes, start_thread, start);
	if (failed)
		free(start);
	return failed;
}

/* When process PID started, in the kernel's ticks; 0: unknown. */
static uint64_t start_of(pid_t pid)
{
	char path[64], text[1024], *at;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	file = fopen(path, "re");
	at = file && fgets(text, sizeof(text), file) ? strrchr(text, ')') : NULL;
	if (file)
		fclose(file);
	for (int field = 2; at && field < 22; field++)
		at = strchr(at + 1, ' ');
	return at ? strtoull(at, NULL, 10) : 0;
}

static void after_fork(void)
{
	const struct node_thread *parent = entry_of(0);

	own_tid = 0;
	together = 0;
	inherit(parent);
	entry_of(0)->started = start_of(getpid());
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
	const char *path = getenv(NODE_TABLE_ENV);
	int fd = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
	struct stat status;
	void *mapped;

	if (fd < 0 || fstat(fd, &status) < 0)
		return;
	mapped = mmap(NULL, (size_t)status.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	table = mapped != MAP_FAILED ? mapped : NULL;
}

/*
 * Place a starting process: where it was before exec, where its parent is or, if it is a rank, on
 * the rank's cores.
 */
static void settle(void)
{
	const char *text = getenv(NODE_PER_RANK_ENV);
	unsigned int per_rank = text ? (unsigned int)atoi(text) : 0;
	long rank = rank_on_node();
	struct node_thread *thread = entry_of(0), *parent = entry_of(getppid());
	uint64_t started = start_of(getpid());
	static const struct node_thread nobody;

	if (thread->started != started || !started) {
		inherit(parent && parent->started ? parent : &nobody);
		thread->started = started;
	}
	if (thread->place)
		return;
	thread->mask = nobody.mask;
	for (unsigned int core = 0; core < table->cores; core++)
		if (!per_rank || rank < 0 ||
		    (long)(core / per_rank) == rank % (long)(table->cores / per_rank))
			thread->mask.word[core / 64] |= 1ull << core % 64;
	/* A launcher has no core that its ranks would inherit. */
	if (rank >= 0 || !per_rank)
		set_affinity(0, sizeof(thread->mask), &thread->mask);
}

/*
 * What a thread of this process lost: how late it woke up or, if that is more, how long it waited
 * for a real CPU, the second number of its schedstat; less what was made good. The first thread
 * waits for one between polls, too.
 */
static uint64_t lost_by(pid_t tid)
{
	const struct node_thread *thread = &table->thread[tid];
	unsigned long long run, wait;
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/task/%d/schedstat", tid);
	file = fopen(path, "re");
	if (!file || fscanf(file, "%llu %llu", &run, &wait) != 2 || tid == getpid() ||
	    wait < thread->late)
		wait = thread->late;
	if (file)
		fclose(file);
	return wait > thread->made_good ? wait - thread->made_good : 0;
}

/* Say what the threads lost on average, if no process worked more. */
__attribute__((destructor)) static void end(void)
{
	DIR *tasks = table ? opendir("/proc/self/task") : NULL;
	struct dirent *entry;
	uint64_t sum = 0, count = 0;

	while (tasks && (entry = readdir(tasks))) {
		pid_t tid = atoi(entry->d_name);

		if (tid > 0 && table->thread[tid].worked) {
			sum += lost_by(tid);
			count++;
		}
	}
	if (tasks)
		closedir(tasks);
	if (count && table->thread[getpid()].all_worked > table->most) {
		table->most = table->thread[getpid()].all_worked;
		table->lost = sum / count;
	}
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
