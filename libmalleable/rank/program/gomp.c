/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * gomp.c: run a program built for GCC's libgomp on LLVM's libomp, which reports its threads.
 *
 * Invariant: a program for libgomp runs on libomp as by libgomp, and what it executes has its
 * environment (t/t2012-gomp.t, t/t2006-builds.t).
 *
 * libgomp has no OMPT; libomp has the GOMP_ entry points. A program that needs libgomp executes
 * itself again with libomp preloaded, before anything else runs: the library is linked with -z
 * initfirst, so that no constructor runs twice. Until then nothing is called that another library
 * may replace, as that waits for its own constructor. It does not if it, or a library of it, calls
 * a function that libomp lacks: those calls would go to libgomp, and two runtimes in one program do
 * not know of each other. Wrapper scripts come here too, each program by itself. A library loaded
 * later (a Python module) is not seen here and keeps libgomp.
 */
#include "libmalleable/rank/program/gomp.h"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "libmalleable/base/raw.h"
#include "libmalleable/base/symbols.h"
#include "libmalleable/core/env.h"
#include "libmalleable/core/inside.h"
#include "libmalleable/core/setup.h"
#include "libmalleable/core/variables.h"
#include "libmalleable/rank/program/gomp_only.h"
#include "libmalleable/rank/program/gomp_variables.h"
#include "libmalleable/rank/program/libomp.h"
#include "libmalleable/rank/program/objects.h"
#include "libmalleable/rank/program/sanitizer.h"

#define GOMP "libgomp.so.1"
/*
 * Set before the program executes itself again, so that it does so once: the process's number, and
 * the name that the process had.
 */
#define REPLACED "MALLEABLE_REPLACED"
/* A longer environment is left alone: what is added to it is on the stack. */
#define LONGEST 65536
/* The file that runs, whatever its name. */
#define RUNNING "/proc/self/exe"
/* The words of the command by which it was executed: the loader takes its own out of argv. */
#define COMMAND "/proc/self/cmdline"

static struct {
	bool replaced;		   /* the program was built for libgomp and runs on libomp */
	bool alone;		   /* it keeps libgomp, as there is no libomp */
	enum mal_mode_reason kept; /* why it keeps that otherwise */
	const void *replacement;
	struct mal_runtime original;
	/* Variables of OpenMP: as libgomp read them, and as the program has set them since. */
	char **at_start, **programs;
	cpu_set_t cpus; /* of the first thread, before libgomp was initialised */
} gomp;

/* Whether the program has executed itself again. */
static bool has_begun_again(void)
{
	const char *value = mal_variable(environ, REPLACED);
	char *name;

	if (!value || strtol(value, &name, 10) != MAL_RAW(SYS_getpid))
		return false;
	if (*name == ' ')
		MAL_RAW(SYS_prctl, PR_SET_NAME, name + 1);
	return true;
}

/*
 * Let programs that this one starts choose for themselves. Edits in place: libc has not started,
 * and takes over the kernel's variables later.
 */
static void forget_replacement(void)
{
	char *preload = mal_variable(environ, "LD_PRELOAD");
	char *last = preload ? strrchr(preload, ':') : NULL;

	if (last)
		*last = '\0';
	mal_variable_remove(environ, REPLACED);
}

