/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * node_kernel.c: what stands in for the machine: each function here is linked in place of the one
 * that it is named after (ld --wrap).
 */
#include "t/unit/node_kernel.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>

#include "libmalleable/base/channel.h"
#include "libmalleable/controller/state/watch.h"
#include "libmalleable/core/segment.h"
#include "libmalleable/trace/places.h"

/* No process of the machine has these numbers (pid_max in proc(5)). */
#define FIRST_PID 5000000

struct node_kernel node_kernel;

int __wrap_kill(pid_t pid, int number);
DIR *__wrap_opendir(const char *path);
struct dirent *__wrap_readdir(DIR *directory);
int __wrap_closedir(DIR *directory);
DIR *__real_opendir(const char *path);
struct dirent *__real_readdir(DIR *directory);
int __real_closedir(DIR *directory);
FILE *__wrap_fopen(const char *path, const char *mode);
FILE *__real_fopen(const char *path, const char *mode);
int __wrap_stat(const char *path, struct stat *status);
int __real_stat(const char *path, struct stat *status);
int __wrap_nanosleep(const struct timespec *time, struct timespec *left);
long __wrap_syscall(long number, ...);
int __wrap_clock_gettime(clockid_t clock, struct timespec *now);
int __real_clock_gettime(clockid_t clock, struct timespec *now);
void __wrap_mal_clock_open(void);
uint64_t __wrap_mal_clock_elsewhere(void);
int __wrap_mal_cpumask_get_affinity(pid_t tid, struct mal_cpumask *mask);
int __wrap_mal_cpumask_set_affinity(pid_t tid, const struct mal_cpumask *mask);
int __wrap_mal_bind_thread(pid_t tid, unsigned int cpu);
int __wrap_mal_watch_start(struct mal_controller *controller, int life_fd, struct mal_error *err);
void __wrap_mal_watch_process(int32_t pid);
void __wrap_mal_watch_channel(int fd);
bool __wrap_mal_descriptors_are_few(int fd);
int __wrap_mal_places_read(const char *synthetic, const unsigned int *cpu, unsigned int count,
			   unsigned int *core, unsigned int *l3, unsigned int *numa,
			   unsigned int *package, struct mal_error *err);
int __wrap_mal_channel_accept(int listening);
int __wrap_mal_channel_take(int client, char *text, size_t size);
bool __wrap_mal_channel_send(int client, const char *text, size_t length);
void __wrap_mal_channel_answer(int client, const char *text, size_t length);
void __wrap_mal_channel_answer_fd(int client, int fd);
char *__wrap_mal_channel_ask(const char *path, const char *request, int timeout_ms, size_t *length,
			     struct mal_error *err);
bool __wrap_mal_channel_tell(const char *path, const char *request, int timeout_ms);
bool __wrap_mal_channel_is_open(const char *path);

void node_kernel_start(struct node_process *process, const struct mal_cpumask *cpus)
{
	node_kernel.last_pid += NODE_KERNEL_THREADS;
	*process = (struct node_process){.pid = FIRST_PID + node_kernel.last_pid, .alive = true};
	for (unsigned int i = 0; i < NODE_KERNEL_THREADS; i++) {
		process->may[i] = *cpus;
		process->insists[i] = MAL_NO_CPU;
	}
}

/* The process with thread TID, and which of its threads that is. NULL: there is none. */
static struct node_process *find(pid_t tid, unsigned int *index)
{
	for (unsigned int i = 0; i < node_kernel.process_count; i++) {
		struct node_process *process = &node_kernel.processes[i];

		*index = (unsigned int)(tid - process->pid);
		if (process->alive && tid >= process->pid && *index < NODE_KERNEL_THREADS)
			return process;
	}
	return NULL;
}

int __wrap_kill(pid_t pid, int number)
{
	unsigned int index;

	(void)number;
	if (pid > 0 && find(pid, &index))
		return 0;
	errno = ESRCH;
	return -1;
}

/* /proc/PID/task of one process at a time. */
static struct {
	const struct node_process *process;
	unsigned int next;
	struct dirent entry;
} tasks;

