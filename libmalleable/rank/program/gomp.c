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
#include <limits.h>
#include <link.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "libmalleable/core/env.h"
#include "libmalleable/rank/program/gomp_only.h"
#include "libmalleable/rank/program/gomp_variables.h"
#include "libmalleable/rank/program/objects.h"
#include "libmalleable/rank/program/outside.h"
#include "libmalleable/rank/program/registered.h"
#include "libmalleable/rank/program/sanitizer.h"

#define GOMP "libgomp.so.1"
#define OMP "libomp.so.5"
/*
 * Set before the program executes itself again, so that it does so once: the process's number, one
 * of the words below, and the name that the process had.
 */
#define REPLACED "MALLEABLE_REPLACED"
#define WORD_REPLACED "replaced"
#define WORD_KEPT "kept"
/* The file that runs, whatever its name. */
#define RUNNING "/proc/self/exe"

static struct {
	bool replaced; /* the program was built for libgomp and runs on libomp */
	const void *replacement;
	struct mal_runtime original;
	/* Variables of OpenMP: as libgomp read them, and as the program has set them since. */
	char **at_start, **programs;
	cpu_set_t cpus; /* of the first thread, before libgomp was initialised */
} gomp;

/* Whether the program has executed itself again, and what came of it. */
static bool has_begun_again(bool *replaced)
{
	const char *value = getenv(REPLACED);
	char word[16], name[16] = "";
	int pid;

	if (!value || sscanf(value, "%d %15s %15[^\n]", &pid, word, name) < 2 || pid != getpid())
		return false;
	*replaced = strcmp(word, WORD_REPLACED) == 0;
	if (*name)
		prctl(PR_SET_NAME, name);
	return true;
}

/*
 * Let programs that this one starts choose for themselves. Edits in place: libc has not started,
 * and takes over the kernel's variables later.
 */
