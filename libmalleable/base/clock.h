/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * clock.h: ticks, the node's cheapest monotonic clock, the same in all its processes.
 *
 * All functions but mal_clock_open() are thread safe.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

/* Whether ticks are the processor's time stamp counter; otherwise they are nanoseconds. */
extern bool mal_clock_is_tsc;

/* The time of CLOCK, as clock_gettime(2) has it, in ns; 0: its process or thread has gone. */
static inline uint64_t mal_clock_ns(clockid_t clock)
{
	struct timespec now = {0, 0};

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* The clock of the CPU time of thread TID, any of this process's: as pthread_getcpuclockid(3). */
static inline clockid_t mal_thread_clock(int32_t tid)
{
	return (clockid_t)(~(uint32_t)tid << 3 | 6);
}

/* The same of process PID, any of this machine: as clock_getcpuclockid(3). */
static inline clockid_t mal_process_clock(int32_t pid)
{
	return (clockid_t)(~(uint32_t)pid << 3 | 2);
}

/* The time of CLOCK_MONOTONIC in nanoseconds. */
static inline uint64_t mal_now_ns(void)
{
	return mal_clock_ns(CLOCK_MONOTONIC);
}

/* The same in milliseconds, for deadlines. */
static inline long mal_now_ms(void)
{
	return (long)(mal_now_ns() / 1000000);
}

/* mal_now_ns(), not inlined: its stack protector would cost every function that reads ticks. */
uint64_t mal_clock_elsewhere(void);

/*
 * Ticks since an arbitrary time that all processes of the node share. On x86-64 with an invariant
 * time stamp counter (CPUID 8000_0007h, EDX bit 8; Intel SDM vol. 3, 18.17) reading it takes about
 * 8 ns, a third of clock_gettime(2); elsewhere ticks are nanoseconds of CLOCK_MONOTONIC. Valid
 * after mal_clock_open().
 */
static inline uint64_t mal_ticks(void)
{
#if defined(__x86_64__)
	if (__builtin_expect(mal_clock_is_tsc, 1))
		return __builtin_ia32_rdtsc(); /* <x86intrin.h> doubles the time of compiling */
#endif
	return mal_clock_elsewhere();
}

/*
 * Choose the source of ticks. Call once per process, before the other functions; takes a
 * microsecond.
 */
void mal_clock_open(void);

/*
 * TICKS in seconds. The rate is measured from mal_clock_open() on; within the first 2 ms after that
 * the call waits until they have passed.
 */
double mal_ticks_to_s(uint64_t ticks);

/* SECONDS in ticks. May wait likewise. */
uint64_t mal_s_to_ticks(double seconds);
