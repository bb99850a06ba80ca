/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * verdicts.h: what was found in an object, kept in a file of the user's for the next start.
 *
 * The files are in $XDG_CACHE_HOME/malleable, else ~/.cache/malleable: no more than 1024, of 256
 * KiB at most. They are a hint. One that is not whole, of another version, another object, or not
 * the user's alone counts as none, and where none can be written nothing is lost. Free regions
 * come back without their names, but for those that other objects may bind, if there is room.
 */
#ifndef MAL_RANK_PROVER_VERDICTS_H
#define MAL_RANK_PROVER_VERDICTS_H

#include <stdbool.h>

#include "libmalleable/inspect/classify.h"
#include "libmalleable/rank/prover/object_identity.h"

/* A question about another object, which the verdicts rely on. */
struct mal_asked {
	char *symbol;
	bool tells;
};

struct mal_verdicts {
	struct mal_inspection found; /* all memory of it is from malloc() */
	struct mal_asked *asked;
	size_t asked_count;
	bool part; /* not of all regions, and nothing of the object as a whole */
};

/*
 * IDENTITY is that of the object, PROVER a number for the code that finds verdicts. Both functions
 * are thread safe, return whether they succeed, and leave no trace if they fail.
 */
bool mal_verdicts_load(const struct mal_identity *identity, uint64_t prover,
		       struct mal_verdicts *verdicts);
bool mal_verdicts_store(const struct mal_identity *identity, uint64_t prover,
			const struct mal_verdicts *verdicts);
/*
 * That it takes long to find them is kept too, until they are found: the next start need not wait
 * for them. In files of their own, 1024 at most.
 */
void mal_verdicts_note_large(const struct mal_identity *identity, uint64_t prover);
bool mal_verdicts_are_large(const struct mal_identity *identity, uint64_t prover);
/* Whether there is a place for the files, which is made if need be. */
bool mal_verdicts_can_store(void);
void mal_verdicts_free(struct mal_verdicts *verdicts);

#endif
