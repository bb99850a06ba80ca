/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* history.c: how many CPUs each rank owned over time, for the report. */
#include "libmalleable/controller/load/history.h"

#include <stdlib.h>
#include <string.h>

struct mal_history {
	size_t count;
	double times[MAL_HISTORY_MAX];
	uint16_t counts[]; /* by rank, for each time */
};

/* Without memory nothing is noted. */
void mal_history_note(struct mal_controller *controller, const struct mal_window *window)
{
	size_t ranks = controller->step->segment.rank_count;
	size_t size = ranks * sizeof(window->counts[0]);
	struct mal_history *history = controller->history;
	uint16_t *next;

	if (!history)
		history = controller->history =
			calloc(1, sizeof(*history) + MAL_HISTORY_MAX * size);
	if (!history || history->count == MAL_HISTORY_MAX)
		return;
	next = history->counts + history->count * ranks;
	if (history->count && memcmp(next - ranks, window->counts, size) == 0)
		return;
	history->times[history->count++] = window->at_s;
	memcpy(next, window->counts, size);
}

json_t *mal_history_json(const struct mal_controller *controller)
{
	size_t ranks = controller->step->segment.rank_count;
	const struct mal_history *history = controller->history;
	json_t *list = json_array();

	for (size_t i = 0; history && i < history->count; i++) {
		json_t *counts = json_array();

		for (size_t rank = 0; rank < ranks; rank++)
			if (controller->ranks[rank].known)
				json_array_append_new(
					counts, json_integer(history->counts[i * ranks + rank]));
		json_array_append_new(list, json_pack("[f, o]", history->times[i], counts));
	}
	return list;
}
