/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* walk.c: follows a function's instructions from its entry, cuts them into blocks, links these. */
#include <stdlib.h>
#include <string.h>

#include "libmalleable/prover/code/find.h"
#include "libmalleable/prover/code/flow.h"
#include "libmalleable/prover/code/names.h"

int64_t mal_flow_find(const struct mal_flow_graph *graph, uint64_t address)
{
	const struct mal_instruction *found =
		mal_find_address(graph->instructions, graph->instruction_count,
				 sizeof(*graph->instructions), address);

	return found ? found - graph->instructions : -1;
}

/* One of the ways of an indirect jump. */
struct way {
	uint64_t from, to;
};

static void mark(const struct mal_flow_graph *graph, uint32_t *leaders, uint64_t address)
{
	int64_t at = mal_flow_find(graph, address);

	if (at >= 0)
		leaders[at] = 1;
}

static bool ends_block(const struct mal_instruction *instruction)
{
	return instruction->flow != MAL_FLOW_NEXT && instruction->flow != MAL_FLOW_CALL;
}

static void mark_leaders(const struct mal_flow_graph *graph, const struct way *ways, size_t count,
			 uint32_t *leaders)
{
	leaders[0] = 1;
	mark(graph, leaders, graph->entry);
	for (uint32_t i = 0; i < graph->instruction_count; i++) {
		const struct mal_instruction *instruction = &graph->instructions[i];
		uint64_t behind = instruction->address + instruction->length;

		if (instruction->flow == MAL_FLOW_JUMP || instruction->flow == MAL_FLOW_BRANCH)
			mark(graph, leaders, instruction->target);
		if (ends_block(instruction) && i + 1 < graph->instruction_count)
			leaders[i + 1] = 1;
		/* Code that another way reaches, or that only looks adjacent. */
		if (i + 1 < graph->instruction_count && instruction[1].address != behind) {
			leaders[i + 1] = 1;
			mark(graph, leaders, behind);
		}
	}
	for (size_t i = 0; i < count; i++)
		mark(graph, leaders, ways[i].to);
}

/* LEADERS are the numbers of blocks by now, plus 1, of the instructions that they begin with. */
static int link_to(struct mal_flow_graph *graph, const uint32_t *leaders, uint32_t from,
		   uint64_t address)
{
	struct mal_block *block = &graph->blocks[from];
	int64_t at = mal_flow_find(graph, address);

	if (at < 0 || !leaders[at]) {
		graph->trouble = "a jump into an instruction";
		return 0;
	}
	if (!mal_grow(&block->next, block->next_count, sizeof(*block->next)))
		return -1;
	block->next[block->next_count++] = leaders[at] - 1;
	return 0;
}

static int link_block(struct mal_flow_graph *graph, const uint32_t *leaders, uint32_t block,
		      const struct way *ways, size_t count)
{
	const struct mal_instruction *last = mal_flow_last(graph, block);
	uint64_t behind = last->address + last->length;

	switch (last->flow) {
	case MAL_FLOW_RETURN:
	case MAL_FLOW_STOP:
	case MAL_FLOW_TAIL: return 0;
	case MAL_FLOW_BRANCH:
		if (link_to(graph, leaders, block, last->target) < 0)
			return -1;
		return link_to(graph, leaders, block, behind);
	case MAL_FLOW_JUMP:
		if (last->target)
			return link_to(graph, leaders, block, last->target);
		for (size_t i = 0; i < count; i++)
			if (ways[i].from == last->address &&
			    link_to(graph, leaders, block, ways[i].to) < 0)
				return -1;
		return 0;
	default: return link_to(graph, leaders, block, behind);
	}
}

static int make_blocks(struct mal_flow_graph *graph, uint32_t *leaders)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < graph->instruction_count; i++)
		if (leaders[i])
			leaders[i] = ++count;
	if (count > MAL_FLOW_BLOCKS) {
		graph->trouble = "too large";
		return 0;
	}
	graph->blocks = calloc((size_t)count + 1, sizeof(*graph->blocks));
	if (!graph->blocks)
		return -1;
	for (uint32_t i = 0; i < graph->instruction_count; i++) {
		if (leaders[i])
			graph->blocks[graph->block_count++].first = i;
		graph->blocks[graph->block_count - 1].count++;
	}
	return 0;
}

/* Sort the instructions and make blocks of them. Without memory -1. */
static int flow_cut(struct mal_flow_graph *graph, const struct way *ways, size_t count)
{
	uint32_t *leaders = calloc((size_t)graph->instruction_count + 1, sizeof(*leaders));
	int result = -1;

	if (!leaders)
		return -1;
	mal_sort_by_address(graph->instructions, graph->instruction_count,
			    sizeof(*graph->instructions));
	mark_leaders(graph, ways, count, leaders);
	if (make_blocks(graph, leaders) == 0) {
		result = 0;
		for (uint32_t i = 0; i < graph->block_count && result == 0; i++)
			result = link_block(graph, leaders, i, ways, count);
		if (result == 0 && !graph->trouble)
			result = mal_flow_order(graph);
	}
	free(leaders);
	return result;
}

