/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * unrolled.c: takes back what gcc's -funroll-loops did: a turn that comes first, some turns by what
 * is left of a division, then several turns at once. Of these, one turn that is repeated stays, if
 * it does the same on many made-up numbers (machine.h): stores, and what is used later.
 */
#include <stdlib.h>
#include <string.h>

#include <Zydis/Zydis.h>

#include "libmalleable/inspect/actions.h"
#include "libmalleable/inspect/flow.h"
#include "libmalleable/inspect/machine.h"
#include "libmalleable/inspect/program.h"

enum {
	TRIALS = 210,
	ENOUGH = 40,
	EACH = 3,
	EARLIER = 4,
	STEPS = 1500,
	NOWHERE = UINT32_MAX,
};

/* What a block is to the loop that is looked at. */
enum { OUTSIDE, BEFORE, COPY, ONE };

struct loop {
	struct mal_flow_graph *graph;
	/* The function may return something. */
	int returns;
	/* What is in use where each block begins. */
	uint64_t *live;
	uint8_t *roles;
	uint32_t *seen;
	/* The block of one turn, that of many, the one that divides, and where it all begins. */
	uint32_t one, many, divides, start;
	/* A turn that comes first: its block, how much of it stays, and what is set then. */
	uint32_t first, kept;
	struct move {
		uint8_t to, from;
		int64_t number;
	} moves[8];
	uint32_t move_count;
};

/* Whether INSTRUCTION writes a register whole. */
static uint64_t kills(const struct mal_instruction *at)
{
	uint64_t kept = 0;

	if (at->flow == MAL_FLOW_CALL)
		return MAL_VOLATILE | MAL_BIT(MAL_FLAGS);
	for (unsigned int i = 0; i < at->operand_count; i++)
		if (at->operands[i].kind == MAL_OPERAND_REGISTER && at->operands[i].bytes < 4 &&
		    at->operands[i].reg != MAL_NO_REGISTER)
			kept |= MAL_BIT(at->operands[i].reg);
	return at->writes & ~kept;
}

/* Registers of arguments, results, and those that functions keep. */
static const uint64_t given = MAL_BIT(MAL_RAX) | MAL_BIT(MAL_RCX) | MAL_BIT(MAL_RDX) |
			      MAL_BIT(MAL_RSI) | MAL_BIT(MAL_RDI) | MAL_BIT(MAL_R8) |
			      MAL_BIT(MAL_R9) | MAL_BIT(MAL_R10) | (uint64_t)0xff << MAL_XMM0;
static const uint64_t returned = MAL_BIT(MAL_RAX) | MAL_BIT(MAL_RDX) | (uint64_t)3 << MAL_XMM0;
static const uint64_t saved =
	MAL_BIT(MAL_RBX) | MAL_BIT(MAL_RSP) | MAL_BIT(MAL_RBP) | (uint64_t)15 << MAL_R12;

static uint64_t uses(const struct loop *loop, const struct mal_instruction *at)
{
	if (at->flow == MAL_FLOW_RETURN)
		return (loop->returns ? returned : 0) | saved;
	if (at->flow == MAL_FLOW_CALL || at->flow == MAL_FLOW_TAIL)
		return given | saved | at->reads;
	if (at->action == MAL_ACTION_CLEAR_SAME && at->operand_count >= 2 &&
	    at->operands[at->operand_count - 1].reg == at->operands[at->operand_count - 2].reg)
		return at->reads & at->addressing;
	return at->reads;
}

/* What is in use where BLOCK begins, by what is LIVE behind it. */
static uint64_t used_at(const struct loop *loop, uint32_t block, uint64_t live)
{
	const struct mal_flow_graph *graph = loop->graph;
	const struct mal_block *at = &graph->blocks[block];

	for (uint32_t i = at->count; i-- > 0;) {
		const struct mal_instruction *instruction = &graph->instructions[at->first + i];

		live = (live & ~kills(instruction)) | uses(loop, instruction);
	}
	return live;
}

