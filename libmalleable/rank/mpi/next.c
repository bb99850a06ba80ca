/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * next.c: the next definition of an MPI function after ours.
 *
 * Invariant: another tool that interposes MPI sees each call (t/t2007-calls.t).
 */
#include "libmalleable/rank/mpi/next.h"

#include <dlfcn.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static void *find_in(void *library, const char *name, const char *version)
{
	return version ? dlvsym(library, name, version) : dlsym(library, name);
}

/*
 * Search libraries in no global scope: a program may load MPI privately, under any name (Python's
 * mpi4py).
 */
static void *find_privately(const char *name, const char *version)
{
	struct link_map *map = NULL;
	void *program = dlopen(NULL, RTLD_LAZY), *object = NULL;

	if (!program || dlinfo(program, RTLD_DI_LINKMAP, &map) < 0)
		return NULL;
	for (; map && !object; map = map->l_next) {
		bool is_other = *map->l_name && !strstr(map->l_name, "/libmalleable");
		void *library = is_other ? dlopen(map->l_name, RTLD_LAZY | RTLD_NOLOAD) : NULL;

		if (!library)
			continue;
		object = find_in(library, name, version);
		dlclose(library);
	}
	return object;
}

/* The executable, which is before us, may have a copy of a data object. */
void *mal_mpi_find(const char *name)
{
	void *object = dlsym(strncmp(name, "ompi_", 5) == 0 ? RTLD_DEFAULT : RTLD_NEXT, name);

	return object ? object : find_privately(name, NULL);
}

void *mal_mpi_find_version(const char *name, const char *version)
{
	void *object = find_in(RTLD_NEXT, name, version);

	return object ? object : find_privately(name, version);
}

/* Open MPI's MPI_ERR_OTHER, an error in the other libraries too. */
static int not_there(void)
{
	return 16;
}

/*
 * A program finds our function even if its MPI lacks it: the call then fails, as in an MPI that
 * does not support it.
 */
void *mal_mpi_next(const char *name)
{
	void *function = mal_mpi_find(name);

	if (function)
		return function;
	fprintf(stderr, "balance: the program calls %s, but no loaded MPI library has it\n", name);
	*(int (**)(void))&function = not_there;
	return function;
}
