/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * raw.h: system calls without the C library, whose functions other preloaded libraries may replace.
 *
 * Before the constructors of these have run, theirs may not be ready. Strings and memory are no
 * matter: such functions keep nothing.
 */
#pragma once

#include <sys/syscall.h>
#include <unistd.h>

/* The call's result, which is negative if it fails: minus errno, which stays as it is. */
long mal_raw(long number, long a, long b, long c, long d, long e, long f);

/* The same with fewer arguments, numbers or pointers. */
#define MAL_RAW_(number, a, b, c, d, e, f, ...) \
	mal_raw(number, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f))
#define MAL_RAW(...) MAL_RAW_(__VA_ARGS__, 0, 0, 0, 0, 0, 0, 0)