static void find_live(struct loop *loop)
{
	const struct mal_flow_graph *graph = loop->graph;
	int changed = 1;

	while (changed) {
		changed = 0;
		for (uint32_t i = graph->order_count; i-- > 0;) {
			uint32_t block = graph->order[i];
			uint64_t live = 0;

			for (uint32_t j = 0; j < graph->blocks[block].next_count; j++)
				live |= loop->live[graph->blocks[block].next[j]];
			live = used_at(loop, block, live);
			changed |= live != loop->live[block];
			loop->live[block] = live;
		}
	}
}

/* Where a run that comes to BLOCK is to go on, as it is or with one turn alone. */
static uint32_t leads_to(const struct loop *loop, uint32_t from, uint32_t block, int single)
{
	if (single && loop->first != NOWHERE)
		return from == loop->first ? loop->one : block;
	if (single && (from == loop->divides || (from == loop->one && block == loop->many)))
		return loop->one;
	return block;
}

static void set(struct mal_machine *machine, const struct loop *loop)
{
	for (uint32_t i = 0; i < loop->move_count; i++) {
		const struct move *move = &loop->moves[i];

		machine->registers[move->to] = move->from == MAL_NO_REGISTER
						       ? (uint64_t)move->number
						       : machine->registers[move->from];
	}
}

/* Runs BLOCK, as much of it as stays; where that leads to. */
static uint32_t run_block(const struct loop *loop, struct mal_machine *machine, uint32_t block,
			  int single)
{
	const struct mal_block *at = &loop->graph->blocks[block];
	int is_cut = single && block == loop->first;
	const struct mal_instruction *last = mal_flow_last(loop->graph, block);
	uint32_t way = 0;

	for (uint32_t i = 0; i < (is_cut ? loop->kept : at->count); i++)
		mal_machine_step(machine, &loop->graph->instructions[at->first + i]);
	if (is_cut) {
		set(machine, loop);
		return loop->one;
	}
	if (last->flow == MAL_FLOW_BRANCH && at->next_count == 2)
		way = !mal_machine_holds(machine, last->condition);
	else if (at->next_count != 1)
		machine->failed = 1;
	return machine->failed ? NOWHERE : leads_to(loop, block, at->next[way], single);
}

/* From the start to a block outside; which one, or NOWHERE. */
static uint32_t run(struct loop *loop, struct mal_machine *machine, int single)
{
	uint32_t block = loop->first != NOWHERE ? loop->first : loop->start;

	for (uint32_t steps = 0; steps < STEPS * (1 + (uint32_t)single);) {
		if (block == NOWHERE || loop->roles[block] == OUTSIDE)
			return block;
		loop->seen[block] += !single;
		steps += loop->graph->blocks[block].count;
		block = run_block(loop, machine, block, single);
	}
	return NOWHERE;
}

/* Whether each of the blocks was run often. */
static int saw_all(const struct loop *loop)
{
	for (uint32_t i = 0; i < loop->graph->block_count; i++)
		if (loop->roles[i] >= COPY && loop->seen[i] < EACH)
			return 0;
	return 1;
}

/* 1 where both ways do the same, 0 where not, -1 where these numbers lead nowhere. */
static int try(struct loop *loop, unsigned int trial, int apart)
{
	static struct mal_machine begin, machines[2];
	uint32_t ends[2];
	uint64_t live;

	mal_machine_begin(&begin, trial * 2 + (unsigned int)apart, (uint64_t)1 << trial % 7, apart);
	for (int i = 0; i < 2; i++) {
		machines[i] = begin;
		ends[i] = run(loop, &machines[i], i);
		if (ends[i] == NOWHERE)
			return i ? 0 : -1;
	}
	if (ends[0] != ends[1] || !mal_machine_same(&machines[0], &machines[1]))
		return 0;
	live = loop->live[ends[0]];
	if (live & (MAL_BIT(MAL_FLAGS) | MAL_BIT(MAL_X87)))
		return 0;
	for (unsigned int reg = 0; reg < MAL_FLAGS; reg++)
		if (live & MAL_BIT(reg) && machines[0].registers[reg] != machines[1].registers[reg])
			return 0;
	return 1;
}

