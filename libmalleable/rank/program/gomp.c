/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * gomp.c: run a program built for GCC's libgomp on LLVM's libomp, which reports its threads.
 *
 * libgomp has no OMPT; libomp has the GOMP_ entry points. A program that needs libgomp executes
 * itself again with libomp preloaded, before anything else runs: the library is linked with -z
 * initfirst, so that no constructor runs twice. It does not if it, or a library of it, calls a
 * function that libomp lacks: those calls would go to libgomp, and two runtimes in one program do
 * not know of each other. Wrapper scripts come here too, each program by itself. A library loaded
 * later (a Python module) is not seen here and keeps libgomp.
 */
#include "libmalleable/rank/program/gomp.h"

#include <dlfcn.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "libmalleable/core/env.h"
#include "libmalleable/rank/program/objects.h"
#include "libmalleable/rank/program/sanitizer.h"

#define GOMP "libgomp.so.1"
#define OMP "libomp.so.5"
/* Set to the process's number before it executes itself again, so that it does so once. */
#define REPLACED "MALLEABLE_REPLACED"

/* libgomp's, where the user chose none; libomp's is static. */
#define GOMP_SCHEDULE "dynamic,1"

static struct {
	bool replaced;	/* the program was built for libgomp and runs on libomp */
	bool scheduled; /* OMP_SCHEDULE is ours */
} gomp;

static bool has_been_replaced(void)
{
	const char *who = getenv(REPLACED);

	return who && strtol(who, NULL, 10) == getpid();
}

/*
 * Let programs that this one starts choose for themselves. Edits in place: libc has not started,
 * and takes over the kernel's variables later.
 */
static void forget_replacement(void)
{
	char *preload = getenv("LD_PRELOAD");
	char *last = preload ? strrchr(preload, ':') : NULL;

	if (last)
		*last = '\0';
	unsetenv(REPLACED);
}

/* libomp warns about omp_set_nested(), libgomp does not: turn that off. */
static void silence(void)
{
	void (*warnings_off)(void);

	*(void **)&warnings_off = dlsym(RTLD_DEFAULT, "kmp_set_warnings_off");
	if (warnings_off && !getenv("KMP_WARNINGS"))
		warnings_off();
}

/* Add PATH at the end of LD_PRELOAD: our functions stay before the runtime's. */
static bool add_to_preload(const char *path)
{
	const char *before = getenv("LD_PRELOAD");
	char number[16], *value;
	bool done;

	if (asprintf(&value, "%s%s%s", before ? before : "", before && *before ? ":" : "", path) <
	    0)
		return false;
	snprintf(number, sizeof(number), "%d", (int)getpid());
	done = setenv("LD_PRELOAD", value, 1) == 0 && setenv(REPLACED, number, 1) == 0;
	free(value);
	return done;
}

/*
 * A program that executes itself again would run outside valgrind, which preloads its own library.
 */
static bool under_valgrind(void)
{
	const char *preload = getenv("LD_PRELOAD");

	return preload && strstr(preload, "/vgpreload_");
}

static void choose_runtime(char **argv)
{
	const char *wish = getenv(MAL_ENV_GOMP);
	char program[4096];
	struct link_map *map;
	ssize_t length;
	void *omp;

	if (has_been_replaced()) {
		gomp.replaced = true;
		forget_replacement();
		silence();
		return;
	}
	if (!getenv(MAL_ENV_SEGMENT_FD) || (wish && strcmp(wish, "keep") == 0) ||
	    getauxval(AT_SECURE) || under_valgrind() || !dlopen(GOMP, RTLD_LAZY | RTLD_NOLOAD) ||
	    dlopen(OMP, RTLD_LAZY | RTLD_NOLOAD))
		return;
	length = readlink("/proc/self/exe", program, sizeof(program) - 1);
	omp = length > 0 ? dlopen(OMP, RTLD_LAZY | RTLD_LOCAL) : NULL;
	if (!omp)
		return;
	program[length] = '\0';
	/* If the loader was named on the command line, the file that runs is not the program. */
	if (!strstr(program, "/ld-linux") && !mal_objects_call_more_than(omp) &&
	    dlinfo(omp, RTLD_DI_LINKMAP, &map) == 0 && add_to_preload(map->l_name))
		execv(program, argv);
	dlclose(omp);
}

void mal_gomp_runtime_starts(void)
{
	gomp.scheduled = gomp.replaced && !getenv("OMP_SCHEDULE") &&
			 setenv("OMP_SCHEDULE", GOMP_SCHEDULE, 1) == 0;
}

void mal_gomp_runtime_started(void)
{
	if (gomp.scheduled)
		unsetenv("OMP_SCHEDULE");
	gomp.scheduled = false;
}

/*
 * glibc passes main's arguments to constructors. This one runs first, before libc knows its
 * variables.
 */
__attribute__((constructor)) static void start(int argc, char **argv, char **variables)
{
	(void)argc;
	mal_sanitizer_step_aside(argv, variables);
	if (!environ)
		environ = variables;
	choose_runtime(argv);
}
