/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* clock.c: the source and the rate of ticks. */
#include "libmalleable/base/clock.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

bool mal_clock_is_tsc;

static struct {
	uint64_t ticks;
	uint64_t ns;
} opened;

static bool tsc_is_invariant(void)
{
#if defined(__x86_64__)
	unsigned int a, b, c, d;

	return __get_cpuid(0x80000007, &a, &b, &c, &d) && (d & (1u << 8));
#else
	return false;
#endif
}

void mal_clock_open(void)
{
	if (opened.ns)
		return;
	mal_clock_is_tsc = tsc_is_invariant();
	opened.ticks = mal_ticks();
	opened.ns = mal_now_ns();
}

/* Ticks per nanosecond; more exact the longer the process runs. */
static double tick_rate(void)
{
	uint64_t ns;

	if (!mal_clock_is_tsc)
		return 1.0;
	do
		ns = mal_now_ns() - opened.ns;
	while (ns < 2000000);
	return (double)(mal_ticks() - opened.ticks) / (double)ns;
}

double mal_ticks_to_s(uint64_t ticks)
{
	return (double)ticks / tick_rate() * 1e-9;
}

uint64_t mal_s_to_ticks(double seconds)
{
	return (uint64_t)(seconds * 1e9 * tick_rate());
}

uint64_t mal_clock_elsewhere(void)
{
	return mal_now_ns();
}
