/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* known.h: what is known of the loaded objects, by their code. For one thread at a time. */
#ifndef MAL_RANK_PROVER_KNOWN_H
#define MAL_RANK_PROVER_KNOWN_H

#include "libmalleable/rank/prover/reader.h"

struct mal_known {
	uintptr_t base;
	bool first; /* the process started with it: it stays */
	bool present;
	bool unread;	  /* nothing is known of it yet, or of some regions only */
	bool large;	  /* and it takes long to find out */
	size_t index;	  /* among those that are loaded */
	const char *file; /* empty: the program itself */
	struct mal_identity identity;
	struct mal_verdicts verdicts;
	const char *trouble; /* why nothing is known of it, or NULL */
};

/*
 * One rank of a node reads an object for all, in the background, and the others take the file of
 * its verdicts. Returns false with *TROUBLE, static storage, if nothing can be found out of any
 * object.
 */
bool mal_known_open(struct mal_reading shared, const char **trouble);

/*
 * Look at what is loaded now, if that has changed, and for what was read since. Returns what is
 * loaded. The first looks wait a moment for it to be read, 100 ms all together.
 */
const struct mal_loaded *mal_known_look(void);

/* Whether some of it is not read yet. */
bool mal_known_are_unread(void);

/* The region at ADDRESS of an object, as in its file, starts: it shall be read next. */
void mal_known_await(uint64_t address);

/*
 * The objects that open regions; and, if regions call by pointers, those that such a call may lead
 * to and that tell.
 */
const struct mal_known *mal_known_list(size_t *count);
/* The one at BASE, NULL if it is not among them. */
const struct mal_known *mal_known_at(uintptr_t base);

#endif
