/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * device.c: calls that wait for a device, as a GPU, are told to the rank library.
 *
 * Invariant: a wait for a device is no work (t/t3009-report.t).
 *
 * Not seen are calls by pointers from dlsym(), as from CUDA's runtime to its driver, and of a
 * runtime that is linked statically.
 */
#include <dlfcn.h>
#include <string.h>

#include "libmalleable/rank/mpi/next.h"
#include "libmalleable/rank/mpi/words.h"
#include "libmalleable/rank/outside.h"

/* CUDA's and HIP's "unknown error", and no success in OpenCL either. */
#define NOT_THERE 999

/* The next definition of NAME in VERSION. Its library stays loaded from now on. */
static void *find(const char *name, const char *version)
{
	void *function = mal_mpi_find_version(name, strcmp(version, "MALLEABLE") ? version : NULL);
	Dl_info info;

	if (function && dladdr(function, &info))
		dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
	return function;
}

#define CALL(name, tag, count, version) \
	int mal_##name##_##tag(PARAMETERS_##count); \
	__asm__(".symver mal_" #name "_" #tag ", " #name "@" version); \
	int mal_##name##_##tag(PARAMETERS_##count) \
	{ \
		static int (*next)(PARAMETERS_##count); \
		struct mal_device_call call; \
		int result; \
\
		if (!next) \
			*(void **)&next = find(#name, version); \
		if (!next) \
			return NOT_THERE; \
		mal_device_begin(&call); \
		result = next(ARGUMENTS_##count); \
		mal_device_end(&call); \
		return result; \
	}
#include "libmalleable/rank/mpi/device_calls.h"
