/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* events.c: changes of this rank's CPUs as PMIx events. */
#include "libmalleable/rank/pmix/events.h"

#include <stdlib.h>
#include <string.h>

#include "libmalleable/core/env.h"
#include "libmalleable/rank/pmix/pmix.h"
#include "libmalleable/rank/state/state.h"

static struct {
	bool wanted;
	struct mal_cpumask said;
} events;

void mal_events_begin(void)
{
	if (!events.wanted && getenv(MAL_ENV_EVENTS) && mal_pmix_open(false)) {
		events.wanted = true;
		events.said = mal.home;
	}
}

void mal_events_say(void)
{
	struct mal_cpumask now = {{0}};
	char list[MAL_CPUMASK_TEXT];

	if (!events.wanted)
		return;
	for (unsigned int i = 0; i < mal.own_count; i++)
		mal_cpumask_add(&now, mal.own[i]);
	if (memcmp(&now, &events.said, sizeof(now)) == 0)
		return;
	events.said = now;
	mal_pmix_say_cpus(mal_cpumask_format(&now, list, sizeof(list)));
}

void mal_events_end(void)
{
	if (!events.wanted)
		return;
	events.wanted = false;
	mal_pmix_close();
}
