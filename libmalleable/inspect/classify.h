/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * classify.h: which parallel regions of a program may have any team. A region is free where no
 * thread can find out which one it is or how many there are, with an effect beyond choosing
 * iterations; every other one is bound, with what is not understood.
 */
#ifndef MAL_INSPECT_CLASSIFY_H
#define MAL_INSPECT_CLASSIFY_H

#include <stddef.h>
#include <stdint.h>

#include "libmalleable/base/error.h"

struct mal_verdict {
	/* Of the outlined function, as in the file: less what it is loaded at. */
	uint64_t address;
	/* Its name, or NULL where the file is stripped. */
	char *name;
	int free;
	/* A num_threads clause may set its team: bound, but its team says nothing of the next. */
	int clause;
	/*
	 * Free as far as this file goes, but it calls through pointers: bound if another object
	 * of the process has TAKEN_TELLS.
	 */
	int indirect;
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

struct mal_inspection {
	/* Sorted by address. */
	struct mal_verdict *verdicts;
	size_t count;
	/* How many of them are bound. */
	size_t bound;
	/* Why nothing is known of any region, or NULL: all are bound. */
	const char *trouble;
	/* A call starts a region whose function was not found: that one is bound. */
	int unknown;
	/* The object asks for numbers of threads or for the like, or has thread-local storage. */
	int asks, thread_local_;
	/* A function whose address is taken in this object can tell. */
	int taken_tells;
};

/* What an inspection may take for granted; all may be 0. */
struct mal_inspect_by {
	/* What is not classified by this time of mal_now_ns() is bound; 0: no limit of time. */
	uint64_t deadline_ns;
	/*
	 * Whether the object that SYMBOL comes from can tell: it has ASKS or THREAD_LOCAL_, or is
	 * not known. It is called for functions that are not known by name; NULL: all can.
	 */
	int (*tells)(const char *symbol, void *data);
	/* The region to classify next, asked before each: by address where it is 0, or NULL. */
	uint64_t (*next)(void *data);
	/* Called once the region at ADDRESS is classified. The others have no address yet. */
	void (*found)(uint64_t address, void *data);
	/* What was found earlier in the same bytes, by the same answers, or NULL. */
	const struct mal_inspection *known;
	void *data;
};

/*
 * Classify the regions of an ELF file by its bytes. The work is bounded whatever the bytes are.
 * BY may be NULL. Never to be called as root: it reads what users wrote.
 */
int mal_inspect(const uint8_t *bytes, size_t size, const struct mal_inspect_by *by,
		struct mal_inspection *inspection, struct mal_error *err);

/* The verdict on the region whose function is at ADDRESS, NULL where it is not known: bound. */
const struct mal_verdict *mal_inspection_find(const struct mal_inspection *inspection,
					      uint64_t address);
void mal_inspection_free(struct mal_inspection *inspection);

/* The type of the first, for a caller that finds it by its name. */
typedef int mal_inspect_function(const uint8_t *bytes, size_t size, const struct mal_inspect_by *by,
				 struct mal_inspection *inspection, struct mal_error *err);

#endif
