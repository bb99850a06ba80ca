/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* regions.h: the parallel regions of a program, by the calls that start them. */
#ifndef MAL_INSPECT_REGIONS_H
#define MAL_INSPECT_REGIONS_H

#include "libmalleable/inspect/starts.h"

/* All regions, each once, sorted by address; and the functions whose address is taken. */
int mal_find_regions(struct mal_program *program, struct mal_starts *starts, struct mal_error *err);

/* Whether a call, or a jump, that starts a region may begin at CODE: 8 bytes at ADDRESS. */
int mal_may_start(const struct mal_image *image, uint64_t address, const uint8_t *code);

#endif
