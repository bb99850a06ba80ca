/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * alternatives.h: what the policies would have made of a step that is only observed
 * (policies/decide/simulation.h).
 */
#ifndef MAL_CONTROLLER_LOAD_ALTERNATIVES_H
#define MAL_CONTROLLER_LOAD_ALTERNATIVES_H

#include "libmalleable/controller/state/controller.h"
#include "policies/decide/simulation.h"

struct mal_alternatives;

/*
 * For so many RANKS. NULL: out of memory, or more than 256: that would cost more than it is worth.
 */
struct mal_alternatives *mal_alternatives_create(unsigned int ranks);

/* A window. Its first call takes the CPUs' owners as they are then. NULL-safe. */
void mal_alternatives_window(struct mal_alternatives *alternatives,
			     const struct mal_controller *controller,
			     const struct mal_window *window);

/* The policy number INDEX from 0 and what came of it, or NULL behind the last one. NULL-safe. */
const struct mal_policy *mal_alternatives_at(const struct mal_alternatives *alternatives,
					     size_t index, const struct mal_outcome **outcome);

/* NULL-safe. */
void mal_alternatives_destroy(struct mal_alternatives *alternatives);

#endif
