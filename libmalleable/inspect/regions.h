/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* regions.h: the parallel regions of a program, by the calls that start them. */
#ifndef MAL_INSPECT_REGIONS_H
#define MAL_INSPECT_REGIONS_H

#include "libmalleable/inspect/program.h"

/* All regions, each once, sorted by address. */
int mal_find_regions(struct mal_program *program, struct mal_starts *starts, struct mal_error *err);

#endif
