/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* ranks.h: which ranks the controller has seen, and which of them run. */
#ifndef MAL_CONTROLLER_STATE_RANKS_H
#define MAL_CONTROLLER_STATE_RANKS_H

#include "libmalleable/controller/state/controller.h"

struct mal_rank_view {
	bool known; /* it registered */
	bool running;
	bool left; /* it runs no more; whether it is gone is not known yet */
	int32_t pid;
	struct mal_cpumask home;
};

/* COUNT ranks, none of which has come. NULL: out of memory. */
struct mal_ranks *mal_ranks_create(unsigned int count);

/* NULL-safe. */
void mal_ranks_destroy(struct mal_ranks *ranks);

/* What is known of RANK. */
const struct mal_rank_view *mal_rank_view(const struct mal_controller *controller,
					  unsigned int rank);

/* RANK came, as process PID on the CPUs HOME. */
void mal_rank_begin(struct mal_controller *controller, unsigned int rank, int32_t pid,
		    const struct mal_cpumask *home);

/* RANK runs no more; its process may still be there. */
void mal_rank_leave(struct mal_controller *controller, unsigned int rank);

/* The process of RANK, which ran no more, is gone, or is another one. */
void mal_rank_vanish(struct mal_controller *controller, unsigned int rank);

#endif
