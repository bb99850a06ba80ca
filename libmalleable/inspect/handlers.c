/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * handlers.c: landing pads, by the table that a function's FDE names. An exception cannot leave a
 * region: what does not come back into the function ends the program.
 */
#include "libmalleable/inspect/analysis.h"

enum { PADS = 256, ULEB = 1, UDATA4 = 3, OMIT = 0xff };

static const char not_understood[] = "a table of exceptions that is not understood";

static uint64_t take_number(struct mal_cursor *table, uint8_t encoding)
{
	if (encoding == UDATA4)
		return mal_cursor_word(table);
	if (encoding == ULEB)
		return mal_cursor_leb(table);
	table->failed = 1;
	return 0;
}

/* The landing pads of FUNCTION; -1 where its table is not understood. */
static int landing_pads(const struct mal_image *image, const struct mal_function *function,
			uint64_t *pads)
{
	struct mal_cursor table = {.image = image, .at = function->handlers};
	uint64_t base = function->start, end;
	uint8_t encoding;
	int count = 0;

	encoding = mal_cursor_byte(&table);
	if (encoding == 0x1b) {
		/* Relative to where it stands: of parts that are far away. */
		base = table.at;
		base += (uint64_t)(int64_t)(int32_t)take_number(&table, UDATA4);
	} else if (encoding != OMIT) {
		return -1;
	}
	if (mal_cursor_byte(&table) != OMIT)
		take_number(&table, ULEB);
	encoding = mal_cursor_byte(&table);
	end = take_number(&table, ULEB);
	end += table.at;
	while (table.at < end && !table.failed) {
		uint64_t pad;

		take_number(&table, encoding);
		take_number(&table, encoding);
		pad = take_number(&table, encoding);
		take_number(&table, ULEB);
		if (!pad)
			continue;
		if (count == PADS)
			return -1;
		pads[count++] = base + pad;
	}
	return table.failed ? -1 : count;
}

/* Whether what an exception runs from PAD on comes back into the function, or returns. */
static int comes_back(struct mal_analysis *analysis, uint64_t pad)
{
	struct mal_flow_graph graph;
	int back = 0;

	if (mal_flow_build(analysis->image, pad, &graph) < 0)
		return 1;
	back = graph.trouble != NULL;
	for (uint32_t i = 0; i < graph.instruction_count && !back; i++)
		back = graph.instructions[i].flow == MAL_FLOW_RETURN ||
		       graph.instructions[i].flow == MAL_FLOW_TAIL ||
		       mal_flow_find(&analysis->graph, graph.instructions[i].address) >= 0;
	mal_flow_free(&graph);
	return back;
}

void mal_check_handlers(struct mal_analysis *analysis)
{
	const struct mal_function *last = NULL;
	uint64_t pads[PADS];

	for (uint32_t i = 0; i < analysis->graph.instruction_count; i++) {
		const struct mal_function *function = mal_image_function(
			analysis->image, analysis->graph.instructions[i].address);
		int count;

		if (!function || function == last)
			continue;
		last = function;
		if (!function->handlers)
			continue;
		count = landing_pads(analysis->image, function, pads);
		if (count < 0)
			mal_bind(analysis, not_understood, function->name);
		for (int j = 0; j < count; j++)
			if (comes_back(analysis, pads[j]))
				mal_bind(analysis, "an exception that is caught", function->name);
	}
}
