/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * registered.c: the entry by which runtimes of LLVM's family find each other in a process.
 *
 * Invariant: a process leaves no entry that it would not leave without us (t/t2012-gomp.t).
 *
 * The first one to start enters itself under the process's number, each further one ends the
 * program (libomp: "OMP: Error #15"; kmp_runtime.cpp, __kmp_register_library_startup). A libomp
 * that runs only because of us writes its entry where nobody looks: a library may bring a runtime
 * that bears libgomp, and a process that ends by _exit() would leave a file.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "libmalleable/rank/program/gomp.h"

#define ENTRY "/__KMP_REGISTERED_LIB_"

/* Where glibc is older than 2.34 a library has it whose users may have loaded it for themselves. */
static void *next_open(void)
{
	void *next = dlsym(RTLD_NEXT, "shm_open"), *library;

	if (next)
		return next;
	library = dlopen("librt.so.1", RTLD_LAZY | RTLD_NOLOAD);
	return library ? dlsym(library, "shm_open") : NULL;
}

int shm_open(const char *name, int flags, mode_t mode)
{
	static __typeof__(shm_open) *next;

	if (strncmp(name, ENTRY, strlen(ENTRY)) == 0 &&
	    mal_gomp_is_replacement(__builtin_return_address(0))) {
		if (flags & O_CREAT)
			return memfd_create(name + 1, MFD_CLOEXEC);
		errno = ENOENT;
		return -1;
	}
	if (!next)
		*(void **)&next = next_open();
	if (next)
		return next(name, flags, mode);
	errno = ENOSYS;
	return -1;
}
