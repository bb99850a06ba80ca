/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libomp.h: the file of LLVM's runtime, found and read before it is loaded: dlopen() would run
 * constructors, and call what other libraries replace.
 */
#pragma once

#include <limits.h>
#include <stdbool.h>

#include "libmalleable/core/elf_file.h"

#define MAL_LIBOMP "libomp.so.5"

struct mal_libomp {
	char path[PATH_MAX];
	struct mal_elf_file file;
};

/*
 * Find it where ld.so would look for a library that ours needs: LD_LIBRARY_PATH, ld.so's cache, the
 * usual directories; at last beside the file NEIGHBOR. The caller closes its file. Returns false if
 * it is nowhere.
 */
bool mal_libomp_open(struct mal_libomp *libomp, const char *neighbor);

/* Whether it defines NAME. */
bool mal_libomp_has(const struct mal_libomp *libomp, const char *name);
