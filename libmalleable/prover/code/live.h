/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* live.h: which registers are in use, and which ones calls take. */
#pragma once

#include "libmalleable/prover/code/flow.h"

/*
 * Registers of arguments, in their order; those and of vectors; with those that rare functions are
 * given; what functions keep.
 */
extern const uint8_t mal_arguments[6];
extern const uint64_t mal_given, mal_given_most, mal_saved;

struct mal_live {
	const struct mal_image *image;
	const struct mal_flow_graph *graph;
	/* In use where the function returns; what an unknown call takes; what calls lose. */
	uint64_t returned, unknown, lost;
	/* Of calls that are followed. */
	unsigned int depth;
	/* What is in use where each block begins; what each call takes, where that was asked. */
	uint64_t *blocks, *calls;
};

/* -1 without memory; mal_live_free() in any case. */
int mal_live_make(struct mal_live *live);
void mal_live_find(const struct mal_live *live);
void mal_live_free(struct mal_live *live);

/* What is in use before AT, by what is in use BEHIND it. */
uint64_t mal_live_before(const struct mal_live *live, const struct mal_instruction *at,
			 uint64_t behind);

/* What registers the function takes that CALL calls: UNKNOWN where that is not known. */
uint64_t mal_taken_by(const struct mal_image *image, const struct mal_instruction *call,
		      uint64_t unknown, unsigned int depth);

/* What registers the function at ENTRY takes from its caller. */
uint64_t mal_live_in(const struct mal_image *image, uint64_t entry, unsigned int depth);
