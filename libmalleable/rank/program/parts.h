/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* parts.h: which of the loaded objects are parts of the program. */
#pragma once

#include <link.h>
#include <stdbool.h>

/*
 * Whether the program's results may depend on data of threads in that object. Not in libraries that
 * are known (ours, those of languages and the system, OpenMP runtimes, MPI and what it loads,
 * allocators), nor in such as are only there because these need or load them. To be called by one
 * thread at a time.
 */
bool mal_part_of_program(const struct dl_phdr_info *info);
