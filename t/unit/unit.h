/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * unit.h: included by every cmocka test, with headers in the order that cmocka needs.
 *
 * A test program fails if descriptors are open at its end that were not at its start.
 */
#pragma once

#include <fcntl.h>
#include <malloc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

/* Version 2 warns of names that version 1 has alone. */
#undef CMOCKA_DEPRECATION_WARNING
#define CMOCKA_DEPRECATION_WARNING(text)

static inline unsigned int open_descriptors(void)
{
	unsigned int count = 0;

	for (int fd = 0; fd < 1024; fd++)
		count += fcntl(fd, F_GETFD) >= 0;
	return count;
}

/* Whether no more are open than BEFORE. */
static inline bool closed_all(unsigned int before)
{
	unsigned int now = open_descriptors();

	if (now > before)
		fprintf(stderr, "%u descriptors were left open\n", now - before);
	return now <= before;
}

/* Bytes that malloc() gave and that are not freed; 0 where the C library cannot tell. */
static inline size_t memory_kept(void)
{
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 33)
	return mallinfo2().uordblks;
#else
	return 0;
#endif
}

static inline int run_group(const char *name, const struct CMUnitTest *tests, size_t count,
			    CMFixtureFunction set_up, CMFixtureFunction tear_down)
{
	unsigned int before = open_descriptors();
	int failed = _cmocka_run_group_tests(name, tests, count, set_up, tear_down);

	return failed ? failed : !closed_all(before);
}

#undef cmocka_run_group_tests
#define cmocka_run_group_tests(tests, set_up, tear_down) \
	run_group(#tests, tests, sizeof(tests) / sizeof((tests)[0]), set_up, tear_down)
