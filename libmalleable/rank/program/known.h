/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* known.h: what is known of the loaded objects, by their code. For one thread at a time. */
#ifndef MAL_RANK_PROGRAM_KNOWN_H
#define MAL_RANK_PROGRAM_KNOWN_H

#include "libmalleable/rank/program/loaded.h"
#include "libmalleable/rank/program/verdicts.h"

struct mal_known {
	uintptr_t base;
	bool first; /* the process started with it: it stays */
	bool present;
	const char *file; /* empty: the program itself */
	struct mal_identity identity;
	struct mal_verdicts verdicts;
	const char *trouble; /* why nothing is known of it, or NULL */
};

/*
 * Of the ranks of a node that start at once, one reads an object, and the others wait for the file
 * of its verdicts. TURN, shared by them, is the process that reads, 0, or MAL_EACH_READS where no
 * file can be kept. Returns false with *TROUBLE, static storage, if nothing can be found out of any
 * object.
 */
enum { MAL_EACH_READS = -1 };
bool mal_known_open(_Atomic int32_t *turn, const char **trouble);

/*
 * Classify the regions of what is loaded now, if that has changed. What takes too long is bound.
 * Returns what is loaded.
 */
const struct mal_loaded *mal_known_look(void);

/*
 * The objects that open regions; and, if regions call by pointers, those that such a call may lead
 * to and that tell.
 */
const struct mal_known *mal_known_list(size_t *count);
/* The one at BASE, NULL if it is not among them. */
const struct mal_known *mal_known_at(uintptr_t base);

#endif