DIR *__wrap_opendir(const char *path)
{
	unsigned int index;
	int pid;

	if (sscanf(path, "/proc/%d/task", &pid) != 1)
		return __real_opendir(path);
	tasks.process = find(pid, &index);
	tasks.next = 0;
	errno = node_kernel.blind ? EMFILE : ENOENT;
	return tasks.process && !node_kernel.blind ? (DIR *)&tasks : NULL;
}

struct dirent *__wrap_readdir(DIR *directory)
{
	if (directory != (DIR *)&tasks)
		return __real_readdir(directory);
	/* "." and ".." come first. */
	if (tasks.next >= NODE_KERNEL_THREADS + 2)
		return NULL;
	if (tasks.next < 2)
		strcpy(tasks.entry.d_name, tasks.next ? ".." : ".");
	else
		snprintf(tasks.entry.d_name, sizeof(tasks.entry.d_name), "%d",
			 (int)(tasks.process->pid + (int32_t)tasks.next - 2));
	tasks.next++;
	return &tasks.entry;
}

int __wrap_closedir(DIR *directory)
{
	return directory == (DIR *)&tasks ? 0 : __real_closedir(directory);
}

/* For how long thread TID ran and waited; zeros where that is not counted. NULL: no such thread. */
static FILE *open_schedstat(pid_t tid)
{
	static char text[64];
	unsigned int index;
	const struct node_process *process = find(tid, &index);

	if (!process)
		return NULL;
	snprintf(text, sizeof(text), "%d %llu 1\n", node_kernel.counts_waits,
		 node_kernel.counts_waits ? (unsigned long long)process->waited_ns[index] : 0);
	return fmemopen(text, strlen(text), "r");
}

FILE *__wrap_fopen(const char *path, const char *mode)
{
	static const char command[] = "./app\0--steps=3\0\xff";
	int pid, tid;

	if (strncmp(path, "/proc/", 6) != 0)
		return __real_fopen(path, mode);
	if (strstr(path, "/cmdline"))
		return fmemopen((void *)(uintptr_t)command, sizeof(command), "r");
	if (sscanf(path, "/proc/%d/task/%d/schedstat", &pid, &tid) == 2)
		return open_schedstat(tid);
	return node_kernel.stat && strcmp(path, "/proc/stat") == 0
		       ? fmemopen((void *)(uintptr_t)node_kernel.stat, strlen(node_kernel.stat),
				  "r")
		       : NULL;
}

/* The administrator's switch. */
int __wrap_stat(const char *path, struct stat *status)
{
	if (strcmp(path, "/off") != 0)
		return __real_stat(path, status);
	memset(status, 0, sizeof(*status));
	return node_kernel.off ? 0 : -1;
}

/* The controller has used 5 ms of CPU time. */
int __wrap_clock_gettime(clockid_t clock, struct timespec *now)
{
	if (clock != CLOCK_PROCESS_CPUTIME_ID)
		return __real_clock_gettime(clock, now);
	*now = (struct timespec){0, 5000000};
	return 0;
}

static void pass(const struct timespec *time)
{
	node_kernel.ns += (uint64_t)time->tv_sec * 1000000000u + (uint64_t)time->tv_nsec;
}

int __wrap_nanosleep(const struct timespec *time, struct timespec *left)
{
	(void)left;
	pass(time);
	return 0;
}

/* Futexes; no other call is made here. */
long __wrap_syscall(long number, ...)
{
	long arguments[6];
	va_list list;

	va_start(list, number);
	for (unsigned int i = 0; i < 6; i++)
		arguments[i] = va_arg(list, long);
	va_end(list);
	if (number != SYS_futex)
		abort();
	if ((int)arguments[1] == FUTEX_WAIT && node_kernel.sleeps)
		node_kernel.sleeps();
	return 0;
}

void __wrap_mal_clock_open(void)
{
}

uint64_t __wrap_mal_clock_elsewhere(void)
{
	return node_kernel.ns;
}

int __wrap_mal_cpumask_get_affinity(pid_t tid, struct mal_cpumask *mask)
{
	unsigned int index;
	const struct node_process *process = find(tid, &index);

	if (!process)
		return -1;
	*mask = process->may[index];
	return 0;
}

