/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* segment.c: a controller whose ranks write anything into the segment at any time. */
#include <stdlib.h>
#include <string.h>

#include "libmalleable/controller/cpus/evict.h"
#include "libmalleable/controller/load/sampling.h"
#include "libmalleable/controller/planning.h"
#include "libmalleable/controller/ranks.h"
#include "libmalleable/controller/report/report_text.h"
#include "libmalleable/controller/report/status_json.h"
#include "t/fuzz/fuzz.h"
#include "t/fuzz/step.h"

static const char *const policies[] = {
	"auto", "lewi", "sabo", "explore", "observe", "external", "explore,schedule=tune"};

/* Eight bytes, or fewer at a part's end, at a place of the input's choice. */
static void scribble(const struct mal_segment *segment)
{
	const struct {
		void *memory;
		size_t size;
	} parts[] = {
		{segment->ranks, FUZZ_RANKS * sizeof(*segment->ranks)},
		{(void *)segment->requests, FUZZ_RANKS * sizeof(*segment->requests)},
		{segment->cpus, FUZZ_CPUS * sizeof(*segment->cpus)},
		{segment->header, sizeof(*segment->header)},
		{segment->threads, (size_t)FUZZ_RANKS * FUZZ_THREADS * sizeof(*segment->threads)},
		{segment->regions, 4 * sizeof(*segment->regions)}, /* the first ones of rank 0 */
		{segment->lanes, FUZZ_RANKS * mal_lanes_size(segment)},
	};
	unsigned int part = fuzz_byte() % (sizeof(parts) / sizeof(parts[0])), at = fuzz_byte();
	size_t place = (at | fuzz_byte() << 8) * 4 % parts[part].size,
	       rest = parts[part].size - place;

	fuzz_take((char *)parts[part].memory + place, rest < 8 ? rest : 8);
}

static void report(const struct mal_controller *controller)
{
	struct mal_report report;
	char text[8192], *json = NULL;
	size_t size;
	FILE *file;

	if (!mal_report_make(controller, &report))
		return;
	mal_report_line(controller, &report, false, text, sizeof(text));
	mal_report_text(controller, &report, text, sizeof(text));
	file = open_memstream(&json, &size);
	mal_report_json(controller, &report, file);
	fclose(file);
	free(json);
}

static void step(struct mal_controller *controller)
{
	struct mal_window window;
	uint8_t busy[FUZZ_RANKS];

	switch (fuzz_byte() % 8) {
	case 0:
	case 1: scribble(&controller->step->segment); break;
	case 2:
		fuzz_take(busy, sizeof(busy));
		fuzz_step_round(controller, busy);
		break;
	case 3: mal_ranks_update(controller); break;
	case 4:
		if (mal_round_is_complete(controller) &&
		    mal_round_read(controller, &window) == MAL_ROUND_WINDOW)
			mal_plan_make(controller, &window);
		mal_round_begin(controller);
		break;
	case 5: free(mal_status_json(controller)); break;
	case 6: mal_evict_rebind(controller); break;
	default: mal_evict_withdraw(controller, fuzz_byte() % 2 ? "0-5" : "7", NULL);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct mal_controller *controller;

	fuzz_begin(data, size);
	controller = fuzz_step_open(policies[fuzz_byte() % (sizeof(policies) / sizeof(*policies))]);
	for (unsigned int i = 0; fuzz_left && i < 24; i++)
		step(controller);
	report(controller);
	fuzz_step_close(controller);
	return 0;
}
