/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* flow.c: the order of a function's blocks, what every way comes through, and loops. */
#include "libmalleable/inspect/flow.h"

#include <stdlib.h>
#include <string.h>

const struct mal_instruction *mal_flow_last(const struct mal_flow_graph *graph, uint32_t block)
{
	return &graph->instructions[graph->blocks[block].first + graph->blocks[block].count - 1];
}

static int order_blocks(struct mal_flow_graph *graph)
{
	uint32_t count = graph->block_count, depth = 0, done = count;
	uint32_t *stack = calloc(2 * (size_t)count + 2, sizeof(*stack)), *at = stack + count + 1;

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

/* Blocks from which a way leads to the end: what stops the program does not. */
static void find_ends(struct mal_flow_graph *graph)
{
	int changed = 1;

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

/* Of two blocks the first that every way to the end from both comes through; -1: the end. */
static int meet(const struct mal_flow_graph *graph, const uint32_t *rank, int left, int right)
{
	while (left != right) {
		if (left < 0 || right < 0)
			return -1;
		if (rank[left] > rank[right])
			left = graph->blocks[left].postdominator;
		else
			right = graph->blocks[right].postdominator;
	}
	return left;
}

/* Blocks in reversed depth-first order, backwards from the ends; their ranks in RANK. */
static uint32_t order_backwards(const struct mal_flow_graph *graph, uint32_t *order, uint32_t *rank,
				uint32_t *stack, uint32_t *at)
{
	uint32_t done = graph->block_count, depth;

	for (uint32_t i = 0; i < graph->block_count; i++) {
		if (!graph->blocks[i].ends || graph->blocks[i].next_count || rank[i])
			continue;
		depth = 0;
		stack[depth++] = i;
		rank[i] = 1;
		while (depth) {
			const struct mal_block *block = &graph->blocks[stack[depth - 1]];
			uint32_t before;

			if (at[stack[depth - 1]] == block->before_count) {
				order[--done] = stack[--depth];
				continue;
			}
			before = block->before[at[stack[depth - 1]]++];
			if (!rank[before] && graph->blocks[before].order >= 0) {
				rank[before] = 1;
				stack[depth++] = before;
			}
		}
	}
	for (uint32_t i = done; i < graph->block_count; i++)
		rank[order[i]] = i + 1;
	return done;
}

static int best_of(const struct mal_flow_graph *graph, const uint32_t *rank, uint32_t at)
{
	const struct mal_block *block = &graph->blocks[at];
	int best = block->next_count ? -2 : -1;

	for (uint32_t i = 0; i < block->next_count; i++) {
		const struct mal_block *next = &graph->blocks[block->next[i]];

		if (next->ends && next->postdominator != -2)
			best = best == -2 ? (int)block->next[i]
					  : meet(graph, rank, best, (int)block->next[i]);
	}
	return best;
}

static int find_postdominators(struct mal_flow_graph *graph)
{
	size_t count = (size_t)graph->block_count + 1;
	uint32_t *room = calloc(4 * count, sizeof(*room)), *order = room, *rank = room + count;
	uint32_t first;
	int changed = 1;

	if (!room)
		return -1;
	/* -1 is behind every end, -2 is not yet known. */
	for (uint32_t i = 0; i < graph->block_count; i++)
		graph->blocks[i].postdominator = -2;
	first = order_backwards(graph, order, rank, room + 2 * count, room + 3 * count);
	while (changed) {
		changed = 0;
		for (uint32_t i = first; i < graph->block_count; i++) {
			int best = best_of(graph, rank, order[i]);

			changed |= best != graph->blocks[order[i]].postdominator;
			graph->blocks[order[i]].postdominator = best;
		}
	}
	free(room);
	return 0;
}

int mal_flow_order(struct mal_flow_graph *graph)
{
	if (order_blocks(graph) < 0)
		return -1;
	find_ends(graph);
	return find_postdominators(graph);
}

struct components {
	const struct mal_flow_graph *graph;
	const uint8_t *set;
	uint32_t *loop, *index, *low, *at, *stack, *path;
	uint32_t depth, on_stack, next_index;
	int count;
};

static void close_component(struct components *find, uint32_t root)
{
	const struct mal_block *block = &find->graph->blocks[root];
	int loops = find->stack[find->on_stack - 1] != root;
	uint32_t member;

	for (uint32_t i = 0; i < block->next_count; i++)
		loops |= block->next[i] == root;
	find->count += loops;
	do {
		member = find->stack[--find->on_stack];
		find->loop[member] = loops ? (uint32_t)find->count : 0;
		find->low[member] = UINT32_MAX;
	} while (member != root);
}

static void open_block(struct components *find, uint32_t block)
{
	find->index[block] = find->low[block] = ++find->next_index;
	find->stack[find->on_stack++] = block;
	find->path[find->depth++] = block;
}

/* Strongly connected components, as Tarjan finds them. */
static void search(struct components *find, uint32_t root)
{
	open_block(find, root);
	while (find->depth) {
		uint32_t block = find->path[find->depth - 1], next;

		if (find->at[block] < find->graph->blocks[block].next_count) {
			next = find->graph->blocks[block].next[find->at[block]++];
			if (!find->set[next])
				continue;
			if (!find->index[next])
				open_block(find, next);
			else if (find->low[next] != UINT32_MAX &&
				 find->index[next] < find->low[block])
				find->low[block] = find->index[next];
			continue;
		}
		find->depth--;
		if (find->depth && find->low[block] < find->low[find->path[find->depth - 1]])
			find->low[find->path[find->depth - 1]] = find->low[block];
		if (find->low[block] == find->index[block])
			close_component(find, block);
	}
}

int mal_flow_loops(const struct mal_flow_graph *graph, const uint8_t *set, uint32_t *loop)
{
	size_t count = (size_t)graph->block_count + 1;
	uint32_t *room = calloc(5 * count, sizeof(*room));
	struct components find = {.graph = graph,
				  .set = set,
				  .loop = loop,
				  .index = room,
				  .low = room + count,
				  .at = room + 2 * count,
				  .stack = room + 3 * count,
				  .path = room + 4 * count};

	if (!room)
		return -1;
	for (uint32_t i = 0; i < graph->block_count; i++)
		loop[i] = 0;
	for (uint32_t i = 0; i < graph->order_count; i++)
		if (set[graph->order[i]] && !find.index[graph->order[i]])
			search(&find, graph->order[i]);
	free(room);
	return find.count;
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
