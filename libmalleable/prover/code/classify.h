/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * classify.h: which parallel regions of a program may have any team. A region is free where no
 * thread can find out which one it is or how many there are, with an effect beyond choosing
 * iterations; every other one is bound, with what is not understood.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libmalleable/base/error.h"

/* What is proved of one region. */
struct mal_verdict {
	/* Of the outlined function, as in the file: less what it is loaded at. */
	uint64_t address;
	/* Its name, or NULL where the file is stripped. */
	char *name;
	bool free;
	/*
	 * Free as far as this file goes, but it calls through pointers: bound if another object
	 * of the process has TAKEN_TELLS.
	 */
	bool indirect;
	/* Why it is bound, with the function that shows it; NULL if free. */
	char *reason;
	/*
	 * Of a free one, else NULL. Why it may be right with one thread alone: a team of one must
	 * not grow. Why the number of threads may change the last bits of results.
	 */
	char *alone, *sums;
	/* The instruction that shows it, as in the file, or 0. */
	uint64_t where;
};

/* A question about another object, which verdicts rely on, and its answer. */
struct mal_question {
	char *symbol;
	bool observes_team;
};

/* The verdicts on all regions of an object. All memory of it is from malloc(). */
struct mal_verdicts {
	/* Sorted by address. */
	struct mal_verdict *list;
	size_t count;
	/* Why nothing is known of any region, or NULL: all are bound. */
	const char *trouble;
	/* A call starts a region whose function was not found: that one is bound. */
	bool unknown;
	/* A function whose address is taken in this object may tell. */
	bool indirect_observes;
	struct mal_question *questions;
	size_t question_count;
	/* Some regions have no verdict yet, and no address then; nor has the object as a whole. */
	bool part;
};

/* What may be taken for granted; all may be 0. */
struct mal_inspect_options {
	/*
	 * Whether the object that SYMBOL comes from can tell: it asks for thread numbers or the
	 * like, has thread-local storage, or is not known. Called for functions that are not known
	 * by name, once each; NULL: all can.
	 */
	bool (*observes_team)(const char *symbol, void *data);
	/* The region to classify next, asked before each: by address where it is 0, or NULL. */
	uint64_t (*next)(void *data);
	/* Called once the region at ADDRESS has its verdict. */
	void (*found)(uint64_t address, void *data);
	/* Verdicts of an earlier start on the same bytes, which hold if the answers do, or NULL. */
	const struct mal_verdicts *earlier;
	void *data;
};

/*
 * Classify the regions of an ELF file by its bytes. The work is bounded whatever the bytes are.
 * OPTIONS may be NULL. Never to be called as root: it reads what users wrote.
 */
int mal_inspect(const uint8_t *bytes, size_t size, const struct mal_inspect_options *options,
		struct mal_verdicts *verdicts, struct mal_error *err);

/* The type of that, for a caller that finds it by its name. */
typedef int mal_inspect_function(const uint8_t *bytes, size_t size,
				 const struct mal_inspect_options *options,
				 struct mal_verdicts *verdicts, struct mal_error *err);

/* The verdict on the region whose function is at ADDRESS, NULL where it is not known: bound. */
const struct mal_verdict *mal_verdict_find(const struct mal_verdicts *verdicts, uint64_t address);
void mal_verdicts_free(struct mal_verdicts *verdicts);
