/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools.h: other OMPT tools in the program (Score-P, TAU, DLB). A runtime takes one tool only;
 * theirs goes first.
 */
#pragma once

#include <stdbool.h>

/* The consequence, for messages. */
#define MAL_NOT_TIMED "OpenMP threads are not timed, and share their rank's CPUs"

/*
 * Look for another tool in place of the runtime, with the arguments that it passes to
 * ompt_start_tool(): after us in the order of loaded libraries, then in OMP_TOOL_LIBRARIES. Returns
 * the other tool's answer, NULL if none starts.
 */
void *mal_tools_start(unsigned int omp_version, const char *runtime_version);

/*
 * Whether a tool is before us, in the executable or in a library preloaded before ours, so that the
 * runtime does not ask us.
 */
bool mal_tools_before(void);
