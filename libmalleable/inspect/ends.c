/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* ends.c: whether a thread does all of its iterations, by where loops end and what guards them. */
#include <string.h>

#include "libmalleable/inspect/analysis.h"

int mal_is_exit_by_share(const struct mal_analysis *analysis, uint32_t block)
{
	uint8_t branch = analysis->facts[block].branch;

	return branch == MAL_BRANCH_SHARE || branch == MAL_BRANCH_CHUNK;
}

/* Whether VALUE is made of what changes in the loop NUMBER. */
static int changes(const struct mal_analysis *analysis, mal_value value, const uint32_t *loop,
		   uint32_t number)
{
	const struct mal_node *node = mal_node(&analysis->values, value);
	const mal_value parts[] = {node->a, node->b, node->c};
	uint32_t block = (uint32_t)(node->key >> 40) & 0x3fffff;

	if (node->kind == MAL_SYMBOL && node->key >> 62 == 1)
		return block < analysis->graph.block_count && loop[block] == number;
	for (size_t i = 0; i < 3 && node->kind != MAL_TELLS; i++)
		if (parts[i] && changes(analysis, parts[i], loop, number))
			return 1;
	return 0;
}

/* A guard before a loop decides by the same each time. */
static int is_guard(const struct mal_analysis *analysis, uint32_t block, const uint32_t *loop)
{
	const struct mal_block_facts *facts = &analysis->facts[block];

	return mal_is_exit_by_share(analysis, block) && facts->compare &&
	       !changes(analysis, facts->compare, loop, loop[block]);
}

/* Whether iterations decide again what follows BLOCK, before anything else is done. */
static int leads_to_share(struct mal_analysis *analysis, uint32_t block)
{
	const struct mal_block *at = &analysis->graph.blocks[block];

	if (mal_is_exit_by_share(analysis, block) || analysis->facts[block].seen)
		return 1;
	if (analysis->facts[block].effects & MAL_EFFECT_RUNTIME || !at->next_count)
		return !at->ends;
	analysis->facts[block].seen = 1;
	for (uint32_t i = 0; i < at->next_count; i++)
		if (!leads_to_share(analysis, at->next[i]))
			return 0;
	return 1;
}

void mal_count_exits(struct mal_analysis *analysis, const uint32_t *loop, uint32_t number,
		     unsigned int *shared, unsigned int *others, uint32_t *early)
{
	for (uint32_t i = 0; i < analysis->graph.block_count; i++) {
		const struct mal_block *block = &analysis->graph.blocks[i];

		for (uint32_t j = 0; loop[i] == number && j < block->next_count; j++) {
			uint32_t next = block->next[j];

			if (loop[next] == number || !analysis->graph.blocks[next].ends ||
			    is_guard(analysis, i, loop))
				continue;
			for (uint32_t k = 0; k < analysis->graph.block_count; k++)
				analysis->facts[k].seen = 0;
			if (mal_is_exit_by_share(analysis, i) || leads_to_share(analysis, next)) {
				++*shared;
				continue;
			}
			++*others;
			*early = i;
		}
	}
}

void mal_check_wait(struct mal_analysis *analysis, const uint32_t *loop, uint32_t number)
{
	const struct mal_node *read = NULL;

	for (uint32_t i = 0; i < analysis->graph.block_count; i++) {
		const struct mal_block_facts *facts = &analysis->facts[i];
		const struct mal_block *block = &analysis->graph.blocks[i];
		int leaves = 0;

		if (loop[i] != number)
			continue;
		if (facts->effects & (MAL_EFFECT_CALL | MAL_EFFECT_RUNTIME | MAL_EFFECT_ATOMIC))
			return;
		for (uint32_t j = 0; j < block->next_count; j++)
			leaves |= loop[block->next[j]] != number;
		if (!leaves)
			continue;
		read = mal_node(&analysis->values, facts->left);
		if (read->kind != MAL_SYMBOL || !read->a || read->key >> 62 == 1 ||
		    mal_node(&analysis->values, facts->right)->kind != MAL_NUMBER ||
		    changes(analysis, read->a, loop, number))
			return;
		for (uint32_t j = 0; j < analysis->graph.block_count; j++)
			if (loop[j] == number && analysis->facts[j].stored == read->a)
				return;
		analysis->at = mal_flow_last(&analysis->graph, i);
	}
	if (read)
		mal_bind(analysis, "waits for another thread", NULL);
}

/* What a loop does with its iterations must all be before its exit, or all behind it. */
void mal_check_end(struct mal_analysis *analysis, uint32_t block, uint8_t *marks, uint8_t *set)
{
	const struct mal_flow_graph *graph = &analysis->graph;
	int after = analysis->facts[block].ends == 2;
	unsigned int effects = MAL_EFFECT_STORE | MAL_EFFECT_ATOMIC | MAL_EFFECT_CALL |
			       (after ? MAL_EFFECT_ITEM : 0);

	if (analysis->facts[block].ends == 3)
		mal_bind_block(analysis, block, "a loop that takes several iterations at once");
	memset(marks, 0, graph->block_count);
	for (uint32_t i = 0; i < graph->block_count; i++)
		set[i] = !analysis->facts[i].shared   ? 0
			 : !analysis->facts[i].header ? 1
			 : after		      ? i == block
						      : 2;
	mal_flow_reach(graph, set, block, !after, 1, marks);
	for (uint32_t i = 0; i < graph->block_count; i++)
		if (marks[i] && (i != block || !after) && analysis->facts[i].effects & effects)
			mal_bind_block(analysis, block, "a loop that leaves out an iteration");
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