int __wrap_mal_cpumask_set_affinity(pid_t tid, const struct mal_cpumask *mask)
{
	unsigned int index;
	struct node_process *process = find(tid, &index);

	if (!process)
		return -1;
	process->may[index] = *mask;
	if (process->insists[index] != MAL_NO_CPU) {
		process->may[index] = (struct mal_cpumask){{0}};
		mal_cpumask_add(&process->may[index], process->insists[index]);
	}
	return 0;
}

int __wrap_mal_bind_thread(pid_t tid, unsigned int cpu)
{
	struct mal_cpumask mask = {{0}};

	mal_cpumask_add(&mask, cpu);
	return __wrap_mal_cpumask_set_affinity(tid, &mask);
}

int __wrap_mal_watch_start(struct mal_controller *controller, int life_fd, struct mal_error *err)
{
	(void)controller, (void)life_fd, (void)err;
	return 0;
}

void __wrap_mal_watch_process(int32_t pid)
{
	(void)pid;
}

void __wrap_mal_watch_channel(int fd)
{
	(void)fd;
}

bool __wrap_mal_descriptors_are_few(int fd)
{
	(void)fd;
	return false;
}

/* Four CPUs share an L3, eight a NUMA node and a package. */
int __wrap_mal_places_read(const char *synthetic, const unsigned int *cpu, unsigned int count,
			   unsigned int *core, unsigned int *l3, unsigned int *numa,
			   unsigned int *package, struct mal_error *err)
{
	(void)synthetic, (void)err;
	for (unsigned int i = 0; i < count; i++) {
		core[i] = cpu[i];
		l3[i] = cpu[i] / 4;
		numa[i] = package[i] = cpu[i] / 8;
	}
	return 0;
}

int __wrap_mal_channel_accept(int listening)
{
	(void)listening;
	if (!node_kernel.clients)
		return -1;
	node_kernel.clients--;
	node_kernel.asks = NODE_FIRST_CLIENT + node_kernel.accepted++;
	return node_kernel.asks;
}

int __wrap_mal_channel_take(int client, char *text, size_t size)
{
	if (client == node_kernel.gone)
		return -1;
	if ((client != node_kernel.asks && !node_kernel.floods) || !node_kernel.request)
		return 0;
	if (!node_kernel.floods)
		node_kernel.asks = -1;
	snprintf(text, size, "%s", node_kernel.request);
	return 1;
}

/* Events, and answers to those who stay. */
bool __wrap_mal_channel_send(int client, const char *text, size_t length)
{
	size_t used = strlen(node_kernel.events);

	if (node_kernel.deaf)
		return false;
	if (*text != '{') {
		__wrap_mal_channel_answer(client, text, length);
		return true;
	}
	assert(used + length < sizeof(node_kernel.events));
	memcpy(node_kernel.events + used, text, length);
	node_kernel.events[used + length] = '\0';
	return true;
}

void __wrap_mal_channel_answer(int client, const char *text, size_t length)
{
	(void)client;
	free(node_kernel.answer);
	node_kernel.answer = strndup(text, length);
}

void __wrap_mal_channel_answer_fd(int client, int fd)
{
	(void)client, (void)fd;
	__wrap_mal_channel_answer(client, "descriptor", strlen("descriptor"));
}

char *__wrap_mal_channel_ask(const char *path, const char *request, int timeout_ms, size_t *length,
			     struct mal_error *err)
{
	(void)path, (void)request, (void)err;
	node_kernel.timeout_ms = timeout_ms;
	if (!node_kernel.others)
		return NULL;
	*length = strlen(node_kernel.others);
	return strdup(node_kernel.others);
}

bool __wrap_mal_channel_tell(const char *path, const char *request, int timeout_ms)
{
	(void)path;
	node_kernel.timeout_ms = timeout_ms;
	snprintf(node_kernel.told, sizeof(node_kernel.told), "%s", request);
	return node_kernel.others_obey;
}

bool __wrap_mal_channel_is_open(const char *path)
{
	(void)path;
	return node_kernel.others_live;
}
