/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* ranks.c: which ranks the controller has seen, and which of them run. */
#include "libmalleable/controller/state/ranks.h"

#include <stdlib.h>

/* One for each rank. */
struct mal_ranks {
	struct mal_rank_view view;
};

struct mal_ranks *mal_ranks_create(unsigned int count)
{
	return calloc(count, sizeof(struct mal_ranks));
}

void mal_ranks_destroy(struct mal_ranks *ranks)
{
	free(ranks);
}

const struct mal_rank_view *mal_rank_view(const struct mal_controller *controller,
					  unsigned int rank)
{
	return &controller->ranks[rank].view;
}

void mal_rank_begin(struct mal_controller *controller, unsigned int rank, int32_t pid,
		    const struct mal_cpumask *home)
{
	controller->ranks[rank].view =
		(struct mal_rank_view){.known = true, .running = true, .pid = pid, .home = *home};
}

void mal_rank_leave(struct mal_controller *controller, unsigned int rank)
{
	controller->ranks[rank].view.running = false;
	controller->ranks[rank].view.left = true;
}

void mal_rank_vanish(struct mal_controller *controller, unsigned int rank)
{
	controller->ranks[rank].view.left = false;
}
