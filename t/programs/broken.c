/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * broken.c: a loadable policy that does what policies must not do: HOW names it (crash, loop,
 * leave, nonsense, shrink, old, name).
 */
#include <malleable/policy.h>
#include <stdlib.h>

static int decide(void *state, const struct mal_view *view, struct mal_plan *plan)
{
	volatile int *nowhere = NULL;

	(void)state;
	plan->bind = true;
	if (!view->samples)
		return 0;
	switch (HOW[0]) {
	case 'c': return *nowhere;
	case 'l':
		for (;;)
			;
	case 'q': exit(0);
	case 'n':
		plan->move = true;
		plan->count[0] = 4000000000u;
		return 0;
	case 's':
		plan->move = true;
		for (unsigned int rank = 0; rank < view->rank_count; rank++)
			plan->count[rank] = 0;
		return 0;
	default: return 0;
	}
}

const struct mal_policy malleable_policy = {
	.abi = HOW[0] == 'o' ? 4711 : MAL_POLICY_ABI,
	.name = HOW[0] == 'x' ? "other" : HOW,
	.summary = "broken",
	.decide = decide,
};
