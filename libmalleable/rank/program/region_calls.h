/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * region_calls.h: the function of a region that starts. Compilers jump into the runtime, so several
 * regions may share the address that OMPT gives. Their calls come by here instead, and leave the
 * function, which each region has for itself.
 */
#pragma once

#include <stddef.h>

/* Of the calling thread: set by each call that comes by here. */
extern __thread const void *mal_region_called
	__attribute__((tls_model("initial-exec"), visibility("hidden")));

/* The function of the region that starts now, NULL: its call did not come by here. */
static inline const void *mal_region_called_take(void)
{
	const void *function = mal_region_called;

	mal_region_called = NULL;
	return function;
}

/* Find the runtime with which the process has started. */
void mal_region_calls_open(void);
