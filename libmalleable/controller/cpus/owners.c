/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* owners.c: which rank owns which CPU of the step. */
#include "libmalleable/controller/cpus/owners.h"

#include <string.h>

#include "libmalleable/base/clock.h"

void mal_read_owners(const struct mal_controller *controller, unsigned int *owners)
{
	for (unsigned int i = 0; i < controller->step->cpu_count; i++)
		owners[i] = mal_word_read(
				    &controller->step->segment.cpus[controller->step->cpu[i]].word)
				    .owner;
}

unsigned int mal_home_of(const struct mal_controller *controller, unsigned int cpu)
{
	unsigned int rank = 0, ranks = controller->step->segment.rank_count;

	while (rank < ranks && !(controller->ranks[rank].running &&
				 mal_cpumask_has(&controller->ranks[rank].home, cpu)))
		rank++;
	return rank;
}

static void count(const struct mal_controller *controller, const unsigned int *owners,
		  uint16_t *counts)
{
	unsigned int ranks = controller->step->segment.rank_count;

	memset(counts, 0, ranks * sizeof(*counts));
	for (unsigned int i = 0; i < controller->step->cpu_count; i++)
		if (owners[i] < ranks)
			counts[owners[i]]++;
}

void mal_count_owned(const struct mal_controller *controller, uint16_t *counts)
{
	unsigned int owners[MAL_MAX_CPUS];

	mal_read_owners(controller, owners);
	count(controller, owners, counts);
}

unsigned int mal_find_receiver(const struct mal_controller *controller, const unsigned int *cpus)
{
	unsigned int ranks = controller->step->segment.rank_count, found = ranks, most = 0;

	for (unsigned int rank = 0; rank < ranks; rank++) {
		unsigned int home = mal_cpumask_count(&controller->ranks[rank].home);

		if (cpus[rank] <= home + most)
			continue;
		most = cpus[rank] - home;
		found = rank;
	}
	return found;
}

void mal_window_set_owners(const struct mal_controller *controller, struct mal_window *window,
			   const unsigned int *owners)
{
	memcpy(window->owner, owners, controller->step->cpu_count * sizeof(*owners));
	count(controller, owners, window->counts);
	for (unsigned int rank = 0; rank < controller->step->segment.rank_count; rank++)
		window->samples[rank].cpus =
			window->samples[rank].running ? window->counts[rank] : 0;
}

void mal_window_begin(const struct mal_controller *controller, struct mal_window *window)
{
	window->at_s = mal_ticks_to_s(mal_ticks() - controller->step->started);
	mal_read_owners(controller, window->owner);
	count(controller, window->owner, window->counts);
}
