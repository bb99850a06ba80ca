/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* ends.c: whether a thread does all of its iterations, by where loops end and what guards them. */
#include <string.h>

#include "libmalleable/inspect/analysis.h"

#ifdef HAVE_ZYDIS

/* What a loop does with its iterations must all be before its exit, or all behind it. */
void mal_check_end(struct mal_analysis *analysis, uint32_t block, uint8_t *marks, uint32_t *work)
{
	const struct mal_flow_graph *graph = &analysis->graph;
	const unsigned int effects = MAL_EFFECT_STORE | MAL_EFFECT_ATOMIC | MAL_EFFECT_CALL;
	int after = analysis->facts[block].ends == 2;
	uint32_t count = 0;

	if (analysis->facts[block].ends == 3)
		mal_bind_block(analysis, block, "a loop that takes several iterations at once");
	memset(marks, 0, graph->block_count);
	work[count++] = block;
	while (count) {
		uint32_t i = work[--count];
		const struct mal_block *at = &graph->blocks[i];

		if ((i != block || !after) &&
		    analysis->facts[i].effects & (after ? effects | MAL_EFFECT_ITEM : effects))
			mal_bind_block(analysis, block, "a loop that leaves out an iteration");
		for (uint32_t j = 0; j < (after ? at->next_count : at->before_count); j++) {
			uint32_t next = after ? at->next[j] : at->before[j];

			if (analysis->facts[next].shared && !marks[next] &&
			    !analysis->facts[after ? next : i].header) {
				marks[next] = 1;
				work[count++] = next;
			}
		}
	}
}

/* A guard before a loop that a thread with some iterations does not pass. */
void mal_check_guard(struct mal_analysis *analysis, uint32_t block, const uint8_t *marks)
{
	const struct mal_block_facts *facts = &analysis->facts[block];
	uint8_t done = 0;

	for (uint32_t i = 0; i < analysis->graph.block_count; i++) {
		const struct mal_block_facts *there = &analysis->facts[i];

		if (!there->end || !there->end->live || !(there->effects & MAL_EFFECT_ITEM))
			continue;
		done |= marks[i];
		if (!there->shared &&
		    analysis->graph.blocks[i].order <= analysis->graph.blocks[block].order)
			return;
	}
	if (done && !(done & facts->few))
		mal_bind_block(analysis, block, "a loop that leaves out an iteration");
}

#endif
