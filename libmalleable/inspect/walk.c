/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* walk.c: follows a function's instructions from its entry, and cuts them into blocks. */
#include <stdlib.h>
#include <string.h>

#include "libmalleable/inspect/find.h"
#include "libmalleable/inspect/flow.h"
#include "libmalleable/inspect/names.h"

enum { HASH = 1 << 17, WORK = 4096 };

struct walk {
	const struct mal_image *image;
	struct mal_flow_graph *graph;
	/* Instructions by address: index + 1. */
	uint32_t *hash;
	uint64_t work[WORK];
	size_t work_count;
	/* Jumps that are resolved, and where they go. */
	struct mal_switch *switches;
	size_t switch_count;
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
	struct mal_instruction *more;

	more = mal_room(graph->instructions, graph->instruction_count, sizeof(*more));
	if (!more)
		return -1;
	graph->instructions = more;
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

/*
 * Where an indirect jump goes; 0 with trouble noted where that is unknown, -1 for want of
 * memory.
 */
static int follow_switch(struct walk *walk)
{
	struct mal_flow_graph *graph = walk->graph;
	uint64_t targets[MAL_FLOW_TARGETS];
	size_t count = mal_switch_targets(walk->image, graph->instructions,
					  graph->instruction_count, targets);
	struct mal_switch *more;

	if (count == 0) {
		graph->trouble = "an indirect jump";
		return 0;
	}
	more = realloc(walk->switches, (walk->switch_count + 1) * sizeof(*more));
	if (!more)
		return -1;
	walk->switches = more;
	more += walk->switch_count;
	more->address = graph->instructions[graph->instruction_count - 1].address;
	more->count = count;
	more->targets = malloc(count * sizeof(*targets));
	if (!more->targets)
		return -1;
	walk->switch_count++;
	memcpy(more->targets, targets, count * sizeof(*targets));
	for (size_t i = 0; i < count; i++)
		push(walk, targets[i]);
	return 0;
}

static int ends_program(const struct mal_image *image, const struct mal_instruction *call)
{
	const struct mal_slot *slot = mal_call_slot(image, call);

	return slot && mal_slot_external(slot)->kind == MAL_EXTERNAL_END;
}

/* Whether the flow goes on behind INSTRUCTION, the last one; its targets are noted. */
static int follow(struct walk *walk, int *goes_on)
{
	struct mal_instruction *last =
		&walk->graph->instructions[walk->graph->instruction_count - 1];
	const struct mal_function *function;

	*goes_on = 0;
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
	*goes_on = 1;
	return 0;
}

static int walk_from(struct walk *walk, uint64_t address)
{
	int goes_on = 1;

	while (goes_on && !walk->graph->trouble && !*entry_of(walk, address)) {
		struct mal_instruction instruction;

		if (!mal_decode(walk->image, address, &instruction)) {
			walk->graph->trouble = "an instruction that cannot be decoded";
			return 0;
		}
		if (walk->graph->instruction_count == MAL_FLOW_INSTRUCTIONS) {
			walk->graph->trouble = "too large";
			return 0;
		}
		if (append(walk, &instruction) < 0 || follow(walk, &goes_on) < 0)
			return -1;
		address += instruction.length;
	}
	return 0;
}

static int walk_all(struct walk *walk)
{
	push(walk, walk->graph->entry);
	while (walk->work_count && !walk->graph->trouble)
		if (walk_from(walk, walk->work[--walk->work_count]) < 0)
			return -1;
	return 0;
}

int mal_flow_build(const struct mal_image *image, uint64_t entry, struct mal_flow_graph *graph)
{
	struct walk walk = {.image = image, .graph = graph};
	int result = -1;

	memset(graph, 0, sizeof(*graph));
	graph->entry = entry;
	walk.hash = calloc(HASH, sizeof(*walk.hash));
	if (walk.hash && walk_all(&walk) == 0)
		result = graph->trouble ? 0 : mal_flow_cut(graph, walk.switches, walk.switch_count);
	for (size_t i = 0; i < walk.switch_count; i++)
		free(walk.switches[i].targets);
	free(walk.switches);
	free(walk.hash);
	if (result < 0)
		mal_flow_free(graph);
	return result;
}
