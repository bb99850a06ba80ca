/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools.c: other OMPT tools in the program (OpenMP 5.1, 4.2.2 and 6.20: tool-libraries-var).
 *
 * Invariant: a tool of the user's runs as without us (t/t2010-compatibility.t).
 */
#include "libmalleable/rank/program/tools.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libmalleable/base/symbols.h"

#define START_TOOL "ompt_start_tool"
#define TOOL_LIBRARIES "OMP_TOOL_LIBRARIES"

/* In place of ompt_start_tool_result_t *, which is passed on unchanged. */
typedef void *(*start_tool)(unsigned int omp_version, const char *runtime_version);

static void *ask(void *scope, unsigned int omp_version, const char *runtime_version)
{
	start_tool start;

	*(void **)&start = dlsym(scope, START_TOOL);
	return start ? start(omp_version, runtime_version) : NULL;
}

void *mal_tools_start(unsigned int omp_version, const char *runtime_version)
{
	const char *libraries = getenv(TOOL_LIBRARIES);
	char *list = libraries ? strdup(libraries) : NULL, *save = NULL;
	/*
	 * The runtime's own function of that name comes here too: it finds no tool after itself,
	 * and returns NULL.
	 */
	void *result = ask(RTLD_NEXT, omp_version, runtime_version);

	for (char *path = list ? strtok_r(list, ":", &save) : NULL; path && !result;
	     path = strtok_r(NULL, ":", &save)) {
		void *library = dlopen(path, RTLD_LAZY);

		result = library ? ask(library, omp_version, runtime_version) : NULL;
		if (library && !result)
			dlclose(library);
	}
	free(list);
	return result;
}

const void *mal_tools_before(void)
{
	const void *first = dlsym(RTLD_DEFAULT, START_TOOL);

	return mal_object_of(first) == mal_object_of((const void *)mal_tools_before) ? NULL : first;
}

const char *mal_tools_file(const void *address)
{
	static char name[64];
	Dl_info info;
	const char *path = dladdr(address, &info) && info.dli_fname ? info.dli_fname : "?";
	const char *slash = strrchr(path, '/');

	snprintf(name, sizeof(name), "%s", slash ? slash + 1 : path);
	return name;
}
