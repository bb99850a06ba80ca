/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* threaddata.c: a library without parallel regions that counts in each thread. */
#include <stdint.h>

uint64_t library_count(void);

uint64_t library_count(void)
{
	static __thread uint64_t count;

	return count++;
}
