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

#define COUNT 7

static int *const *list(struct balance_descriptors *fds)
{
	static int *all[COUNT];

	all[0] = &fds->segment;
	all[1] = &fds->controller.pidfd;
	all[2] = &fds->controller.life;
	all[3] = &fds->controller.report;
	all[4] = &fds->script;
	all[5] = &fds->site;
	all[6] = &fds->handovers;
	return all;
}

int balance_descriptors_leave(struct balance_descriptors *fds, struct mal_error *err)
{
	return balance_contained_leave(list(fds), COUNT, err);
}

void balance_descriptors_take(struct balance_descriptors *fds)
{
	balance_contained_take(list(fds), COUNT, false);
}

void balance_descriptors_copy(struct balance_descriptors *fds)
{
	int fd = fds->segment;

	balance_contained_take(list(fds), COUNT, true);
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
