/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* history.c: how many CPUs each rank owned over time, for the report. */
#include "libmalleable/controller/load/history.h"

#include <stdlib.h>
#include <string.h>

#include "libmalleable/base/clock.h"
#include "libmalleable/controller/cpus/owners.h"

struct mal_history {
	size_t count, room;
	double *times;
	uint16_t *counts; /* rank_count for each time */
};

struct mal_history *mal_history_create(void)
{
	return calloc(1, sizeof(struct mal_history));
}

void mal_history_note(struct mal_controller *controller, const struct mal_window *window)
{
	struct mal_history *history = controller->history;
	unsigned int ranks = controller->step->segment.rank_count;
	const uint16_t *counts = window->counts;

	if (history->count == MAL_HISTORY_MAX ||
	    (history->count && memcmp(history->counts + (history->count - 1) * ranks, counts,
				      ranks * sizeof(counts[0])) == 0))
		return;
	if (history->count == history->room) {
		size_t room = history->room ? 2 * history->room : 16;
		double *times = realloc(history->times, room * sizeof(*times));
		uint16_t *all;

		if (!times)
			return;
		history->times = times;
		all = realloc(history->counts, room * ranks * sizeof(*all));
		if (!all)
			return;
		history->counts = all;
		history->room = room;
	}
	history->times[history->count] = window->at_s;
	memcpy(history->counts + history->count * ranks, counts, ranks * sizeof(counts[0]));
	history->count++;
}

json_t *mal_history_json(const struct mal_controller *controller)
{
	const struct mal_history *history = controller->history;
	json_t *list = json_array();

	for (size_t i = 0; i < history->count; i++) {
		json_t *counts = json_array();

		for (unsigned int rank = 0; rank < controller->step->segment.rank_count; rank++)
			if (controller->ranks[rank].known)
				json_array_append_new(
					counts,
					json_integer(history->counts[i * controller->step->segment
										     .rank_count +
								     rank]));
		json_array_append_new(list, json_pack("[f, o]", history->times[i], counts));
	}
	return list;
}

void mal_history_destroy(struct mal_history *history)
{
	if (!history)
		return;
	free(history->times);
	free(history->counts);
	free(history);
}
