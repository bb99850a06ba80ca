/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* clock.h: ticks, the cheapest monotonic clock of the node, the same in all its processes. */
#ifndef MAL_CORE_CLOCK_H
#define MAL_CORE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

/* True when ticks are the processor's time stamp counter, false when they are nanoseconds. */
extern bool mal_clock_is_tsc;

/* Nanoseconds of CLOCK, one of clock_gettime(2). */
static inline uint64_t mal_clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Nanoseconds of CLOCK_MONOTONIC. */
static inline uint64_t mal_now_ns(void)
{
	return mal_clock_ns(CLOCK_MONOTONIC);
}

/* The same in milliseconds, for deadlines. */
static inline long mal_now_ms(void)
{
	return (long)(mal_now_ns() / 1000000);
}

/*
 * Ticks since an arbitrary start that all processes of the node share. On x86-64 with an invariant time
 * stamp counter (CPUID 8000_0007h, EDX bit 8; Intel SDM vol. 3, 18.17) reading it takes some 8 ns, a third of
 * clock_gettime; elsewhere ticks are nanoseconds of CLOCK_MONOTONIC. Valid after mal_clock_open.
 */
static inline uint64_t mal_ticks(void)
{
#if defined(__x86_64__)
	if (__builtin_expect(mal_clock_is_tsc, 1))
		return __rdtsc();
#endif
	return mal_now_ns();
}

/* Choose the source of ticks. Call once per process before the others; takes a microsecond. */
void mal_clock_open(void);

/*
 * Seconds that TICKS ticks last. The rate is measured between mal_clock_open and now; within the first
 * 2 ms after it the call waits until these have passed. Thread safe.
 */
double mal_ticks_to_s(uint64_t ticks);

/* The number of ticks in SECONDS. */
uint64_t mal_s_to_ticks(double seconds);

#endif
