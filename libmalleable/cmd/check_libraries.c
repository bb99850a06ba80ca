/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * check_libraries.c: malleable admin check: whether this node has the libraries that steps need:
 * those of our own files, which the dynamic linker lists, and those that are loaded as a step runs.
 *
 * Invariant: a step's report names no library that was found here (t/t2016-absent.t).
 */
#include "libmalleable/cmd/check_libraries.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "libmalleable/base/printable.h"
#include "libmalleable/core/absent.h"
#include "libmalleable/core/built.h"

/* As ldd does; the words are in the environment, as the shell would read them. */
#define COMMAND "exec \"$MALLEABLE_LOADER\" --list \"$MALLEABLE_FILE\" 2>&1"
#define NOT_FOUND " => not found"
#define FAILED "error while loading shared libraries: "

static unsigned int missing;

static void complain(const char *who, const char *why, const char *rest)
{
	mal_print_line(stderr, "malleable admin check: %s: %s%s", who, why, rest);
	missing++;
}

/* The libraries of the file PATH, and theirs. */
static void check_file(const char *path)
{
	char line[PATH_MAX + 512], *end;
	FILE *stream;

	if (access(path, R_OK) < 0 || setenv("MALLEABLE_FILE", path, 1) < 0 ||
	    !(stream = popen(COMMAND, "re")))
		return;
	while (fgets(line, sizeof(line), stream)) {
		line[strcspn(line, "\n")] = '\0';
		if ((end = strstr(line, NOT_FOUND))) {
			*end = '\0';
			complain(path, "cannot be loaded on this node without ",
				 line + strspn(line, "\t "));
		} else if ((end = strstr(line, FAILED))) {
			complain(path, "cannot be loaded on this node: ", end + strlen(FAILED));
		}
	}
	pclose(stream);
}

static void check_files(const char *libdir)
{
	static const char *const names[] = {"malleabled",	   "malleable-join",
					    "malleable-policy",	   "malleable-slurm",
					    "malleable-store",	   "libmalleable.so",
					    "libmalleable_mpi.so", "libmalleable_prove.so",
					    "compat/libdlb.so",	   "compat/libgeopm.so"};
	char path[PATH_MAX];
	Dl_info loader;

	/* Its own name is the one by which it was executed. */
	if (!dladdr((void *)getauxval(AT_BASE), &loader) ||
	    setenv("MALLEABLE_LOADER", loader.dli_fname, 1) < 0)
		return;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", libdir, names[i]);
		check_file(path);
	}
}

/* Of a library whose name has no version here our own file tells. */
static void check_loaded(const struct mal_library *library)
{
	const char *end = strrchr(library->file, '.');
	char why[512];
	void *handle;

	if (strcmp(end, ".so") == 0 || (library->part && !mal_built_has(library->part)))
		return;
	handle = dlopen(library->file, RTLD_LAZY | RTLD_LOCAL);
	if (handle) {
		dlclose(handle);
		return;
	}
	snprintf(why, sizeof(why), "cannot be loaded on this node: %s; install ", library->lost);
	complain(library->file, why, library->install);
}

unsigned int mal_check_libraries(const char *libdir)
{
	const struct mal_library *library;

	missing = 0;
	check_files(libdir);
	for (size_t i = 0; (library = mal_library_at(i)); i++)
		check_loaded(library);
	return missing;
}
