/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * fakecpus.c: preloaded, shows a process the CPUs 0 .. FAKE_CPUS-1, and lets it bind its threads to
 * them; with FAKE_PART=N each task of a step its own N of them. Nothing is really bound and times
 * mean nothing: for observing moves on a machine of two CPUs.
 */
#include <dlfcn.h>
#include <errno.h>
#include <sched.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static unsigned int fake_cpus(void)
{
	const char *text = getenv("FAKE_CPUS");

	return text ? (unsigned int)atoi(text) : 8;
}

static long fill(void *mask, size_t size)
{
	const char *part = getenv("FAKE_PART"), *task = getenv("SLURM_LOCALID");
	unsigned int cpus = part && task ? (unsigned int)atoi(part) : fake_cpus();
	unsigned int first = part && task ? cpus * (unsigned int)atoi(task) : 0;

	memset(mask, 0, size);
	for (unsigned int i = first; i < first + cpus && i / 8 < size; i++)
		((uint8_t *)mask)[i / 8] |= (uint8_t)(1u << i % 8);
	return (long)(size < 128 ? size : 128);
}

int sched_getaffinity(pid_t pid, size_t size, cpu_set_t *mask)
{
	(void)pid;
	fill(mask, size);
	return 0;
}

int sched_setaffinity(pid_t pid, size_t size, const cpu_set_t *mask)
{
	(void)pid;
	(void)size;
	(void)mask;
	return 0;
}

long syscall(long number, ...)
{
	static long (*next)(long, long, long, long, long, long, long);
	long a[6];
	va_list arguments;

	va_start(arguments, number);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(arguments, long);
	va_end(arguments);
	if (number == SYS_sched_getaffinity)
		return fill((void *)a[2], (size_t)a[1]);
	if (number == SYS_sched_setaffinity)
		return 0;
	if (!next)
		*(void **)&next = dlsym(RTLD_NEXT, "syscall");
	return next(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}