/* Whether one turn alone does what all of it does. */
static int is_same(struct loop *loop)
{
	for (int apart = 1; apart >= 0; apart--) {
		unsigned int same = 0;

		memset(loop->seen, 0, loop->graph->block_count * sizeof(*loop->seen));
		for (unsigned int trial = 0; trial < TRIALS; trial++) {
			int result = try(loop, trial, apart);

			if (result == 0)
				return 0;
			same += result > 0;
			if (same >= ENOUGH && saw_all(loop))
				return 1;
		}
		if (same)
			return 0;
	}
	return 0;
}

/* The other way of BLOCK than TO, of two; or NOWHERE. */
static uint32_t other_way(const struct mal_block *block, uint32_t to)
{
	if (block->next_count != 2 || block->next[0] == block->next[1])
		return NOWHERE;
	return block->next[0] == to   ? block->next[1]
	       : block->next[1] == to ? block->next[0]
				      : NOWHERE;
}

/* Blocks before COPY that do nothing but lead there are copies too; others lead to them. */
static void find_copies(struct loop *loop, uint32_t copy, unsigned int depth)
{
	const struct mal_block *at = &loop->graph->blocks[copy];

	for (uint32_t i = 0; i < at->before_count && depth < 64; i++) {
		uint32_t before = at->before[i];

		if (loop->roles[before] != OUTSIDE || loop->graph->blocks[before].order < 0)
			continue;
		loop->roles[before] =
			loop->graph->blocks[before].next_count == 1 && copy != loop->many ? COPY
											  : BEFORE;
		if (loop->roles[before] == COPY)
			find_copies(loop, before, depth + 1);
	}
}

/* The block from which on all of it is reached; NOWHERE if there is none. */
static uint32_t find_start(const struct loop *loop)
{
	const struct mal_block *blocks = loop->graph->blocks;
	uint32_t start = NOWHERE;

	for (uint32_t i = 0; i < loop->graph->block_count; i++)
		if (loop->roles[i] == BEFORE &&
		    (start == NOWHERE || blocks[i].order < blocks[start].order))
			start = i;
	for (uint32_t i = 0; i < loop->graph->block_count && start != NOWHERE; i++)
		for (uint32_t j = 0; loop->roles[i] && i != start && j < blocks[i].before_count;
		     j++)
			if (!loop->roles[blocks[i].before[j]])
				return NOWHERE;
	return start;
}

/* Let it begin one block earlier; 0 where that cannot be. */
static int begin_earlier(struct loop *loop)
{
	const struct mal_block *blocks = loop->graph->blocks, *at = &blocks[loop->start];
	uint32_t before = at->before_count == 1 ? at->before[0] : loop->start;

	if (loop->roles[before] || blocks[before].order >= at->order)
		return 0;
	for (uint32_t j = 0; j < blocks[before].count; j++)
		if (loop->graph->instructions[blocks[before].first + j].flow == MAL_FLOW_CALL)
			return 0;
	loop->start = before;
	loop->roles[before] = BEFORE;
	return 1;
}

/* Whether the block MANY may be several turns at once; then its parts are found. */
static int find_parts(struct loop *loop, uint32_t many)
{
	const struct mal_block *blocks = loop->graph->blocks, *at = &blocks[many];
	uint32_t end = other_way(at, many);

	memset(loop->roles, OUTSIDE, loop->graph->block_count);
	loop->one = loop->divides = loop->first = NOWHERE;
	loop->many = many;
	loop->move_count = 0;
	if (end == NOWHERE || at->before_count != 3)
		return 0;
	for (uint32_t i = 0; i < 3; i++)
		if (at->before[i] != many)
			*(other_way(&blocks[at->before[i]], many) == end ? &loop->one
									 : &loop->divides) =
				at->before[i];
	if (loop->one == NOWHERE || loop->divides == NOWHERE ||
	    blocks[loop->one].count >= at->count)
		return 0;
	loop->roles[many] = COPY;
	loop->roles[loop->one] = ONE;
	loop->roles[loop->divides] = BEFORE;
	find_copies(loop, many, 0);
	find_copies(loop, loop->one, 0);
	loop->start = find_start(loop);
	return loop->start != NOWHERE;
}

