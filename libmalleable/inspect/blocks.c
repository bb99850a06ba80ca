/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* blocks.c: cuts the instructions of a function into blocks, and links them. */
#include <stdlib.h>
#include <string.h>

#include "libmalleable/inspect/find.h"
#include "libmalleable/inspect/flow.h"

int64_t mal_flow_find(const struct mal_flow_graph *graph, uint64_t address)
{
	const struct mal_instruction *found =
		mal_find_address(graph->instructions, graph->instruction_count,
				 sizeof(*graph->instructions), address);

	return found ? found - graph->instructions : -1;
}

static void mark(const struct mal_flow_graph *graph, uint8_t *leaders, uint64_t address)
{
	int64_t at = mal_flow_find(graph, address);

	if (at >= 0)
		leaders[at] = 1;
}

static int ends_block(const struct mal_instruction *instruction)
{
	return instruction->flow != MAL_FLOW_NEXT && instruction->flow != MAL_FLOW_CALL;
}

static void mark_leaders(const struct mal_flow_graph *graph, const struct mal_switch *switches,
			 size_t count, uint8_t *leaders)
{
	mark(graph, leaders, graph->entry);
	for (uint32_t i = 0; i < graph->instruction_count; i++) {
		const struct mal_instruction *instruction = &graph->instructions[i];

		if (instruction->flow == MAL_FLOW_JUMP || instruction->flow == MAL_FLOW_BRANCH)
			mark(graph, leaders, instruction->target);
		if (ends_block(instruction) && i + 1 < graph->instruction_count)
			leaders[i + 1] = 1;
		/* Code that another way reaches, or that only looks adjacent. */
		if (i && graph->instructions[i - 1].address + graph->instructions[i - 1].length !=
				 instruction->address)
			leaders[i] = 1;
	}
	for (size_t i = 0; i < count; i++)
		for (size_t j = 0; j < switches[i].count; j++)
			mark(graph, leaders, switches[i].targets[j]);
}

static uint32_t block_at(const struct mal_flow_graph *graph, uint64_t address)
{
	uint32_t low = 0, high = graph->block_count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (graph->instructions[graph->blocks[middle].first].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low - 1;
}

static int link_to(struct mal_flow_graph *graph, struct mal_block *block, uint64_t address)
{
	uint32_t *more;

	if (mal_flow_find(graph, address) < 0) {
		graph->trouble = "a jump into an instruction";
		return 0;
	}
	more = realloc(block->next, (block->next_count + 1) * sizeof(*more));
	if (!more)
		return -1;
	block->next = more;
	block->next[block->next_count++] = block_at(graph, address);
	return 0;
}

static int link_block(struct mal_flow_graph *graph, struct mal_block *block,
		      const struct mal_switch *switches, size_t count)
{
	const struct mal_instruction *last = &graph->instructions[block->first + block->count - 1];
	uint64_t behind = last->address + last->length;

	switch (last->flow) {
	case MAL_FLOW_RETURN:
	case MAL_FLOW_STOP:
	case MAL_FLOW_TAIL: return 0;
	case MAL_FLOW_BRANCH:
		if (link_to(graph, block, last->target) < 0)
			return -1;
		return link_to(graph, block, behind);
	case MAL_FLOW_JUMP:
		if (last->target)
			return link_to(graph, block, last->target);
		for (size_t i = 0; i < count; i++)
			for (size_t j = 0;
			     switches[i].address == last->address && j < switches[i].count; j++)
				if (link_to(graph, block, switches[i].targets[j]) < 0)
					return -1;
		return 0;
	default: return link_to(graph, block, behind);
	}
}

static int link_back(struct mal_flow_graph *graph)
{
	for (uint32_t i = 0; i < graph->block_count; i++)
		for (uint32_t j = 0; j < graph->blocks[i].next_count; j++) {
			struct mal_block *to = &graph->blocks[graph->blocks[i].next[j]];
			uint32_t *more =
				realloc(to->before, (to->before_count + 1) * sizeof(*more));

			if (!more)
				return -1;
			to->before = more;
			to->before[to->before_count++] = i;
		}
	return 0;
}

static int make_blocks(struct mal_flow_graph *graph, const uint8_t *leaders)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < graph->instruction_count; i++)
		count += leaders[i] || i == 0;
	if (count > MAL_FLOW_BLOCKS) {
		graph->trouble = "too large";
		return 0;
	}
	graph->blocks = calloc(count ? count : 1, sizeof(*graph->blocks));
	if (!graph->blocks)
		return -1;
	for (uint32_t i = 0; i < graph->instruction_count; i++) {
		if (leaders[i] || i == 0)
			graph->blocks[graph->block_count++].first = i;
		graph->blocks[graph->block_count - 1].count++;
	}
	return 0;
}

int mal_flow_cut(struct mal_flow_graph *graph, const struct mal_switch *switches, size_t count)
{
	uint8_t *leaders = calloc(graph->instruction_count + 1, 1);
	int result = -1;

	if (!leaders)
		return -1;
	mal_sort_by_address(graph->instructions, graph->instruction_count,
			    sizeof(*graph->instructions));
	mark_leaders(graph, switches, count, leaders);
	if (make_blocks(graph, leaders) == 0) {
		result = 0;
		for (uint32_t i = 0; i < graph->block_count && result == 0; i++)
			result = link_block(graph, &graph->blocks[i], switches, count);
		if (result == 0 && !graph->trouble)
			result = link_back(graph) == 0 ? mal_flow_order(graph) : -1;
	}
	free(leaders);
	return result;
}
