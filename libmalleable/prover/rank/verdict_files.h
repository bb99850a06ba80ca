/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * verdict_files.h: the verdicts on an object, kept in a file of the user's for the next start.
 *
 * The files are in $XDG_CACHE_HOME/malleable, else ~/.cache/malleable: no more than 1024, of 256
 * KiB at most. They are a hint. One that is not whole, of another version, another object, or not
 * the user's alone counts as none, and where none can be written nothing is lost. Free regions
 * come back without their names, but for those that other objects may bind, if there is room.
 */
#pragma once

#include <stdbool.h>

#include "libmalleable/prover/code/classify.h"
#include "libmalleable/prover/rank/object_identity.h"

/*
 * IDENTITY is that of the object, PROVER a number for the code that finds verdicts. Both functions
 * are thread safe, return whether they succeed, and leave no trace if they fail.
 */
bool mal_verdicts_load(const struct mal_identity *identity, uint64_t prover,
		       struct mal_verdicts *verdicts);
bool mal_verdicts_store(const struct mal_identity *identity, uint64_t prover,
			const struct mal_verdicts *verdicts);
/* Whether there is a place for the files, which is made if need be. */
bool mal_verdicts_can_store(void);