/* BLOCK leads to TO alone; its last instruction does nothing. */
static void lead(struct mal_flow_graph *graph, uint32_t block, uint32_t to)
{
	struct mal_block *at = &graph->blocks[block];
	struct mal_instruction *last = &graph->instructions[at->first + at->count - 1];

	at->next[0] = to;
	at->next_count = 1;
	if (last->flow == MAL_FLOW_NEXT)
		return;
	last->flow = MAL_FLOW_NEXT;
	last->action = MAL_ACTION_NONE;
	last->reads = last->writes = last->addressing = 0;
	last->operand_count = 0;
}

/* What leads to each block, and in which order, anew; -1 without memory. */
static int link(struct mal_flow_graph *graph)
{
	free(graph->order);
	graph->order = NULL;
	for (uint32_t i = 0; i < graph->block_count; i++) {
		free(graph->blocks[i].before);
		graph->blocks[i].before = NULL;
		graph->blocks[i].before_count = 0;
		graph->blocks[i].ends = 0;
	}
	if (mal_flow_order(graph) < 0)
		return -1;
	for (uint32_t i = 0; i < graph->order_count; i++) {
		uint32_t from = graph->order[i];

		for (uint32_t j = 0; j < graph->blocks[from].next_count; j++)
			if (mal_flow_link(graph, from, graph->blocks[from].next[j]) < 0)
				return -1;
	}
	return 0;
}

/* What registers have to be set to after KEPT instructions, by one run; 0 if that is not seen. */
static int find_moves(struct loop *loop)
{
	static struct mal_machine machine, here;
	const struct mal_block *at = &loop->graph->blocks[loop->first];
	struct mal_machine once;
	uint64_t in = loop->live[loop->one];
	unsigned int trial = 0;
	uint32_t block;

	do {
		if (trial == TRIALS)
			return 0;
		mal_machine_begin(&machine, trial * 2 + 1, (uint64_t)1 << trial % 7, 1);
		for (uint32_t i = 0; i < at->count; i++) {
			if (i == loop->kept)
				here = machine;
			mal_machine_step(&machine, &loop->graph->instructions[at->first + i]);
		}
		block = at->next[!mal_machine_holds(
			&machine, mal_flow_last(loop->graph, loop->first)->condition)];
		while (block != loop->one && loop->roles[block] == BEFORE && !machine.failed)
			block = run_block(loop, &machine, block, 0);
		trial++;
	} while (block != loop->one || machine.failed);
	once = machine;
	run_block(loop, &once, loop->one, 0);
	loop->move_count = 0;
	for (uint8_t reg = 0; reg < 16; reg++) {
		uint64_t wanted =
			machine.registers[reg] - (once.registers[reg] - machine.registers[reg]);
		struct move move = {.to = reg, .from = MAL_NO_REGISTER, .number = (int64_t)wanted};

		if (!(in & MAL_BIT(reg)) || here.registers[reg] == wanted)
			continue;
		for (uint8_t from = 0; from < 16; from++)
			if (here.registers[from] == wanted)
				move.from = from;
		if ((move.from == MAL_NO_REGISTER && wanted >= 4096) || loop->move_count == 8)
			return 0;
		loop->moves[loop->move_count++] = move;
	}
	/* One after the other. */
	for (uint32_t i = 0; i < loop->move_count; i++)
		for (uint32_t j = i + 1; j < loop->move_count; j++)
			if (loop->moves[j].from == loop->moves[i].to)
				return 0;
	return loop->kept + loop->move_count < at->count;
}

