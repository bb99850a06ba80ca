/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* sweep.c: goes through the blocks of a function again and again until nothing changes. */
#include "libmalleable/inspect/sweep.h"

#include <stdlib.h>
#include <string.h>

#include "libmalleable/base/clock.h"
#include "libmalleable/inspect/handlers.h"
#include "libmalleable/inspect/live.h"
#include "libmalleable/inspect/waits.h"
#include "libmalleable/inspect/walk.h"

#ifdef HAVE_ZYDIS

enum { SWEEPS = 100, DEPTH = 4 };

static mal_value argument(struct mal_analysis *analysis, enum mal_symbol_class class, uint32_t reg)
{
	struct mal_symbol symbol = {
		.class = class, .role = 700 + reg, .block = analysis->graph.order[0]};

	return mal_of_symbol(&analysis->values, mal_symbol(&analysis->values, &symbol));
}

static void begin(struct mal_analysis *analysis, struct mal_state *state,
		  const struct mal_sweep *sweep)
{
	enum mal_reached reached = sweep->reached;
	struct mal_values *values = &analysis->values;
	mal_value nothing = mal_taint(values, mal_unset);
	size_t clean = reached == MAL_REACHED_LIBGOMP ? 1 : 6;

	memset(state, 0, sizeof(*state));
	state->live = 1;
	for (unsigned int reg = 0; reg < MAL_REGISTERS; reg++)
		state->registers[reg] = nothing;
	state->registers[MAL_RSP] = argument(analysis, MAL_STACK, MAL_RSP);
	analysis->stack = values->forms[state->registers[MAL_RSP]].terms[0].symbol;
	state->registers[MAL_X87] = mal_number(values, 0);
	for (size_t i = 0; i < clean; i++)
		state->registers[mal_integer_arguments[i]] = argument(
			analysis, reached == MAL_REACHED_LIBOMP && i < 2 ? MAL_GLOBAL : MAL_CLEAN,
			mal_integer_arguments[i]);
	for (unsigned int reg = 0; reg < 16; reg++)
		if (sweep->heap & MAL_BIT(reg))
			state->registers[reg] = mal_heap_argument(analysis, reg);
	for (unsigned int i = 0; i < 8 && reached >= MAL_REACHED_CALL; i++)
		state->registers[MAL_XMM0 + i] = argument(analysis, MAL_CLEAN, MAL_XMM0 + i);
	state->left = nothing;
}

static void note_returns(struct mal_analysis *analysis)
{
	static const uint8_t results[] = {MAL_RAX, MAL_XMM0, MAL_RDX, MAL_XMM0 + 1};

	for (size_t i = 0; i < 2 && analysis->final && !analysis->returns; i++) {
		mal_value result = analysis->state->registers[results[i]];

		analysis->returns = mal_shows(analysis, result, analysis->block, -1);
		if (!analysis->returns && mal_is_heap(&analysis->values, result))
			analysis->returns = mal_heap_passed;
	}
}

