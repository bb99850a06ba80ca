/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * region_verdicts.h: which of the program's regions may have any team (prover/code), by their
 * functions: in the objects that are loaded, also later, as long as they are.
 *
 * All is for one thread at a time.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "libmalleable/prover/prove.h"
#include "libmalleable/prover/rank/reader.h"

/*
 * Classify the regions of what is loaded now. What takes too long is bound, until it is read in the
 * background. Returns false with *TROUBLE, static storage, if nothing can be found out.
 */
bool mal_regions_open(struct mal_reader_share share, const char **trouble);

/* Whether some of it is not read yet: regions that are bound now may be free later. */
bool mal_regions_are_unread(void);

/* The region of FUNCTION. Looks first whether objects were loaded or unloaded since. */
struct mal_region_verdict mal_region_of(const void *function);

/* Its name and why it is bound, also where nothing is known of it. */
void mal_region_why(const void *function, char *text, size_t size);

/*
 * Whether there are regions, and all that the program may start are free. If not, TEXT is a region
 * that is not and why, or empty if there are none.
 */
bool mal_regions_are_free(char *text, size_t size);