/* libomp warns about omp_set_nested(), libgomp does not: turn that off. */
static void silence(void)
{
	void (*warnings_off)(void);

	*(void **)&warnings_off = dlsym(RTLD_DEFAULT, "kmp_set_warnings_off");
	if (warnings_off && !getenv("KMP_WARNINGS"))
		warnings_off();
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
	library = dlopen(MAL_LIBOMP, RTLD_LAZY | RTLD_NOLOAD);
	if (library)
		gomp.replacement = mal_object_of(dlsym(library, "omp_get_max_threads"));
	library = dlopen(GOMP, RTLD_LAZY | RTLD_NOLOAD);
	function = library ? dlsym(library, "omp_get_max_threads") : NULL;
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

static bool is_running(const char *name, const struct stat *running)
{
	struct stat named;

	return name && MAL_RAW(SYS_newfstatat, AT_FDCWD, name, &named) == 0 &&
	       named.st_dev == running->st_dev && named.st_ino == running->st_ino;
}

/* Read up to SIZE bytes of the file PATH. Returns how many, 0: none. */
static size_t read_file(const char *path, char *bytes, size_t size)
{
	long fd = MAL_RAW(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC), got = 0;
	size_t length = 0;

	while (fd >= 0 && length < size &&
	       (got = MAL_RAW(SYS_read, fd, bytes + length, size - length)) > 0)
		length += (size_t)got;
	if (fd >= 0)
		MAL_RAW(SYS_close, fd);
	return got < 0 ? 0 : length;
}

/* What the kernel said of KIND when it executed the program (getauxval(3)); 0: nothing. */
static unsigned long auxiliary(unsigned long kind)
{
	ElfW(auxv_t) entries[64];
	size_t size = read_file("/proc/self/auxv", (char *)entries, sizeof(entries));

	for (size_t i = 0; i < size / sizeof(entries[0]); i++)
		if (entries[i].a_type == kind)
			return entries[i].a_un.a_val;
	return 0;
}

/*
 * The name by which PROGRAM was executed, if it still is the same file: AT_EXECFN says it. A file
 * may have been removed, or replaced.
 */
static const char *name_of(const char *program)
{
	const char *name = (const char *)auxiliary(AT_EXECFN);
	struct stat running;

	if (MAL_RAW(SYS_newfstatat, AT_FDCWD, RUNNING, &running) < 0)
		return program;
	if (is_running(name, &running))
		return name;
	return is_running(program, &running) ? program : RUNNING;
}

/* "NAME=A:B" at *AT, which moves on behind it; without the colon where A is empty. */
static char *put(char **at, const char *name, const char *a, const char *b)
{
	char *begin = *at;

	*at = stpcpy(stpcpy(stpcpy(begin, name), "="), a);
	*at = stpcpy(*a ? stpcpy(*at, ":") : *at, b) + 1;
	return begin;
}

/* This process's number, and the name that it has, into TEXT. */
static void name_process(char text[64])
{
	char digits[16], *digit = digits + sizeof(digits);

	for (long pid = MAL_RAW(SYS_getpid); pid; pid /= 10)
		*--digit = (char)('0' + pid % 10);
	memcpy(text, digit, (size_t)(digits + sizeof(digits) - digit));
	text += digits + sizeof(digits) - digit;
	*text++ = ' ';
	*text = '\0';
	MAL_RAW(SYS_prctl, PR_GET_NAME, text);
}

/*
 * With RUNTIME, a path, at the end of LD_PRELOAD: our functions stay before the runtime's. Returns
 * if it cannot be.
 */
static void execute_again(const char *program, char **argv, const char *runtime)
{
	const char *before = mal_variable(environ, "LD_PRELOAD");
	size_t count = 0, length = strlen(runtime) + (before ? strlen(before) : 0) + 128;
	char **variables, *texts, process[64];

	while (environ[count])
		count++;
	if (length > LONGEST || count > LONGEST)
		return;
	variables = __builtin_alloca((count + 3) * sizeof(*variables));
	texts = __builtin_alloca(length);
	memcpy(variables, environ, (count + 1) * sizeof(*variables));
	mal_variable_remove(variables, "LD_PRELOAD");
	mal_variable_remove(variables, REPLACED);
	for (count = 0; variables[count];)
		count++;
	name_process(process);
	variables[count++] = put(&texts, "LD_PRELOAD", before ? before : "", runtime);
	variables[count++] = put(&texts, REPLACED, "", process);
	variables[count] = NULL;
	MAL_RAW(SYS_execve, name_of(program), argv, variables);
}

/* The same where the command named LOADER, which was executed instead. */
static void execute_command_again(const char *loader, const char *runtime)
{
	char *words = __builtin_alloca(LONGEST), **argv;
	size_t length = read_file(COMMAND, words, LONGEST), count = 0;

	if (!length || length == LONGEST)
		return;
	for (size_t i = 0; i < length; i++)
		count += !words[i];
	argv = __builtin_alloca((count + 1) * sizeof(*argv));
	argv[count] = NULL;
	for (size_t i = 0; i < count; i++, words += strlen(words) + 1)
		argv[i] = words;
	execute_again(loader, argv, runtime);
}

/*
 * A program that executes itself again would run outside valgrind, which preloads its own library.
 */
static bool under_valgrind(void)
{
	const char *preload = mal_variable(environ, "LD_PRELOAD");

	return preload && strstr(preload, "/vgpreload_");
}

/* The path of the loaded file NAME; NULL: it is not loaded. */
static const char *path_of(const char *name)
{
	for (const struct link_map *map = _r_debug.r_map; map; map = map->l_next)
		if (strcmp(basename(map->l_name), name) == 0)
			return map->l_name;
	return NULL;
}

/* After the program has executed itself again. */
static void go_on(void)
{
	forget_replacement();
	gomp.replaced = true;
	MAL_RAW(SYS_sched_getaffinity, 0, sizeof(gomp.cpus), &gomp.cpus);
}

void mal_gomp_open(void)
{
	if (!gomp.replaced || gomp.at_start)
		return;
	silence();
	gomp.at_start = mal_gomp_copy_variables();
}

/* Whether the file that runs has no loader, as it is the loader: the command named that. */
static bool is_loader(void)
{
	return !auxiliary(AT_BASE);
}

static void choose_runtime(char **argv)
{
	const char *wish = mal_variable(environ, MAL_ENV_GOMP);
	struct mal_libomp libomp;
	char program[4096];
	long length;

	if (has_begun_again()) {
		go_on();
		return;
	}
	if (!mal_variable(environ, MAL_ENV_SEGMENT_FD) || (wish && strcmp(wish, "keep") == 0) ||
	    !path_of(GOMP) || path_of(MAL_LIBOMP) || auxiliary(AT_SECURE) || under_valgrind() ||
	    !mal_gomp_may_be_replaced())
		return;
	length = MAL_RAW(SYS_readlinkat, AT_FDCWD, RUNNING, program, sizeof(program) - 1);
	program[length > 0 ? length : 0] = '\0';
	if (!*program)
		return;
	gomp.kept = mal_gomp_is_crowded()  ? MAL_REASON_CROWDED
		    : mal_gomp_is_wanted() ? MAL_REASON_LIBGOMP
					   : MAL_REASON_NONE;
	gomp.alone = !gomp.kept && !mal_libomp_open(&libomp, path_of(GOMP));
	if (gomp.kept || gomp.alone)
		return;
	if (mal_objects_call_more_than(&libomp))
		gomp.kept = MAL_REASON_LIBGOMP;
	else if (is_loader())
		execute_command_again(program, libomp.path);
	else
		execute_again(program, argv, libomp.path);
	mal_elf_file_close(&libomp.file);
}

enum mal_mode_reason mal_gomp_kept(void)
{
	return gomp.kept;
}

bool mal_gomp_is_alone(void)
{
	return gomp.alone;
}

bool mal_gomp_is_replacement(const void *caller)
{
	find_runtimes();
	return gomp.replacement && mal_object_of(caller) == gomp.replacement;
}

bool mal_gomp_manages(const void *caller)
{
	return mal_gomp_is_replacement(caller) || !gomp.replacement;
}

void mal_gomp_runtime_starts(void)
{
	mal_gomp_open();
	if (!gomp.replaced || !gomp.at_start || gomp.programs)
		return;
	find_runtimes();
	gomp.programs = mal_gomp_copy_variables();
	if (!gomp.programs)
		return;
	mal_gomp_put_variables(gomp.at_start);
	mal_gomp_translate(&gomp.original);
}

void mal_gomp_runtime_started(void)
{
	if (!gomp.programs)
		return;
	mal_gomp_put_variables(gomp.programs);
	mal_gomp_free_variables(gomp.programs);
	gomp.programs = NULL;
}

/*
 * Outside the step that its environment names this process goes on as without us, and so do those
 * that it starts. Edits in place: libc has not started.
 */
static void clean_up_outside(void)
{
	if (mal_variable(environ, MAL_ENV_SEGMENT_FD) && !mal_inside())
		mal_setup_remove(&mal_setup_own);
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
	clean_up_outside();
	choose_runtime(argv);
}
