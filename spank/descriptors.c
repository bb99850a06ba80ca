/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * descriptors.c: the descriptors that a balanced step has between callbacks.
 *
 * Invariant: the controller inherits none of slurmstepd's own (t/t2001-step.t).
 */
#include "spank/descriptors.h"

#include <fcntl.h>
#include <unistd.h>

#include "libmalleable/core/env.h"
#include "spank/contained.h"

#define COUNT (sizeof(struct balance_descriptors) / sizeof(int))

int balance_descriptors_leave(struct balance_descriptors *fds, struct mal_error *err)
{
	return balance_contained_leave(fds->all, COUNT, err);
}

void balance_descriptors_take(struct balance_descriptors *fds)
{
	balance_contained_take(fds->all, COUNT, false);
}

void balance_descriptors_copy(struct balance_descriptors *fds)
{
	int fd = fds->segment;

	balance_contained_take(fds->all, COUNT, true);
	if (fds->segment == fd)
		return;
	/* Programs inherit it, as where it was open in slurmstepd. */
	fd = fcntl(fds->segment, F_DUPFD, MAL_SEGMENT_FD_MIN);
	close(fds->segment);
	fds->segment = fd;
}

void balance_descriptors_close(struct balance_descriptors *fds)
{
	if (fds->segment >= 0)
		close(fds->segment);
	if (fds->site >= 0)
		close(fds->site);
	fds->segment = fds->site = -1;
}
