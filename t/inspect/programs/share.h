// SPDX-License-Identifier: LGPL-2.1-or-later
/* The division of iterations that gcc makes of a static loop, by hand. */
#ifndef T_INSPECT_PROGRAMS_SHARE_H
#define T_INSPECT_PROGRAMS_SHARE_H
#include <omp.h>

#define SHARE(n) \
	__typeof__(n) t = omp_get_thread_num(), threads = omp_get_num_threads(); \
	__typeof__(n) size = (n) / threads, rest = (n) % threads, low, high; \
	if (t < rest) { \
		size++; \
		rest = 0; \
	} \
	low = size * t + rest; \
	high = low + size

#endif
