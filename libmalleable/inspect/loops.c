/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* loops.c: the order, the dominators and the natural loops of a function's blocks. */
#include <stdlib.h>
#include <string.h>

#include "libmalleable/inspect/flow_parts.h"

static int order_blocks(struct mal_flow_graph *graph)
{
	uint32_t *stack = malloc((graph->block_count + 1) * sizeof(*stack));
	uint32_t *at = calloc(graph->block_count + 1, sizeof(*at));
	uint32_t depth = 0, done = graph->block_count;
	uint8_t *seen = calloc(graph->block_count + 1, 1);
	uint32_t root = 0;

	graph->order = malloc((graph->block_count + 1) * sizeof(*graph->order));
	if (!stack || !at || !seen || !graph->order) {
		free(stack);
		free(at);
		free(seen);
		return -1;
	}
	for (uint32_t i = 0; i < graph->block_count; i++) {
		graph->blocks[i].order = -1;
		if (graph->instructions[graph->blocks[i].first].address == graph->entry)
			root = i;
	}
	stack[depth++] = root;
	seen[root] = 1;
	while (depth) {
		uint32_t block = stack[depth - 1];

		if (at[block] == graph->blocks[block].next_count) {
			graph->order[--done] = block;
			depth--;
			continue;
		}
		block = graph->blocks[block].next[at[block]++];
		if (!seen[block]) {
			seen[block] = 1;
			stack[depth++] = block;
		}
	}
	graph->order_count = graph->block_count - done;
	memmove(graph->order, graph->order + done, graph->order_count * sizeof(*graph->order));
	for (uint32_t i = 0; i < graph->order_count; i++)
		graph->blocks[graph->order[i]].order = (int)i;
	free(stack);
	free(at);
	free(seen);
	return 0;
}

static int meet(const struct mal_flow_graph *graph, int left, int right)
{
	while (left != right) {
		while (graph->blocks[left].order > graph->blocks[right].order)
			left = graph->blocks[left].dominator;
		while (graph->blocks[right].order > graph->blocks[left].order)
			right = graph->blocks[right].dominator;
	}
	return left;
}

static void find_dominators(struct mal_flow_graph *graph)
{
	int changed = 1;

	for (uint32_t i = 0; i < graph->block_count; i++)
		graph->blocks[i].dominator = -1;
	graph->blocks[graph->order[0]].dominator = (int)graph->order[0];
	while (changed) {
		changed = 0;
		for (uint32_t i = 1; i < graph->order_count; i++) {
			struct mal_block *block = &graph->blocks[graph->order[i]];
			int best = -1;

			for (uint32_t j = 0; j < block->before_count; j++) {
				int before = (int)block->before[j];

				if (graph->blocks[before].dominator < 0)
					continue;
				best = best < 0 ? before : meet(graph, best, before);
			}
			if (best != block->dominator) {
				block->dominator = best;
				changed = 1;
			}
		}
	}
}

/*
 * Postdominators: by sets of blocks, which is simple. What stops the program does not count as an
 * end. A block that reaches no end has none.
 */