/* The block FIRST becomes what stays of it. */
static void cut(struct loop *loop)
{
	struct mal_flow_graph *graph = loop->graph;
	struct mal_block *at = &graph->blocks[loop->first];

	lead(graph, loop->first, loop->one);
	for (uint32_t i = loop->kept; i < at->count; i++) {
		struct mal_instruction *old = &graph->instructions[at->first + i];
		struct mal_instruction made = {
			.address = old->address, .length = old->length, .action = MAL_ACTION_NONE};
		const struct move *move = &loop->moves[i - loop->kept];

		if (i - loop->kept < loop->move_count) {
			made.action = MAL_ACTION_MOVE;
			made.mnemonic = ZYDIS_MNEMONIC_MOV;
			made.operand_count = 2;
			made.writes = MAL_BIT(move->to);
			made.reads = move->from == MAL_NO_REGISTER ? 0 : MAL_BIT(move->from);
			made.operands[0] = (struct mal_operand){.kind = MAL_OPERAND_REGISTER,
								.reg = move->to,
								.written = 1,
								.bytes = 8};
			made.operands[1] = (struct mal_operand){
				.kind = move->from == MAL_NO_REGISTER ? MAL_OPERAND_NUMBER
								      : MAL_OPERAND_REGISTER,
				.reg = move->from,
				.read = 1,
				.bytes = 8,
				.number = move->number};
		}
		*old = made;
	}
}

/* A turn before the loop of one turn becomes one of it. */
static int take_first(struct loop *loop)
{
	const struct mal_block *blocks = loop->graph->blocks;
	uint32_t block = loop->divides, end = other_way(&blocks[loop->one], loop->one);

	memset(loop->roles, OUTSIDE, loop->graph->block_count);
	loop->roles[loop->one] = ONE;
	for (unsigned int i = 0; i < 4 && blocks[block].before_count == 1; i++) {
		loop->roles[block] = BEFORE;
		if (other_way(&blocks[block], end) != NOWHERE || blocks[block].next_count != 1)
			break;
		block = blocks[block].before[0];
	}
	if (end == NOWHERE || other_way(&blocks[block], end) == NOWHERE ||
	    mal_flow_last(loop->graph, block)->flow != MAL_FLOW_BRANCH)
		return 0;
	loop->first = block;
	loop->roles[block] = COPY;
	for (loop->kept = 0; loop->kept + 1 < blocks[block].count; loop->kept++)
		if (find_moves(loop) && is_same(loop)) {
			cut(loop);
			return 1;
		}
	return 0;
}

/* Whether the block MANY is several turns at once of what one turn does. */
static int is_unrolled(struct loop *loop, uint32_t many)
{
	unsigned int more = 0;

	if (!find_parts(loop, many))
		return 0;
	while (!is_same(loop))
		if (more++ == EARLIER || !begin_earlier(loop))
			return 0;
	return 1;
}

/* Blocks that only jump are left out; whether there were some. */
static int leave_out_jumps(struct mal_flow_graph *graph)
{
	int changed = 0;

	for (uint32_t i = 0; i < graph->block_count; i++)
		for (uint32_t j = 0; j < graph->blocks[i].next_count; j++) {
			uint32_t *next = &graph->blocks[i].next[j];
			const struct mal_block *to = &graph->blocks[*next];

			if (to->count == 1 && to->next_count == 1 && to->next[0] != *next &&
			    mal_flow_last(graph, *next)->flow == MAL_FLOW_JUMP) {
				*next = to->next[0];
				changed = 1;
			}
		}
	return changed;
}

static int take_back(struct loop *loop)
{
	struct mal_flow_graph *graph = loop->graph;

	if (leave_out_jumps(graph) && link(graph) < 0)
		return -1;
	find_live(loop);

	for (uint32_t i = 0; i < graph->block_count; i++) {
		struct mal_block *one;

		if (graph->blocks[i].order < 0 || !is_unrolled(loop, i))
			continue;
		one = &graph->blocks[loop->one];
		one->next[one->next[0] == i ? 0 : 1] = loop->one;
		lead(graph, loop->divides, loop->one);
		if (link(graph) < 0)
			return -1;
		if (take_first(loop) && link(graph) < 0)
			return -1;
	}
	return 0;
}

int mal_flow_roll(struct mal_flow_graph *graph, int returns)
{
	struct loop loop = {.graph = graph, .returns = returns};
	int result = -1;

	loop.live = calloc((size_t)graph->block_count + 1, sizeof(*loop.live));
	loop.roles = calloc((size_t)graph->block_count + 1, 1);
	loop.seen = calloc((size_t)graph->block_count + 1, sizeof(*loop.seen));
	if (loop.live && loop.roles && loop.seen)
		result = take_back(&loop);
	free(loop.live);
	free(loop.roles);
	free(loop.seen);
	return result;
}
