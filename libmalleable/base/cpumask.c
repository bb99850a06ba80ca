/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* cpumask.c: sets of CPUs, as text and as affinity. */
#include "libmalleable/base/cpumask.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

unsigned int mal_cpumask_count(const struct mal_cpumask *mask)
{
	unsigned int count = 0;

	for (size_t i = 0; i < MAL_MAX_CPUS / 64; i++)
		count += (unsigned int)__builtin_popcountll(mask->bits[i]);
	return count;
}

unsigned int mal_cpumask_next(const struct mal_cpumask *mask, unsigned int from)
{
	for (size_t i = from / 64; i < MAL_MAX_CPUS / 64; i++) {
		uint64_t bits = mask->bits[i];

		if (i == from / 64)
			bits &= ~UINT64_C(0) << (from % 64);
		if (bits)
			return (unsigned int)(i * 64) + (unsigned int)__builtin_ctzll(bits);
	}
	return MAL_MAX_CPUS;
}

void mal_cpumask_intersect(struct mal_cpumask *mask, const struct mal_cpumask *other)
{
	for (size_t i = 0; i < MAL_MAX_CPUS / 64; i++)
		mask->bits[i] &= other->bits[i];
}

void mal_cpumask_union(struct mal_cpumask *mask, const struct mal_cpumask *other)
{
	for (size_t i = 0; i < MAL_MAX_CPUS / 64; i++)
		mask->bits[i] |= other->bits[i];
}

void mal_cpumask_drop(struct mal_cpumask *mask, const struct mal_cpumask *other)
{
	for (size_t i = 0; i < MAL_MAX_CPUS / 64; i++)
		mask->bits[i] &= ~other->bits[i];
}

/* Parse a number at *TEXT, and move that behind it. MAL_MAX_CPUS: none in range. */
static unsigned int parse_cpu(const char **text)
{
	char *end;
	unsigned long value;

	if (!isdigit((unsigned char)**text))
		return MAL_MAX_CPUS;
	value = strtoul(*text, &end, 10);
	*text = end;
	return value < MAL_MAX_CPUS ? (unsigned int)value : MAL_MAX_CPUS;
}

int mal_cpumask_parse(const char *list, struct mal_cpumask *mask, struct mal_error *err)
{
	const char *at = list;

	memset(mask, 0, sizeof(*mask));
	for (;;) {
		unsigned int first = parse_cpu(&at);
		unsigned int last = first;

		if (*at == '-') {
			at++;
			last = parse_cpu(&at);
		}
		if (first >= MAL_MAX_CPUS || last >= MAL_MAX_CPUS || last < first)
			break;
		for (unsigned int cpu = first; cpu <= last; cpu++)
			mal_cpumask_add(mask, cpu);
		if (*at == '\0' || *at == '\n')
			return 0;
		if (*at++ != ',')
			break;
	}
	memset(mask, 0, sizeof(*mask));
	return mal_fail(err, "'%s' is not a list of CPUs below %d such as 0-3,8", list,
			MAL_MAX_CPUS);
}

char *mal_cpumask_format(const struct mal_cpumask *mask, char *text, size_t size)
{
	size_t used = 0;
	unsigned int cpu = mal_cpumask_next(mask, 0);

	if (size)
		text[0] = '\0';
	while (cpu < MAL_MAX_CPUS && used < size) {
		unsigned int last = cpu;

		while (mal_cpumask_has(mask, last + 1))
			last++;
		used += (size_t)snprintf(text + used, size - used, last > cpu ? "%s%u-%u" : "%s%u",
					 used ? "," : "", cpu, last);
		cpu = mal_cpumask_next(mask, last + 1);
	}
	return text;
}

/* System calls, as the C library's wrappers fail for masks larger than theirs. */
int mal_cpumask_get_affinity(pid_t tid, struct mal_cpumask *mask)
{
	memset(mask, 0, sizeof(*mask));
	return syscall(SYS_sched_getaffinity, tid, sizeof(*mask), mask) < 0 ? -1 : 0;
}

int mal_cpumask_set_affinity(pid_t tid, const struct mal_cpumask *mask)
{
	return syscall(SYS_sched_setaffinity, tid, sizeof(*mask), mask) < 0 ? -1 : 0;
}

int mal_bind_thread(pid_t tid, unsigned int cpu)
{
	struct mal_cpumask mask = {{0}};

	mal_cpumask_add(&mask, cpu);
	return mal_cpumask_set_affinity(tid, &mask);
}