static void forget_replacement(void)
{
	char *preload = getenv("LD_PRELOAD");
	char *last = preload && gomp.replaced ? strrchr(preload, ':') : NULL;

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

/* Which object has FUNCTION of HANDLE. NULL: none. */
static const void *base_of(void *handle, const char *function)
{
	void *address = handle ? dlsym(handle, function) : NULL;
	Dl_info info;

	return address && dladdr(address, &info) ? info.dli_fbase : NULL;
}

/*
 * Not before libc's constructors: dlopen() would run them, without the program's arguments. Several
 * threads find the same.
 */
static void find_runtimes(void)
{
	static _Atomic bool found;
	void *library, *function;

	if (!gomp.replaced || found)
		return;
	library = dlopen(GOMP, RTLD_LAZY | RTLD_NOLOAD);
	function = library ? dlsym(library, "omp_get_max_threads") : NULL;
	gomp.replacement = base_of(dlopen(OMP, RTLD_LAZY | RTLD_NOLOAD), "omp_get_max_threads");
	if (function)
		mal_runtime_read(function, &gomp.original);
	found = true;
}

const struct mal_runtime *mal_gomp_original(const struct mal_runtime *runtime)
{
	find_runtimes();
	return gomp.replaced && runtime && runtime->base == gomp.replacement &&
			       gomp.original.get_num_places
		       ? &gomp.original
		       : NULL;
}

/* The CPUs of the first place are in PLACE. */
static bool first_place(cpu_set_t *place)
{
	int ids[CPU_SETSIZE];
	int count = gomp.original.get_num_places ? gomp.original.get_num_places() : 0;

	count = count > 0 ? gomp.original.get_place_num_procs(0) : 0;
	if (count <= 0 || count > CPU_SETSIZE)
		return false;
	gomp.original.get_place_proc_ids(0, ids);
	CPU_ZERO(place);
	for (int i = 0; i < count; i++)
		if (ids[i] >= 0 && ids[i] < CPU_SETSIZE)
			CPU_SET(ids[i], place);
	return true;
}

void mal_gomp_unbind(void)
{
	cpu_set_t place, now;

	find_runtimes();
	CPU_ZERO(&now);
	if (!gomp.replaced || !first_place(&place) ||
	    syscall(SYS_sched_getaffinity, getpid(), sizeof(now), &now) < 0 ||
	    !CPU_EQUAL(&now, &place) || CPU_EQUAL(&now, &gomp.cpus))
		return;
	syscall(SYS_sched_setaffinity, getpid(), sizeof(gomp.cpus), &gomp.cpus);
}

/* Add PATH at the end of LD_PRELOAD: our functions stay before the runtime's. */
static bool add_to_preload(const char *path)
{
	const char *before = getenv("LD_PRELOAD");
	char *value;
	bool done;

	if (asprintf(&value, "%s%s%s", before ? before : "", before && *before ? ":" : "", path) <
	    0)
		return false;
	done = setenv("LD_PRELOAD", value, 1) == 0;
	free(value);
	return done;
}

static bool is_running(const char *name, const struct stat *running)
{
	struct stat named;

	return name && stat(name, &named) == 0 && named.st_dev == running->st_dev &&
	       named.st_ino == running->st_ino;
}

/*
 * The name by which PROGRAM was executed, if it still is the same file: AT_EXECFN says it. A file
 * may have been removed, or replaced.
 */
static const char *name_of(const char *program)
{
	const char *name = (const char *)getauxval(AT_EXECFN);
	struct stat running;

	if (stat(RUNNING, &running) < 0)
		return program;
	if (is_running(name, &running))
		return name;
	return is_running(program, &running) ? program : RUNNING;
}

/* Returns if it cannot be. RUNTIME is the path of libomp if that shall run; NULL: libgomp. */
static void execute_again(const char *program, char **argv, const char *runtime)
{
	const char *before = getenv("LD_PRELOAD");
	char *preload = before ? strdup(before) : NULL;
	char name[16] = "", value[64];

	if (before && !preload)
		return;
	prctl(PR_GET_NAME, name);
	snprintf(value, sizeof(value), "%d %s %s", (int)getpid(),
		 runtime ? WORD_REPLACED : WORD_KEPT, name);
	if (setenv(REPLACED, value, 1) == 0 && (!runtime || add_to_preload(runtime)))
		execv(name_of(program), argv);
	/* What this program starts is not to have it either. */
	if (preload)
		setenv("LD_PRELOAD", preload, 1);
	else
		unsetenv("LD_PRELOAD");
	free(preload);
	unsetenv(REPLACED);
}

/*
 * A program that executes itself again would run outside valgrind, which preloads its own library.
 */
static bool under_valgrind(void)
{
	const char *preload = getenv("LD_PRELOAD");

	return preload && strstr(preload, "/vgpreload_");
}

static int has_name(struct dl_phdr_info *info, size_t size, void *name)
{
	const char *file = strrchr(info->dlpi_name, '/');

	(void)size;
	return strcmp(file ? file + 1 : info->dlpi_name, name) == 0;
}

/* dlopen() would initialise it: libgomp binds the thread, and prints what OMP_DISPLAY_ENV wants. */
static bool is_loaded(char *name)
{
	return dl_iterate_phdr(has_name, name);
}

/* After the program has executed itself again. */
static void go_on(void)
{
	forget_replacement();
	if (!gomp.replaced)
		return;
	silence();
	gomp.at_start = mal_gomp_copy_variables();
	syscall(SYS_sched_getaffinity, 0, sizeof(gomp.cpus), &gomp.cpus);
}

static void choose_runtime(char **argv)
{
	const char *wish = getenv(MAL_ENV_GOMP);
	char program[4096];
	struct link_map *map;
	ssize_t length;
	void *omp;

	if (has_begun_again(&gomp.replaced)) {
		go_on();
		return;
	}
	if (!getenv(MAL_ENV_SEGMENT_FD) || (wish && strcmp(wish, "keep") == 0) ||
	    getauxval(AT_SECURE) || under_valgrind() || !is_loaded(GOMP) || is_loaded(OMP) ||
	    mal_gomp_is_wanted())
		return;
	length = readlink(RUNNING, program, sizeof(program) - 1);
	program[length > 0 ? length : 0] = '\0';
	/* If the loader was named on the command line, the file that runs is not the program. */
	if (!*program || strstr(program, "/ld-linux"))
		return;
	omp = dlopen(OMP, RTLD_LAZY | RTLD_LOCAL);
	if (!omp)
		return;
	/* It has run libc's constructors without arguments, so the program begins again anyway. */
	if (!mal_objects_call_more_than(omp) && dlinfo(omp, RTLD_DI_LINKMAP, &map) == 0)
		execute_again(program, argv, map->l_name);
	else
		execute_again(program, argv, NULL);
	dlclose(omp);
}

bool mal_gomp_manages(const void *caller)
{
	Dl_info info;

	find_runtimes();
	if (!gomp.replaced || !gomp.replacement ||
	    (dladdr(caller, &info) && info.dli_fbase == gomp.replacement))
		return true;
	/* In a forked child libomp has entered itself again. */
	mal_registered_remove(gomp.replacement);
	return false;
}

void mal_gomp_runtime_starts(void)
{
	if (!gomp.replaced || !gomp.at_start || gomp.programs)
		return;
	find_runtimes();
	gomp.programs = mal_gomp_copy_variables();
	if (!gomp.programs)
		return;
	mal_gomp_put_variables(gomp.at_start);
	mal_gomp_translate(&gomp.original);
	/* A library of the program's may have started a runtime of LLVM's before. */
	setenv("KMP_DUPLICATE_LIB_OK", "TRUE", 1);
}

void mal_gomp_runtime_started(void)
{
	if (!gomp.programs)
		return;
	/* One may start one later, which bears libgomp. */
	mal_registered_remove(gomp.replacement);
	mal_gomp_put_variables(gomp.programs);
	mal_gomp_free_variables(gomp.programs);
	gomp.programs = NULL;
}

/*
 * glibc passes main's arguments to constructors. This one runs first, before libc knows its
 * variables.
 */
__attribute__((constructor(101))) static void start(int argc, char **argv, char **variables)
{
	(void)argc;
	if (mal_sanitizer_step_aside(argv, variables))
		return;
	if (!environ)
		environ = variables;
	mal_outside_clean_up();
	choose_runtime(argv);
}
