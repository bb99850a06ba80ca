/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * inspect.h: which parallel regions of a program can tell how large their team is. A region is free
 * where it is proved that no thread more or less can be noticed; it is bound otherwise, and
 * whatever is not understood is bound.
 */
#ifndef MAL_INSPECT_INSPECT_H
#define MAL_INSPECT_INSPECT_H

#include <stddef.h>
#include <stdint.h>

#include "libmalleable/base/error.h"

struct mal_verdict {
	/* Of the region's function, as in the file: less what it is loaded at. */
	uint64_t address;
	/* Its name, or NULL where the file is stripped. */
	char *name;
	int free;
	/* Why it is bound, and the function or the address that shows it; NULL if free. */
	char *reason;
};

struct mal_inspection {
	/* Sorted by address. */
	struct mal_verdict *verdicts;
	size_t count;
	/* Why nothing is known of any region, or NULL. */
	const char *trouble;
};

/*
 * Classify the regions of an ELF file by its bytes. The work is bounded whatever the bytes are.
 * Never to be called as root: it reads what users wrote.
 */
int mal_inspect(const uint8_t *bytes, size_t size, struct mal_inspection *inspection,
		struct mal_error *err);

/* The verdict on the region whose function is at ADDRESS, NULL where none is known: bound. */
const struct mal_verdict *mal_inspection_find(const struct mal_inspection *inspection,
					      uint64_t address);
void mal_inspection_free(struct mal_inspection *inspection);

#endif
