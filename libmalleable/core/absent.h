/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * absent.h: the libraries that are loaded while a step runs, and may be on no node of a site.
 *
 * Invariant: what a program of the step missed is told in its report (t/t2016-absent.t).
 */
#pragma once

#include <stddef.h>

/* Numbers of bits in mal_header.absent. */
enum mal_absent { MAL_ABSENT_LIBOMP, MAL_ABSENT_ZYDIS, MAL_ABSENT_PMIX };

struct mal_library {
	const char *file; /* as the dynamic linker is asked for it; for Zydis the name's begin */
	const char *part; /* of the build that loads it, NULL: each does */
	const char *lost, *install;
};

/* Row I of the table, by enum mal_absent; NULL behind the last. */
const struct mal_library *mal_library_at(size_t i);
