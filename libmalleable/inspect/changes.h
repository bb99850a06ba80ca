/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* changes.h: how registers and the stack change in loops. */
#ifndef MAL_INSPECT_CHANGES_H
#define MAL_INSPECT_CHANGES_H

#include "libmalleable/inspect/analysis.h"

uint64_t mal_slot_key(const struct mal_stack_slot *slot);

/* The location KEY at BLOCK; NULL where there are too many. */
struct mal_location *mal_location(struct mal_analysis *analysis, uint32_t block, uint64_t key);
uint32_t mal_location_role(const struct mal_analysis *analysis,
			   const struct mal_location *location);

/* What a location holds that nothing is known of but its class. */
mal_value mal_location_symbol(struct mal_analysis *analysis, const struct mal_location *location,
			      enum mal_symbol_class class);

/* The symbol of what is carried over rounds, if VALUE is it once, plus what is clean; else 0. */
uint32_t mal_carried_in(const struct mal_analysis *analysis, mal_value value);

/* VALUE as it is behind the loops that the way FROM a block TO another leaves. */
mal_value mal_leave(struct mal_analysis *analysis, uint32_t from, uint32_t to, mal_value value);

/* --- rounds.c --- */

/* The rounds of a loop, times a step that is the same in all of them; else 0. */
mal_value mal_times_rounds(struct mal_analysis *analysis, uint32_t header, mal_value step);

/* --- reloads.c --- */

/*
 * What LOCATION holds in each round, where that is what memory holds at a place of the round's own,
 * as an iteration read it for the next one; else 0. END is what it holds at the end of a round.
 */
mal_value mal_reloaded(struct mal_analysis *analysis, const struct mal_location *location,
		       mal_value end);
/* What was concluded in loops inside of one in which such was found just now is void. */
void mal_reopen(struct mal_analysis *analysis);
/* Whether END may become such, once it is known how its address changes. */
int mal_may_reload(const struct mal_analysis *analysis, const struct mal_location *location,
		   mal_value end);

/* STATE at the entry of the loop of HEADER becomes what holds in all of its rounds. */
void mal_enter_loop(struct mal_analysis *analysis, uint32_t header, struct mal_state *state);

/* What STATE knows by the branch at the end of FROM that leads to BLOCK. */
void mal_take_branch(struct mal_analysis *analysis, uint32_t from, uint32_t block,
		     struct mal_state *state);

#endif
