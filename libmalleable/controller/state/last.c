/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* last.c: what the ranks did in the last window. */
#include "libmalleable/controller/state/last.h"

#include <stdlib.h>

struct mal_last {
	bool measured;
	struct mal_sample samples[];
};

struct mal_last *mal_last_create(unsigned int ranks)
{
	return calloc(1, sizeof(struct mal_last) + ranks * sizeof(struct mal_sample));
}

void mal_last_destroy(struct mal_last *last)
{
	free(last);
}

void mal_last_keep(struct mal_controller *controller, const struct mal_sample *samples)
{
	for (unsigned int rank = 0; rank < controller->step->segment.rank_count; rank++)
		controller->last->samples[rank] = samples[rank];
}

const struct mal_sample *mal_last_sample(const struct mal_controller *controller, unsigned int rank)
{
	return &controller->last->samples[rank];
}

void mal_last_set_measured(struct mal_controller *controller)
{
	controller->last->measured = true;
}

bool mal_last_is_measured(const struct mal_controller *controller)
{
	return controller->last->measured;
}