static void step_block(struct mal_analysis *analysis, uint32_t block)
{
	const struct mal_block *at = &analysis->graph.blocks[block];

	mal_work(analysis, (uint64_t)64 * at->count);
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

/* A function may be large, and be gone through often. */
static int is_late(const struct mal_analysis *analysis)
{
	uint64_t deadline_ns = analysis->program->deadline_ns;

	return deadline_ns && mal_now_ns() >= deadline_ns;
}

static void sweep_once(struct mal_analysis *analysis, const struct mal_sweep *sweep)
{
	for (uint32_t i = 0; i < analysis->graph.block_count; i++) {
		analysis->loops[i].step = 0;
		analysis->loops[i].start = 0;
	}
	/* What ends a loop tells its step best. */
	if (!analysis->final)
		mal_check_shared_loops(analysis);
	for (uint32_t i = 0; i < analysis->graph.order_count && !analysis->values.full; i++) {
		uint32_t block = analysis->graph.order[i];
		struct mal_state *state = &analysis->ends[block];

		mal_work(analysis, 1000);
		analysis->block = block;
		analysis->at = NULL;
		analysis->state = state;
		if (i == 0)
			begin(analysis, state, sweep);
		else
			mal_enter(analysis, block, state);
		if (state->live)
			step_block(analysis, block);
	}
}

static void sweep_all(struct mal_analysis *analysis, const struct mal_sweep *sweep)
{
	unsigned int sweeps;

	for (sweeps = 0; sweeps < SWEEPS && !analysis->values.full; sweeps++) {
		sweep_once(analysis, sweep);
		analysis->values.full |= is_late(analysis);
		mal_work(analysis, MAL_LOCATIONS);
		if (mal_open_loops(analysis))
			continue;
		if (mal_spread_branches(analysis)) {
			/* What was concluded before is void. */
			memset(analysis->locations, 0,
			       MAL_LOCATIONS * sizeof(*analysis->locations));
			analysis->location_count = 0;
			continue;
		}
		if (!mal_check_loops(analysis))
			break;
	}
	analysis->final = 1;
	if (analysis->values.full || sweeps == SWEEPS) {
		mal_bind(analysis, "too large", NULL);
		return;
	}
	mal_check_shared_loops(analysis);
	sweep_once(analysis, sweep);
	mal_check_shared_loops(analysis);
	mal_check_covers(analysis);
	if (analysis->values.full)
		mal_bind(analysis, "too large", NULL);
}

/* Functions whose address is taken here may be called by whoever gets it. */
static void check_references(struct mal_analysis *analysis)
{
	for (uint32_t i = 0; i < analysis->graph.instruction_count; i++) {
		const struct mal_instruction *at = &analysis->graph.instructions[i];
		const struct mal_reach *reach;

		if (at->flow != MAL_FLOW_NEXT)
			continue;
		analysis->at = at;
		for (unsigned int j = 0; j < at->operand_count; j++) {
			const struct mal_operand *operand = &at->operands[j];
			uint64_t address = (uint64_t)operand->number;
			const struct mal_slot *slot;

			if (operand->kind == MAL_OPERAND_REGISTER ||
			    (operand->kind == MAL_OPERAND_NUMBER && !analysis->image->fixed))
				continue;
			if (operand->kind == MAL_OPERAND_MEMORY &&
			    (operand->base != MAL_NO_REGISTER || operand->index != MAL_NO_REGISTER))
				continue;
			slot = mal_image_slot(analysis->image, address);
			if (!slot)
				slot = mal_image_stub(analysis->image, address);
			if (slot && slot->kind == MAL_SLOT_TLS)
				mal_bind(analysis, "thread-local storage", NULL);
			if (slot && slot->kind == MAL_SLOT_RESOLVER)
				mal_bind(analysis, "unknown function", NULL);
			if (slot && slot->kind == MAL_SLOT_SYMBOL && slot->function)
				mal_check_external(analysis, slot->symbol);
			if (slot && slot->kind == MAL_SLOT_ADDRESS)
				address = slot->value;
			if (!mal_image_executable(analysis->image, address) ||
			    !mal_image_function(analysis->image, address) ||
			    (slot && slot->kind != MAL_SLOT_ADDRESS))
				continue;
			reach = mal_closure(analysis->program, address);
			if (!reach || reach->reason)
				mal_bind(analysis, reach ? reach->reason : "too large",
					 reach ? reach->symbol : NULL);
			else if (reach->indirect && !mal_indirect_harmless(analysis->program))
				mal_bind(analysis, "a call through a pointer", NULL);
		}
	}
}

static int make(struct mal_analysis *analysis)
{
	size_t count = analysis->graph.block_count;

	analysis->ends = calloc(count, sizeof(*analysis->ends));
	analysis->branches = calloc(count, sizeof(*analysis->branches));
	analysis->loops = calloc(count, sizeof(*analysis->loops));
	analysis->joins = calloc(count, 1);
	analysis->modes = calloc(count, sizeof(*analysis->modes));
	analysis->together = calloc(count, 1);
	analysis->merging = calloc(count, 1);
	analysis->reducing = calloc(count, 1);
	analysis->guards = calloc(count, sizeof(*analysis->guards));
	analysis->odd = calloc(count, sizeof(*analysis->odd));
	analysis->locations = calloc(MAL_LOCATIONS, sizeof(*analysis->locations));
	return analysis->ends && analysis->branches && analysis->loops && analysis->joins &&
			       analysis->modes && analysis->together && analysis->merging &&
			       analysis->reducing && analysis->guards && analysis->odd &&
			       analysis->locations && mal_values_make(&analysis->values) == 0
		       ? 0
		       : -1;
}

static void unmake(struct mal_analysis *analysis)
{
	free(analysis->ends);
	free(analysis->branches);
	free(analysis->loops);
	free(analysis->joins);
	free(analysis->modes);
	free(analysis->together);
	free(analysis->merging);
	free(analysis->reducing);
	free(analysis->guards);
	free(analysis->odd);
	free(analysis->locations);
	mal_values_free(&analysis->values);
	mal_flow_free(&analysis->graph);
}

int mal_sweep(struct mal_program *program, struct mal_sweep *sweep)
{
	struct mal_finding *finding = sweep->finding;
	struct mal_analysis analysis = {.program = program,
					.image = program->image,
					.finding = finding,
					.shared = sweep->reached == MAL_REACHED_SHARE,
					.depth = sweep->depth};
	int result = -1;

	*finding = (struct mal_finding){0};
	if (mal_flow_build(program->image, sweep->entry, &analysis.graph) < 0)
		return -1;
	if (analysis.graph.trouble) {
		finding->reason = analysis.graph.trouble;
		result = 0;
	} else if (mal_waits(program->image, analysis.graph.instructions,
			     analysis.graph.instruction_count)) {
		finding->reason = "a wait for another thread";
		result = 0;
	} else if (make(&analysis) == 0) {
		sweep_all(&analysis, sweep);
		mal_check_handlers(&analysis);
		check_references(&analysis);
		sweep->returns = analysis.returns;
		result = 0;
	}
	unmake(&analysis);
	return result;
}

const struct mal_callee *mal_sweep_callee(struct mal_analysis *analysis, uint64_t entry,
					  enum mal_reached reached, uint16_t heap)
{
	struct mal_program *program = analysis->program;
	struct mal_finding finding = {0};
	struct mal_sweep sweep = {.entry = entry,
				  .reached = reached,
				  .heap = heap,
				  .depth = analysis->depth + 1,
				  .finding = &finding};
	struct mal_callee *callee;
	size_t at;

	for (at = 0; at < program->callee_count; at++) {
		callee = &program->callees[at];
		if (callee->entry == entry && callee->reached == (int)reached &&
		    callee->heap == heap)
			return callee->done ? callee : NULL;
	}
	if (at == MAL_CALLEES || analysis->depth >= DEPTH)
		return NULL;
	callee = &program->callees[program->callee_count++];
	*callee = (struct mal_callee){.entry = entry, .reached = (int)reached, .heap = heap};
	if (mal_sweep(program, &sweep) < 0)
		return NULL;
	callee->reason = finding.reason;
	callee->symbol = finding.symbol;
	callee->returns = sweep.returns;
	callee->done = 1;
	return callee;
}

#endif
