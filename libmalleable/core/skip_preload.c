/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * skip_preload.c: programs that can be no rank and start none.
 *
 * Invariant: what may start programs or load libraries has ours (t/unit/test_core.c:
 * short_commands_skip_preload; t/t2017-outside.t).
 */
#include "libmalleable/core/skip_preload.h"

#include <stdbool.h>
#include <string.h>

#include "libmalleable/core/elf_file.h"
#include "libmalleable/core/env.h"
#include "libmalleable/core/setup.h"
#include "libmalleable/core/variables.h"

#define PRELOAD "LD_PRELOAD"

/*
 * Libraries that have nothing to do with OpenMP and MPI, and start programs only where these are
 * theirs to start (libselinux for rpm).
 */
static bool is_plain_library(const char *name)
{
	static const char *const names[] = {"libc.so.6",      "libm.so.6",    "libpthread.so.0",
					    "librt.so.1",     "ld-linux-",    "libacl.so.1",
					    "libattr.so.1",   "libcap.so.2",  "libgmp.so.",
					    "libpcre2-8.so.", "libpcre.so.3", "libselinux.so.1",
					    "libtinfo.so.",   "libz.so.1",    NULL};

	return mal_elf_name_is_of(name, names);
}

static bool may_matter(const char *name)
{
	static const char *const names[] = {
		"dlopen",     "dlmopen", "dlsym",   "exec",    "fexecve",	 "posix_spawn",
		"system",     "popen",	 "wordexp", "syscall", "pthread_create", "thrd_create",
		"malleable_", "omp_",	 "GOMP_",   "kmp_",    "__kmpc_",	 "MPI_",
		"PMPI_",      "mpi_",	 NULL};

	return mal_elf_name_is_of(name, names);
}

/* Whether a program that imports NAME, or has a copy of it, may print its environment. */
static bool is_environment(const char *name)
{
	return strcmp(name, "environ") == 0 || strcmp(name, "__environ") == 0;
}

/*
 * A file that needs no library imports nothing, and tells nothing: the loader executes the program
 * that is named behind it, and a static program has its own execve().
 */
static bool needs_plain_libraries(const struct mal_elf_file *file)
{
	size_t count = 0;

	for (size_t i = 0; i < file->entry_count; i++) {
		if (file->entries[i].d_tag != DT_NEEDED)
			continue;
		if (!is_plain_library(mal_elf_file_name(file, file->entries[i].d_un.d_val)))
			return false;
		count++;
	}
	return count > 0;
}

static bool may_skip(const struct mal_elf_file *file)
{
	if (!needs_plain_libraries(file))
		return false;
	for (size_t i = 1; i < file->symbol_count; i++) {
		const char *name = mal_elf_file_name(file, file->symbols[i].st_name);

		if (is_environment(name) ||
		    (file->symbols[i].st_shndx == SHN_UNDEF && may_matter(name)))
			return false;
	}
	return true;
}

/* Whether LIST, of paths to preload, has nothing but our libraries. */
static bool is_all_ours(const char *list)
{
	for (; *list; list += *list != '\0') {
		size_t length = strcspn(list, ": ");

		if (length && !mal_setup_is_ours(list, length))
			return false;
		list += length;
	}
	return true;
}

size_t mal_skip_preload_room(const char *path, char *const *environment)
{
	const char *preload = mal_variable(environment, PRELOAD);
	struct mal_elf_file file;
	bool skips;

	if (!preload || !mal_variable(environment, MAL_ENV_SEGMENT_FD) || !is_all_ours(preload) ||
	    !mal_elf_file_open(&file, path))
		return 0;
	skips = may_skip(&file);
	mal_elf_file_close(&file);
	return skips ? mal_variables_room(environment, 0) : 0;
}

char *const *mal_skip_preload(char *const *environment, void *room)
{
	mal_variables_copy(environment, room);
	mal_variable_remove(room, PRELOAD);
	return room;
}