enum { HASH = 1 << 17, WORK = 4096 };

struct walk {
	const struct mal_image *image;
	struct mal_flow_graph *graph;
	/* Instructions by address: index + 1. */
	uint32_t *hash;
	uint64_t work[WORK];
	size_t work_count;
	/* Of the indirect jumps that are resolved. */
	struct way *ways;
	size_t way_count;
};

static uint32_t *entry_of(const struct walk *walk, uint64_t address)
{
	uint64_t at = address * 0x9e3779b97f4a7c15u >> 47;

	for (;; at++) {
		uint32_t *entry = &walk->hash[at & (HASH - 1)];

		if (!*entry || walk->graph->instructions[*entry - 1].address == address)
			return entry;
	}
}

static int append(struct walk *walk, const struct mal_instruction *instruction)
{
	struct mal_flow_graph *graph = walk->graph;

	if (!mal_grow(&graph->instructions, graph->instruction_count, sizeof(*instruction)))
		return -1;
	*entry_of(walk, instruction->address) = graph->instruction_count + 1;
	graph->instructions[graph->instruction_count++] = *instruction;
	return 0;
}

static void push(struct walk *walk, uint64_t address)
{
	if (walk->work_count == WORK)
		walk->graph->trouble = "too many jumps";
	else
		walk->work[walk->work_count++] = address;
}

/* Where an indirect jump goes; trouble where that is unknown, -1 for want of memory. */
static int follow_switch(struct walk *walk)
{
	struct mal_flow_graph *graph = walk->graph;
	uint64_t targets[MAL_FLOW_TARGETS];
	uint64_t from = graph->instructions[graph->instruction_count - 1].address;
	size_t count = mal_switch_targets(walk->image, graph->instructions,
					  graph->instruction_count, targets);

	if (count == 0)
		graph->trouble = "an indirect jump";
	for (size_t i = 0; i < count; i++) {
		if (!mal_grow(&walk->ways, walk->way_count, sizeof(*walk->ways)))
			return -1;
		walk->ways[walk->way_count++] = (struct way){from, targets[i]};
		push(walk, targets[i]);
	}
	return 0;
}

static bool ends_program(const struct mal_image *image, const struct mal_instruction *call)
{
	const struct mal_slot *slot = mal_call_slot(image, call);

	return slot && mal_slot_external(slot)->kind == MAL_EXTERNAL_END;
}

/* Whether the flow goes on behind the last instruction; its targets are noted. -1: no memory. */
static int follow(struct walk *walk)
{
	struct mal_instruction *last =
		&walk->graph->instructions[walk->graph->instruction_count - 1];
	const struct mal_function *function;

	switch (last->flow) {
	case MAL_FLOW_RETURN:
	case MAL_FLOW_STOP: return 0;
	case MAL_FLOW_JUMP:
		if (last->target && !mal_image_stub(walk->image, last->target)) {
			push(walk, last->target);
			return 0;
		}
		if (last->target || (last->slot && mal_image_slot(walk->image, last->slot))) {
			last->flow = MAL_FLOW_TAIL;
			return 0;
		}
		return follow_switch(walk);
	case MAL_FLOW_BRANCH:
		if (!last->target || mal_image_stub(walk->image, last->target))
			walk->graph->trouble = "a branch to another library";
		else
			push(walk, last->target);
		break;
	case MAL_FLOW_CALL:
		function = mal_image_function(walk->image, last->address);
		if (ends_program(walk->image, last) ||
		    (function && last->address + last->length >= function->end)) {
			last->flow = MAL_FLOW_STOP;
			last->slot = last->slot ? last->slot : last->target;
			return 0;
		}
		break;
	default: break;
	}
	return 1;
}

static int walk_from(struct walk *walk, uint64_t address)
{
	int goes_on = 1;

	while (goes_on > 0 && !walk->graph->trouble && !*entry_of(walk, address)) {
		struct mal_instruction instruction;

		if (!mal_decode(walk->image, address, &instruction)) {
			walk->graph->trouble = "an instruction that cannot be decoded";
			return 0;
		}
		if (walk->graph->instruction_count == MAL_FLOW_INSTRUCTIONS) {
			walk->graph->trouble = "too large";
			return 0;
		}
		goes_on = append(walk, &instruction) < 0 ? -1 : follow(walk);
		address += instruction.length;
	}
	return goes_on < 0 ? -1 : 0;
}

int mal_flow_build(const struct mal_image *image, uint64_t entry, struct mal_flow_graph *graph)
{
	struct walk walk = {.image = image, .graph = graph};
	int result;

	memset(graph, 0, sizeof(*graph));
	graph->entry = entry;
	walk.hash = calloc(HASH, sizeof(*walk.hash));
	push(&walk, entry);
	result = walk.hash ? 0 : -1;
	while (walk.work_count && !graph->trouble && result == 0)
		result = walk_from(&walk, walk.work[--walk.work_count]);
	if (result == 0 && !graph->trouble)
		result = flow_cut(graph, walk.ways, walk.way_count);
	free(walk.ways);
	free(walk.hash);
	if (result < 0)
		mal_flow_free(graph);
	return result;
}
