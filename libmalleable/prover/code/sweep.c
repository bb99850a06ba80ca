/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * sweep.c: goes through the blocks of a function again and again until nothing changes; then
 * through the landing pads that its table of exceptions names. An exception cannot leave a region:
 * what does not come back into the function ends the program.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libmalleable/prover/code/analysis.h"
#include "libmalleable/prover/code/find.h"

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
static bool comes_back(struct mal_analysis *analysis, uint64_t pad)
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

static void check_handlers(struct mal_analysis *analysis)
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
			mal_mark_bound(analysis, not_understood, function->name);
		for (int j = 0; j < count; j++)
			if (comes_back(analysis, pads[j]))
				mal_mark_bound(analysis, "an exception that is caught",
					       function->name);
	}
}

enum { SWEEPS = 40, RESTARTS = 24, DEPTH = 16 };

static void begin(struct mal_analysis *analysis, struct mal_state *state)
{
	memset(state, 0, sizeof(*state));
	state->live = 1;
	for (unsigned int reg = 0; reg < MAL_REGISTERS; reg++)
		state->registers[reg] = mal_symbol(&analysis->values, 1 + reg, MAL_ROUNDS);
	for (uint32_t i = 0; i < 6; i++)
		state->registers[mal_arguments[i]] =
			mal_symbol(&analysis->values, 1 + mal_arguments[i],
				   MAL_ROUNDS | (uint32_t)MAL_GIVEN << i);
	analysis->values.compare = 0;
	state->registers[MAL_RSP] = mal_leaf(&analysis->values, MAL_STACK, 0);
}

static void note_returns(struct mal_analysis *analysis)
{
	static const uint8_t results[] = {MAL_RAX, MAL_XMM0};

	for (size_t i = 0; i < 2; i++) {
		mal_value value = analysis->state->registers[results[i]];
		uint8_t class = mal_node(&analysis->values, value)->class;

		if (class == MAL_UNKNOWN &&
		    strstr(mal_node(&analysis->values, value)->text, "may have"))
			continue;
		if (class > analysis->returns[i])
			analysis->returns[i] = class;
	}
}

static void step_block(struct mal_analysis *analysis, uint32_t block)
{
	const struct mal_block *at = &analysis->graph.blocks[block];

	for (uint32_t i = 0; i < at->count && !analysis->values.full; i++) {
		const struct mal_instruction *instruction =
			&analysis->graph.instructions[at->first + i];

		analysis->at = instruction;
		switch (instruction->flow) {
		case MAL_FLOW_CALL: mal_step_call(analysis, instruction); break;
		case MAL_FLOW_STOP:
			if (instruction->target || instruction->slot)
				mal_step_call(analysis, instruction);
			break;
		case MAL_FLOW_TAIL:
			mal_step_call(analysis, instruction);
			note_returns(analysis);
			break;
		case MAL_FLOW_RETURN: note_returns(analysis); break;
		case MAL_FLOW_BRANCH: mal_step_branch(analysis, instruction); break;
		case MAL_FLOW_JUMP:
			if (at->next_count > 1)
				mal_step_branch(analysis, instruction);
			break;
		default: mal_step(analysis, instruction);
		}
	}
}

/* Returns whether the block's end changed. */
static bool enter_block(struct mal_analysis *analysis, uint32_t block)
{
	struct mal_block_facts *facts = &analysis->facts[block];
	struct mal_state state;
	uint8_t dead = facts->dead, guard = facts->guard;
	mal_value compare = facts->compare;

	if (block == analysis->graph.order[0])
		begin(analysis, &state);
	else
		mal_enter(analysis, block, &state);
	if (!state.live)
		return 0;
	analysis->block = block;
	analysis->state = &state;
	facts->effects = 0;
	facts->rounds = 0;
	facts->stored = 0;
	analysis->values.inner = facts->shared;
	step_block(analysis, block);
	if (!facts->end) {
		facts->end = malloc(sizeof(state));
		if (!facts->end) {
			analysis->values.full = 1;
			return 0;
		}
	} else if (facts->end->live && memcmp(facts->end, &state, sizeof(state)) == 0 &&
		   facts->dead == dead && facts->guard == guard && facts->compare == compare) {
		return 0;
	}
	*facts->end = state;
	return 1;
}

static void forget_all(struct mal_analysis *analysis)
{
	for (uint32_t i = 0; i < analysis->graph.block_count; i++) {
		struct mal_block_facts *facts = &analysis->facts[i];

		if (facts->end)
			memset(facts->end, 0, sizeof(*facts->end));
		facts->compare = 0;
		facts->branch = facts->decides = facts->dead = facts->guard = facts->effects = 0;
		facts->dirty = 1;
	}
}

/* WHAT is noted where ways meet; a history, by what is invariant already. */
static void find(struct mal_analysis *analysis, bool *what)
{
	struct mal_state state;

	*what = 1;
	for (uint32_t i = 1; i < analysis->graph.order_count; i++)
		mal_enter(analysis, analysis->graph.order[i], &state);
	*what = 0;
}

