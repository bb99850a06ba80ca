/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* flow.c: the order of a function's blocks, what every way comes through, and loops. */
#include "libmalleable/prover/code/flow.h"

#include <stdlib.h>
#include <string.h>

#include "libmalleable/prover/code/find.h"

const struct mal_instruction *mal_flow_last(const struct mal_flow_graph *graph, uint32_t block)
{
	return &graph->instructions[graph->blocks[block].first + graph->blocks[block].count - 1];
}

static int order_blocks(struct mal_flow_graph *graph)
{
	uint32_t count = graph->block_count, depth = 0, done = count;
	uint32_t *stack = calloc(2 * (size_t)count + 2, sizeof(*stack)), *at = stack + count + 1;

	free(graph->order);
	graph->order = malloc((count + 1) * sizeof(*graph->order));
	if (!stack || !graph->order) {
		free(stack);
		return -1;
	}
	for (uint32_t i = 0; i < count; i++) {
		graph->blocks[i].order = -1;
		if (graph->instructions[graph->blocks[i].first].address == graph->entry)
			stack[0] = i;
	}
	graph->blocks[stack[depth++]].order = 0;
	while (depth) {
		uint32_t block = stack[depth - 1];

		if (at[block] == graph->blocks[block].next_count) {
			graph->order[--done] = block;
			depth--;
			continue;
		}
		block = graph->blocks[block].next[at[block]++];
		if (graph->blocks[block].order < 0) {
			graph->blocks[block].order = 0;
			stack[depth++] = block;
		}
	}
	graph->order_count = count - done;
	memmove(graph->order, graph->order + done, graph->order_count * sizeof(*graph->order));
	for (uint32_t i = 0; i < graph->order_count; i++)
		graph->blocks[graph->order[i]].order = (int)i;
	free(stack);
	return 0;
}

static int find_before(struct mal_flow_graph *graph)
{
	for (uint32_t i = 0; i < graph->block_count; i++) {
		free(graph->blocks[i].before);
		graph->blocks[i].before = NULL;
		graph->blocks[i].before_count = 0;
	}
	for (uint32_t i = 0; i < graph->block_count; i++) {
		const struct mal_block *from = &graph->blocks[i];

		for (uint32_t j = 0; from->order >= 0 && j < from->next_count; j++) {
			struct mal_block *to = &graph->blocks[from->next[j]];

			if (!mal_grow(&to->before, to->before_count, sizeof(*to->before)))
				return -1;
			to->before[to->before_count++] = i;
		}
	}
	return 0;
}

/* Blocks from which a way leads to the end: what stops the program does not. */
static void find_ends(struct mal_flow_graph *graph)
{
	int changed = 1;

	for (uint32_t i = 0; i < graph->block_count; i++)
		graph->blocks[i].ends = 0;
	while (changed) {
		changed = 0;
		for (uint32_t i = graph->order_count; i-- > 0;) {
			struct mal_block *block = &graph->blocks[graph->order[i]];
			int ends = !block->next_count &&
				   mal_flow_last(graph, graph->order[i])->flow != MAL_FLOW_STOP;

			for (uint32_t j = 0; j < block->next_count; j++)
				ends |= graph->blocks[block->next[j]].ends;
			changed |= ends != block->ends;
			block->ends = ends;
		}
	}
}

static bool has(const uint64_t *set, uint32_t block)
{
	return set[block / 64] >> block % 64 & 1;
}

/* A block, and what all have in common that follow it. Returns whether that became less. */
static bool narrow(const struct mal_flow_graph *graph, uint32_t block, uint64_t *sets, size_t words)
{
	const struct mal_block *at = &graph->blocks[block];
	int changed = 0;

	for (size_t i = 0; at->ends && i < words; i++) {
		uint64_t common = at->next_count ? UINT64_MAX : 0;

		for (uint32_t j = 0; j < at->next_count; j++)
			if (graph->blocks[at->next[j]].ends)
				common &= sets[at->next[j] * words + i];
		if (i == block / 64)
			common |= (uint64_t)1 << block % 64;
		changed |= common != sets[block * words + i];
		sets[block * words + i] = common;
	}
	return changed;
}

