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

/* STATE at the entry of the loop of HEADER becomes what holds in all of its rounds. */
void mal_enter_loop(struct mal_analysis *analysis, uint32_t header, struct mal_state *state);

/* What STATE knows by the branch at the end of FROM that leads to BLOCK. */
void mal_take_branch(struct mal_analysis *analysis, uint32_t from, uint32_t block,
		     struct mal_state *state);

#endif
