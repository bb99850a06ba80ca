// SPDX-License-Identifier: LGPL-2.1-or-later
/* What the programs of the corpus share: work that compilers cannot see through, and a checksum.
 *
 * Values are whole numbers, also those in floating point, so that sums do not depend on order. */
#ifndef T_INSPECT_PROGRAMS_CORPUS_H
#define T_INSPECT_PROGRAMS_CORPUS_H
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

#define NOINLINE __attribute__((noinline))

static uint64_t corpus_sum = 14695981039346656037u;

NOINLINE static void corpus_add(const void *data, size_t size)
{
	const unsigned char *bytes = (const unsigned char *)data;

	for (size_t i = 0; i < size; i++)
		corpus_sum = (corpus_sum ^ bytes[i]) * 1099511628211u;
}

NOINLINE __attribute__((unused)) static void corpus_number(double number)
{
	corpus_add(&number, sizeof(number));
}

NOINLINE static int corpus_end(void)
{
	printf("%016llx\n", (unsigned long long)corpus_sum);
	return 0;
}

/* Whole numbers below 1000, the same for the same i. */
NOINLINE __attribute__((unused)) static double corpus_value(long i)
{
	return (double)((uint64_t)(i + 11) * 2654435761u >> 7 & 1023) - 24;
}

/* A number that the compiler does not know. */
NOINLINE __attribute__((unused)) static int corpus_int(int i)
{
	volatile int hidden = i;

	return hidden;
}

#ifdef __cplusplus
}
#endif
#endif
