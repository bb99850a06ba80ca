/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* history.c: how many CPUs each rank owned over time, for the report. */
#include "libmalleable/controller/load/history.h"

#include <stdlib.h>
#include <string.h>

#include "libmalleable/base/clock.h"
#include "libmalleable/controller/cpus/owners.h"

/* Without memory nothing is noted. */
void mal_history_note(struct mal_controller *controller, const struct mal_window *window)
{
	size_t ranks = controller->step->segment.rank_count, count = controller->history.count;
	size_t size = ranks * sizeof(window->counts[0]);
	uint16_t *counts = controller->history.counts;

	if (!counts)
		counts = controller->history.counts = calloc(MAL_HISTORY_MAX, size);
	if (!counts || count == MAL_HISTORY_MAX ||
	    (count && memcmp(counts + (count - 1) * ranks, window->counts, size) == 0))
		return;
	controller->history.times[count] = window->at_s;
	memcpy(counts + count * ranks, window->counts, size);
	controller->history.count++;
}

json_t *mal_history_json(const struct mal_controller *controller)
{
	size_t ranks = controller->step->segment.rank_count;
	json_t *list = json_array();

	for (size_t i = 0; i < controller->history.count; i++) {
		json_t *counts = json_array();

		for (size_t rank = 0; rank < ranks; rank++)
			if (controller->ranks[rank].known)
				json_array_append_new(
					counts,
					json_integer(controller->history.counts[i * ranks + rank]));
		json_array_append_new(list,
				      json_pack("[f, o]", controller->history.times[i], counts));
	}
	return list;
}

void mal_history_close(struct mal_controller *controller)
{
	free(controller->history.counts);
}
