/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * kept.h: what the program's thread has, and our own work would change: errno, rounding and the
 * flags of floating point, and whether they trap.
 *
 * Where we compute with floating point or call the system while the program's thread is about
 * something else, we put it all back. Compilers move arithmetic past these functions, so the work
 * in between stands in a function that is not inlined.
 */
#ifndef MAL_BASE_KEPT_H
#define MAL_BASE_KEPT_H

#include <errno.h>
#include <stdint.h>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

struct mal_kept {
	int error;
	uint64_t control, status;
};

#if defined(__x86_64__)
/* Nothing traps, to the nearest, no flag (Intel SDM vol. 1, 10.2.3). */
#define MAL_KEPT_PLAIN 0x1f80u
#define MAL_KEPT_FLAGS 0x3fu
#endif

/* How a thread computes with floating point: rounding, traps, and the like. */
struct mal_arithmetic {
	uint64_t control;
	uint16_t x87;
};

static inline struct mal_kept mal_keep(void)
{
	struct mal_kept kept = {.error = errno};

#if defined(__x86_64__)
	kept.control = _mm_getcsr();
	_mm_setcsr(MAL_KEPT_PLAIN);
#elif defined(__aarch64__)
	uint64_t plain = 0;

	__asm__ volatile("mrs %0, fpcr" : "=r"(kept.control));
	__asm__ volatile("mrs %0, fpsr" : "=r"(kept.status));
	__asm__ volatile("msr fpcr, %0" : : "r"(plain));
#endif
	return kept;
}

static inline void mal_give_back(const struct mal_kept *kept)
{
#if defined(__x86_64__)
	_mm_setcsr((unsigned int)kept->control);
#elif defined(__aarch64__)
	__asm__ volatile("msr fpcr, %0" : : "r"(kept->control));
	__asm__ volatile("msr fpsr, %0" : : "r"(kept->status));
#endif
	errno = kept->error;
}

static inline struct mal_arithmetic mal_arithmetic_read(void)
{
	struct mal_arithmetic now = {0};

#if defined(__x86_64__)
	now.control = _mm_getcsr() & ~MAL_KEPT_FLAGS;
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

/* The flags that KEPT has, and those of the x87, which nothing of ours changes. */
static inline uint64_t mal_kept_flags(const struct mal_kept *kept)
{
#if defined(__x86_64__)
	uint16_t status;

	__asm__ volatile("fnstsw %0" : "=a"(status));
	return (kept->control | status) & MAL_KEPT_FLAGS;
#else
	return kept->status;
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

#endif