/* The nearest of the blocks that every way to the end comes through: the others follow it. */
static int find_postdominators(struct mal_flow_graph *graph)
{
	size_t words = (size_t)graph->block_count / 64 + 1;
	size_t size = (graph->block_count + 1) * words * sizeof(uint64_t);
	uint64_t *sets = malloc(size);
	int changed = 1;

	if (!sets)
		return -1;
	memset(sets, 0xff, size);
	while (changed) {
		changed = 0;
		for (uint32_t i = graph->order_count; i-- > 0;)
			changed |= narrow(graph, graph->order[i], sets, words);
	}
	for (uint32_t i = 0; i < graph->block_count; i++) {
		int *best = &graph->blocks[i].postdominator;

		*best = -1;
		for (uint32_t j = 0; graph->blocks[i].ends && j < graph->block_count; j++)
			if (j != i && has(sets + i * words, j) &&
			    (*best < 0 || has(sets + j * words, (uint32_t)*best)))
				*best = (int)j;
	}
	free(sets);
	return 0;
}

int mal_flow_order(struct mal_flow_graph *graph)
{
	if (order_blocks(graph) < 0 || find_before(graph) < 0)
		return -1;
	find_ends(graph);
	return find_postdominators(graph);
}

void mal_flow_reach(const struct mal_flow_graph *graph, const uint8_t *set, uint32_t from, int back,
		    uint8_t which, uint8_t *marks)
{
	int changed = 1;

	marks[from] |= which;
	while (changed) {
		changed = 0;
		for (uint32_t i = 0; i < graph->order_count; i++) {
			uint32_t at = graph->order[back ? graph->order_count - 1 - i : i];
			const struct mal_block *block = &graph->blocks[at];
			const uint32_t *next = back ? block->before : block->next;
			uint32_t count = back ? block->before_count : block->next_count;

			for (uint32_t j = 0; marks[at] & which && set[at] == 1 && j < count; j++) {
				if (!set[next[j]] || marks[next[j]] & which)
					continue;
				marks[next[j]] |= which;
				changed = 1;
			}
		}
	}
}

int mal_flow_loops(const struct mal_flow_graph *graph, const uint8_t *set, uint32_t *loop)
{
	uint8_t *marks = malloc((size_t)graph->block_count + 1);
	int count = 0;

	if (!marks)
		return -1;
	memset(loop, 0, graph->block_count * sizeof(*loop));
	for (uint32_t i = 0; i < graph->order_count; i++) {
		uint32_t at = graph->order[i];
		const struct mal_block *block = &graph->blocks[at];
		int back = 0, loops = 0;

		/* Each loop has a way back, by the order of the blocks, to one that leads there. */
		for (uint32_t j = 0; j < block->before_count; j++)
			back |= set[block->before[j]] &&
				graph->blocks[block->before[j]].order >= (int)i;
		if (!set[at] || loop[at] || !back)
			continue;
		memset(marks, 0, graph->block_count);
		mal_flow_reach(graph, set, at, 0, 1, marks);
		for (uint32_t j = 0; j < block->before_count; j++)
			loops |= marks[block->before[j]];
		if (!loops)
			continue;
		mal_flow_reach(graph, set, at, 1, 2, marks);
		count++;
		for (uint32_t j = 0; j < graph->block_count; j++)
			if (marks[j] == 3)
				loop[j] = (uint32_t)count;
	}
	free(marks);
	return count;
}

void mal_flow_free(struct mal_flow_graph *graph)
{
	for (uint32_t i = 0; i < graph->block_count; i++) {
		free(graph->blocks[i].next);
		free(graph->blocks[i].before);
	}
	free(graph->blocks);
	free(graph->instructions);
	free(graph->order);
	memset(graph, 0, sizeof(*graph));
}
