/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* slurmds.c: the slurmds for which the agent runs. */
#include "libmalleable/agent/slurmds.h"

#include <string.h>
#include <unistd.h>

static int slurmds[MAL_SLURMDS_MAX];
static size_t slurmd_count;

bool mal_slurmds_add(int fd)
{
	if (slurmd_count == MAL_SLURMDS_MAX)
		return false;
	slurmds[slurmd_count++] = fd;
	return true;
}

size_t mal_slurmds_wait(struct pollfd *wait)
{
	for (size_t i = 0; i < slurmd_count; i++)
		wait[i] = (struct pollfd){.fd = slurmds[i], .events = POLLIN};
	return slurmd_count;
}

void mal_slurmds_drop_ended(const struct pollfd *wait, size_t count)
{
	for (size_t i = count; i-- > 0;) {
		if (!wait[i].revents)
			continue;
		close(slurmds[i]);
		slurmd_count--;
		memmove(&slurmds[i], &slurmds[i + 1], (slurmd_count - i) * sizeof(slurmds[0]));
	}
}