/* Until nothing changes; -1 where that takes too long. */
static int sweep_all(struct mal_analysis *analysis)
{
	const struct mal_flow_graph *graph = &analysis->graph;
	unsigned int restarts = 0, sweeps = 0;
	int changed = 1;

	forget_all(analysis);
	while (changed) {
		changed = 0;
		if (sweeps++ == SWEEPS)
			return -1;
		for (uint32_t i = 0; i < graph->order_count; i++) {
			uint32_t block = graph->order[i];

			if (analysis->values.full)
				return -1;
			if (!analysis->facts[block].dirty)
				continue;
			analysis->facts[block].dirty = 0;
			if (!enter_block(analysis, block))
				continue;
			changed = 1;
			for (uint32_t j = 0; j < graph->blocks[block].next_count; j++)
				analysis->facts[graph->blocks[block].next[j]].dirty = 1;
		}
		if (!changed && !analysis->restart && !analysis->without) {
			find(analysis, &analysis->finds_invariants);
			if (!analysis->restart)
				find(analysis, &analysis->finds_histories);
		}
		if (analysis->restart) {
			analysis->restart = 0;
			if (restarts++ == RESTARTS)
				return -1;
			sweeps = 0;
			changed = 1;
			forget_all(analysis);
		}
	}
	return 0;
}

/* Once more, to note the reasons. */
static void finish(struct mal_analysis *analysis)
{
	analysis->final = 1;
	analysis->returns[0] = analysis->returns[1] = MAL_CLEAN;
	for (uint32_t i = 0; i < analysis->graph.order_count; i++) {
		struct mal_block_facts *facts = &analysis->facts[analysis->graph.order[i]];

		facts->paces[0] = facts->paces[1] = 0;
		if (facts->end && facts->end->live)
			enter_block(analysis, analysis->graph.order[i]);
	}
	if (analysis->values.full)
		mal_mark_bound(analysis, "too large", NULL);
}

static int sweep_as_any(struct mal_analysis *analysis)
{
	bool forced = 1;

	for (unsigned int i = 0; forced && i < 4; i++) {
		if (sweep_all(analysis) < 0)
			return 1;
		if (mal_find_shared_loops(analysis) < 0)
			return -1;
		forced = mal_force_joins(analysis);
	}
	if (forced)
		return 1;
	finish(analysis);
	mal_share_places(analysis);
	if (mal_find_shared_loops(analysis) < 0 || mal_share_vectors(analysis) < 0)
		return -1;
	mal_check_control(analysis);
	return mal_check_rests(analysis);
}

static int run(struct mal_analysis *analysis, struct mal_callee *callee)
{
	int result;

	analysis->callee = callee;
	analysis->reason = &callee->bound;
	result = sweep_as_any(analysis);
	memcpy(callee->returns, analysis->returns, sizeof(callee->returns));
	callee->chooses = analysis->chooses;
	if (result == 0) {
		check_handlers(analysis);
		analysis->reason = &callee->replicated;
		analysis->without = 1;
		analysis->final = 0;
		for (uint32_t i = 0; i < analysis->graph.block_count; i++)
			analysis->facts[i].force = 0;
		result = sweep_all(analysis) < 0;
		if (result == 0)
			finish(analysis);
	}
	if (result > 0) {
		analysis->final = 1;
		analysis->at = NULL;
		mal_mark_bound(analysis, "too large", NULL);
		mal_note(&callee->alone, 0, callee->bound.text, NULL);
	}
	return result < 0 ? -1 : 0;
}

/* The function at ENTRY. Only for want of memory it returns -1. */
static int sweep(struct mal_program *program, uint64_t entry, struct mal_callee *callee)
{
	struct mal_analysis *analysis = calloc(1, sizeof(*analysis));
	int result = -1;
	/* Regions return nothing. */
	bool returns = !mal_find_address(program->regions->list, program->regions->count,
					 sizeof(*program->regions->list), entry);

	if (!analysis)
		return -1;
	analysis->program = program;
	analysis->image = program->image;
	if (mal_flow_build(program->image, entry, &analysis->graph) == 0 &&
	    (analysis->graph.trouble ||
	     mal_unrolled_take_back(program, &analysis->graph, returns) == 0)) {
		size_t count = (size_t)analysis->graph.block_count + 1;

		analysis->facts = calloc(count, sizeof(*analysis->facts));
		analysis->marks = calloc(count, 4);
		analysis->set = analysis->marks + count;
		analysis->in_share = analysis->set + count;
		analysis->once = analysis->in_share + count;
		if (analysis->graph.trouble) {
			mal_note(&callee->bound, 0, analysis->graph.trouble, NULL);
			mal_note(&callee->alone, 0, analysis->graph.trouble, NULL);
			result = 0;
		} else if (analysis->facts && analysis->marks &&
			   mal_values_make(&analysis->values) == 0) {
			result = run(analysis, callee);
		}
		for (uint32_t i = 0; analysis->facts && i < analysis->graph.block_count; i++)
			free(analysis->facts[i].end);
	}
	free(analysis->facts);
	free(analysis->marks);
	mal_values_free(&analysis->values);
	mal_flow_free(&analysis->graph);
	free(analysis);
	return result;
}

const struct mal_callee *mal_callee(struct mal_program *program, uint64_t entry)
{
	struct mal_callee *callee;
	size_t open = 0;

	for (size_t i = 0; i < program->callee_count; i++) {
		open += !program->callees[i]->done;
		if (program->callees[i]->entry == entry)
			return program->callees[i]->done ? program->callees[i] : NULL;
	}
	if (!mal_grow(&program->callees, program->callee_count, sizeof(callee)) ||
	    !(callee = calloc(1, sizeof(*callee))))
		return NULL;
	program->callees[program->callee_count++] = callee;
	callee->entry = entry;
	if (open >= DEPTH || sweep(program, entry, callee) < 0)
		return NULL;
	callee->done = 1;
	return callee;
}
