/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * sites.h: the calls that start parallel regions, and what is proved of the regions that they
 * start. A running program knows a region by such a call: by the address that it returns to.
 */
#ifndef MAL_INSPECT_SITES_H
#define MAL_INSPECT_SITES_H

#include <stddef.h>
#include <stdint.h>

#include "libmalleable/base/error.h"

/* What is proved of a region. */
enum mal_proof {
	MAL_PROOF_BOUND,
	/* Free, if iterations are divided by thread numbers as gcc does it, for a loop alone. */
	MAL_PROOF_OPEN,
	MAL_PROOF_FREE,
};

struct mal_site {
	/* What the call returns to, as in the file: less what it is loaded at. */
	uint64_t address;
	enum mal_proof proof;
	/* The region's function, or its address, and why it is bound. */
	char text[96];
};

struct mal_sites {
	/* Sorted by address, each once. */
	struct mal_site *sites;
	size_t count;
	/* Calls that may start a region and are not among these: bound. */
	size_t unknown;
	/* Why nothing is known of any region, or NULL. */
	const char *trouble;
};

/*
 * The sites of an ELF file, by its bytes. What is not classified by the time DEADLINE_NS of
 * mal_now_ns() is bound. Never to be called as root: it reads what users wrote.
 */
int mal_inspect_sites(const uint8_t *bytes, size_t size, uint64_t deadline_ns,
		      struct mal_sites *sites, struct mal_error *err);
void mal_sites_free(struct mal_sites *sites);

/* The type of mal_inspect_sites(), for who finds it by its name. */
typedef int mal_sites_function(const uint8_t *bytes, size_t size, uint64_t deadline_ns,
			       struct mal_sites *sites, struct mal_error *err);

#endif
