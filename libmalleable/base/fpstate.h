/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * fpstate.h: what the program's thread has, and our own work would change: errno, rounding and the
 * flags of floating point, and whether they trap.
 *
 * Where we compute with floating point or call the system while the program's thread is about
 * something else, we put it all back. Compilers move arithmetic past these functions, so the work
 * in between stands in a function that is not inlined.
 */
#pragma once

#include <errno.h>
#include <stdint.h>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

struct mal_fpstate {
	int error;
	uint64_t control, status;
};

#if defined(__x86_64__)
/* Nothing traps, to the nearest, no flag (Intel SDM vol. 1, 10.2.3). */
#define MAL_FPSTATE_PLAIN 0x1f80u
#define MAL_FPSTATE_FLAGS 0x3fu
#endif

/* How a thread computes with floating point: rounding, traps, and the like. */
struct mal_arithmetic {
	uint64_t control;
	uint16_t x87;
};

static inline struct mal_fpstate mal_fpstate_save(void)
{
	struct mal_fpstate saved = {.error = errno};

#if defined(__x86_64__)
	saved.control = _mm_getcsr();
	_mm_setcsr(MAL_FPSTATE_PLAIN);
#elif defined(__aarch64__)
	uint64_t plain = 0;

	__asm__ volatile("mrs %0, fpcr" : "=r"(saved.control));
	__asm__ volatile("mrs %0, fpsr" : "=r"(saved.status));
	__asm__ volatile("msr fpcr, %0" : : "r"(plain));
#endif
	return saved;
}

static inline void mal_fpstate_restore(const struct mal_fpstate *saved)
{
#if defined(__x86_64__)
	_mm_setcsr((unsigned int)saved->control);
#elif defined(__aarch64__)
	__asm__ volatile("msr fpcr, %0" : : "r"(saved->control));
	__asm__ volatile("msr fpsr, %0" : : "r"(saved->status));
#endif
	errno = saved->error;
}

static inline struct mal_arithmetic mal_arithmetic_read(void)
{
	struct mal_arithmetic now = {0};

#if defined(__x86_64__)
	now.control = _mm_getcsr() & ~MAL_FPSTATE_FLAGS;
	__asm__ volatile("fnstcw %0" : "=m"(now.x87));
#elif defined(__aarch64__)
	__asm__ volatile("mrs %0, fpcr" : "=r"(now.control));
#endif
	return now;
}

/* Compute so from now on, without a flag. */
static inline void mal_arithmetic_set(const struct mal_arithmetic *wanted)
{
#if defined(__x86_64__)
	_mm_setcsr((unsigned int)wanted->control);
	__asm__ volatile("fnclex");
	__asm__ volatile("fldcw %0" : : "m"(wanted->x87));
#elif defined(__aarch64__)
	uint64_t none = 0;

	__asm__ volatile("msr fpcr, %0" : : "r"(wanted->control));
	__asm__ volatile("msr fpsr, %0" : : "r"(none));
#else
	(void)wanted;
#endif
}

/* The flags that SAVED has, and those of the x87, which nothing of ours changes. */
static inline uint64_t mal_fpstate_flags(const struct mal_fpstate *saved)
{
#if defined(__x86_64__)
	uint16_t status;

	__asm__ volatile("fnstsw %0" : "=a"(status));
	return (saved->control | status) & MAL_FPSTATE_FLAGS;
#else
	return saved->status;
#endif
}

static inline void mal_flags_raise(uint64_t flags)
{
#if defined(__x86_64__)
	_mm_setcsr(_mm_getcsr() | (unsigned int)flags);
#elif defined(__aarch64__)
	uint64_t now;

	__asm__ volatile("mrs %0, fpsr" : "=r"(now));
	__asm__ volatile("msr fpsr, %0" : : "r"(now | flags));
#else
	(void)flags;
#endif
}
