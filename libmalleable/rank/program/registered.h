/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * registered.h: the entry by which runtimes of LLVM's family find each other in a process.
 *
 * The first one to start enters itself under the process's number, each further one ends the
 * program (libomp: "OMP: Error #15"; kmp_runtime.cpp, __kmp_register_library_startup).
 */
#ifndef MAL_RANK_PROGRAM_REGISTERED_H
#define MAL_RANK_PROGRAM_REGISTERED_H

/* Remove this process's entry if it is that of the runtime at BASE, which itself looks no more. */
void mal_registered_remove(const void *base);

#endif