static int find_postdominators(struct mal_flow_graph *graph)
{
	uint32_t count = graph->block_count, bytes = (count + 7) / 8;
	uint8_t *sets = malloc((size_t)count * bytes + 1), *now = malloc(bytes + 1);
	uint8_t *ends = calloc(count + 1, 1);
	uint32_t *own = calloc(count + 1, sizeof(*own));
	int changed = 1, result = -1;

	if (!sets || !now || !ends || !own)
		goto out;
	memset(sets, 0xff, (size_t)count * bytes);
	while (changed) {
		changed = 0;
		for (uint32_t i = graph->order_count; i-- > 0;) {
			uint32_t block = graph->order[i];
			struct mal_block *at = &graph->blocks[block];
			uint8_t flow = graph->instructions[at->first + at->count - 1].flow;
			uint8_t *set = sets + (size_t)block * bytes;

			memset(now, at->next_count || flow == MAL_FLOW_STOP ? 0xff : 0, bytes);
			ends[block] |= !at->next_count && flow != MAL_FLOW_STOP;
			for (uint32_t j = 0; j < at->next_count; j++) {
				const uint8_t *other = sets + (size_t)at->next[j] * bytes;

				ends[block] |= ends[at->next[j]];
				for (uint32_t k = 0; k < bytes; k++)
					now[k] &= other[k];
			}
			now[block / 8] |= (uint8_t)(1 << block % 8);
			if (memcmp(now, set, bytes) != 0) {
				memcpy(set, now, bytes);
				changed = 1;
			}
		}
	}
	/* The nearest: of its postdominators the one with the most of its own. */
	for (uint32_t block = 0; block < count; block++)
		for (uint32_t k = 0; k < bytes; k++)
			own[block] += (uint32_t)__builtin_popcount(sets[(size_t)block * bytes + k]);
	for (uint32_t block = 0; block < count; block++) {
		const uint8_t *set = sets + (size_t)block * bytes;
		int best = -1, most = -1;

		graph->blocks[block].postdominator = -1;
		graph->blocks[block].ends = ends[block];
		if (graph->blocks[block].order < 0 || !ends[block])
			continue;
		for (uint32_t other = 0; other < count; other++) {
			if (other == block || !(set[other / 8] >> other % 8 & 1) || !ends[other] ||
			    graph->blocks[other].order < 0)
				continue;
			if ((int)own[other] > most) {
				most = (int)own[other];
				best = (int)other;
			}
		}
		graph->blocks[block].postdominator = best;
	}
	result = 0;
out:
	free(sets);
	free(now);
	free(ends);
	free(own);
	return result;
}

static void add_member(struct mal_flow_graph *graph, uint32_t header, uint32_t block)
{
	size_t bit = (size_t)header * graph->block_count + block;

	graph->members[bit / 8] |= (uint8_t)(1 << bit % 8);
}

/* All blocks that reach LATCH without HEADER. */
static void fill_loop(struct mal_flow_graph *graph, uint32_t header, uint32_t latch,
		      uint32_t *stack)
{
	uint32_t depth = 0;

	add_member(graph, header, header);
	if (!mal_flow_in_loop(graph, (int)header, latch)) {
		add_member(graph, header, latch);
		stack[depth++] = latch;
	}
	while (depth) {
		const struct mal_block *block = &graph->blocks[stack[--depth]];

		for (uint32_t i = 0; i < block->before_count; i++)
			if (graph->blocks[block->before[i]].order >= 0 &&
			    !mal_flow_in_loop(graph, (int)header, block->before[i])) {
				add_member(graph, header, block->before[i]);
				stack[depth++] = block->before[i];
			}
	}
}

static void nest_loops(struct mal_flow_graph *graph)
{
	uint32_t size, loop_size;

	for (uint32_t block = 0; block < graph->block_count; block++) {
		graph->blocks[block].loop = -1;
		graph->blocks[block].loop_size = UINT32_MAX;
	}
	for (uint32_t header = 0; header < graph->block_count; header++) {
		if (!graph->blocks[header].header)
			continue;
		size = 0;
		for (uint32_t i = 0; i < graph->block_count; i++)
			size += (uint32_t)mal_flow_in_loop(graph, (int)header, i);
		for (uint32_t block = 0; block < graph->block_count; block++) {
			loop_size = graph->blocks[block].loop_size;
			if (size >= loop_size || !mal_flow_in_loop(graph, (int)header, block))
				continue;
			graph->blocks[block].loop = (int)header;
			graph->blocks[block].loop_size = size;
		}
	}
}

int mal_flow_order(struct mal_flow_graph *graph)
{
	size_t bits = (size_t)graph->block_count * graph->block_count;
	uint32_t *stack;

	if (order_blocks(graph) < 0)
		return -1;
	find_dominators(graph);
	graph->members = calloc(bits / 8 + 1, 1);
	stack = malloc((graph->block_count + 1) * sizeof(*stack));
	if (!graph->members || !stack || find_postdominators(graph) < 0) {
		free(stack);
		return -1;
	}
	for (uint32_t i = 0; i < graph->order_count; i++) {
		uint32_t block = graph->order[i];

		for (uint32_t j = 0; j < graph->blocks[block].next_count; j++) {
			uint32_t to = graph->blocks[block].next[j];

			if (graph->blocks[to].order > (int)i)
				continue;
			if (!mal_flow_dominates(graph, to, block)) {
				graph->trouble = "a loop with two entries";
				continue;
			}
			graph->blocks[to].header = 1;
			fill_loop(graph, to, block, stack);
		}
	}
	free(stack);
	nest_loops(graph);
	return 0;
}
