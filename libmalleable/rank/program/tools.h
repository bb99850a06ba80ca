/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools.h: other OMPT tools in the program (Score-P, TAU, DLB). A runtime takes one tool only;
 * theirs goes first.
 */
#pragma once

/* The consequence, for messages. */
#define MAL_NOT_TIMED "OpenMP threads are not timed, and share their rank's CPUs"

/*
 * Look for another tool in place of the runtime, with the arguments that it passes to
 * ompt_start_tool(): after us in the order of loaded libraries, then in OMP_TOOL_LIBRARIES. Returns
 * the other tool's answer, NULL if none starts.
 */
void *mal_tools_start(unsigned int omp_version, const char *runtime_version);

/*
 * An address in the tool that is before us, in the executable or in a library preloaded before
 * ours, so that the runtime does not ask us; NULL: none is.
 */
const void *mal_tools_before(void);

/* The file's name of the object that has ADDRESS, without its directory. Static storage. */
const char *mal_tools_file(const void *address);
