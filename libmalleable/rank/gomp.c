/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * gomp.c: a program that was built for GCC's libgomp runs on LLVM's libomp, which tells us what its threads do.
 *
 * libgomp has no OMPT; libomp carries the GOMP_ entry points. Before main() runs, a program that needs libgomp replaces
 * itself with itself, libomp preloaded. Not so if it, or a library of it, calls what libomp does not have: part of the calls
 * would go to libgomp, and two runtimes in one program do not know of each other. Wrapper scripts come here too, each
 * program by itself. A library that is loaded later (Python's modules) is not seen here and keeps libgomp.
 */
#include <dlfcn.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "libmalleable/core/env.h"
#include "libmalleable/rank/objects.h"

#define GOMP "libgomp.so.1"
#define OMP "libomp.so.5"
/* Set to the process's number before it replaces itself: it does so once. */
#define REPLACED "MALLEABLE_REPLACED"

static bool has_been_replaced(void)
{
	const char *who = getenv(REPLACED);

	return who && strtol(who, NULL, 10) == getpid();
}

/* What this program starts chooses for itself. */
static void forget_replacement(void)
{
	const char *preload = getenv("LD_PRELOAD");
	const char *last = preload ? strrchr(preload, ':') : NULL;
	char *before = last ? strndup(preload, (size_t)(last - preload)) : NULL;

	if (before)
		setenv("LD_PRELOAD", before, 1);
	unsetenv(REPLACED);
	free(before);
}

/* LD_PRELOAD with PATH behind what is there: our own functions stay before the runtime's. */
static bool add_to_preload(const char *path)
{
	const char *before = getenv("LD_PRELOAD");
	char number[16], *value;
	bool done;

	if (asprintf(&value, "%s%s%s", before ? before : "", before && *before ? ":" : "", path) < 0)
		return false;
	snprintf(number, sizeof(number), "%d", (int)getpid());
	done = setenv("LD_PRELOAD", value, 1) == 0 && setenv(REPLACED, number, 1) == 0;
	free(value);
	return done;
}

/* Glibc passes a constructor main's arguments. */
__attribute__((constructor)) static void choose_runtime(int argc, char **argv)
{
	const char *wish = getenv(MAL_ENV_GOMP);
	char program[4096];
	struct link_map *map;
	ssize_t length;
	void *omp;

	(void)argc;
	if (has_been_replaced()) {
		forget_replacement();
		return;
	}
	if (!getenv(MAL_ENV_SEGMENT_FD) || (wish && strcmp(wish, "keep") == 0) || getauxval(AT_SECURE) ||
	    !dlopen(GOMP, RTLD_LAZY | RTLD_NOLOAD) || dlopen(OMP, RTLD_LAZY | RTLD_NOLOAD))
		return;
	length = readlink("/proc/self/exe", program, sizeof(program) - 1);
	omp = length > 0 ? dlopen(OMP, RTLD_LAZY | RTLD_LOCAL) : NULL;
	if (!omp)
		return;
	program[length] = '\0';
	/* Started by naming the loader: the file that runs is not the program. */
	if (!strstr(program, "/ld-linux") && !mal_objects_call_more_than(omp) &&
	    dlinfo(omp, RTLD_DI_LINKMAP, &map) == 0 && add_to_preload(map->l_name))
		execv(program, argv);
	dlclose(omp);
}
