/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* waits.h: loops in which a thread waits for what another one writes. */
#ifndef MAL_INSPECT_WAITS_H
#define MAL_INSPECT_WAITS_H

#include "libmalleable/inspect/decode.h"

/*
 * Whether one of COUNT instructions, sorted by address, is the end of a loop that only goes on
 * until memory changes which the loop itself leaves alone. Such a thread needs another one.
 */
int mal_waits(const struct mal_image *image, const struct mal_instruction *instructions,
	      size_t count);

#endif
