/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* lives.c: the slurmds for which the agent runs. */
#include "libmalleable/agent/lives.h"

#include <string.h>
#include <unistd.h>

static int lives[MAL_LIVES_MAX];
static size_t life_count;

bool mal_lives_add(int fd)
{
	if (life_count == MAL_LIVES_MAX)
		return false;
	lives[life_count++] = fd;
	return true;
}

size_t mal_lives_wait(struct pollfd *wait)
{
	for (size_t i = 0; i < life_count; i++)
		wait[i] = (struct pollfd){.fd = lives[i], .events = POLLIN};
	return life_count;
}

void mal_lives_drop_ended(const struct pollfd *wait, size_t count)
{
	for (size_t i = count; i-- > 0;) {
		if (!wait[i].revents)
			continue;
		close(lives[i]);
		life_count--;
		memmove(&lives[i], &lives[i + 1], (life_count - i) * sizeof(lives[0]));
	}
}
