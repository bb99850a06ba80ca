/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * callees.c: calls of other functions: what they are given, as far as they take it from their
 * caller, and what they give back.
 */
#include <string.h>

#include "libmalleable/prover/code/actions.h"
#include "libmalleable/prover/code/analysis.h"

/* What the registers in SOME hold is given to a function. */
static void give(struct mal_analysis *analysis, uint64_t some, int lenient)
{
	struct mal_state *state = analysis->state;

	for (unsigned int reg = 0; reg < MAL_XMM0 + 8; reg++) {
		const struct mal_node *node = mal_node(&analysis->values, state->registers[reg]);

		if (!(some & MAL_BIT(reg)) || node->class < MAL_ITERATIONS)
			continue;
		/* Not all of them are arguments. */
		if (lenient && node->class == MAL_UNKNOWN && strstr(node->text, "may have changed"))
			continue;
		if (node->class == MAL_IDENTITY &&
		    mal_is_share(&analysis->values, state->registers[reg]) &&
		    mal_shape_of(&analysis->values, state->registers[reg])->start) {
			mal_effect(analysis, lenient ? 0 : MAL_EFFECT_BOUND);
			continue;
		}
		if (!lenient)
			mal_check_first(analysis, state->registers[reg]);
		if (node->class != MAL_ITERATIONS || (analysis->without && !lenient))
			mal_check_value(analysis, state->registers[reg], "passed to a function");
	}
}

/* Whether one of the registers in SOME has a history: the flag of what is made of it. */
static uint32_t history_of(const struct mal_analysis *analysis, uint64_t some)
{
	uint32_t flags = 0;

	for (unsigned int reg = 0; reg < MAL_XMM0 + 8; reg++)
		if (some & MAL_BIT(reg))
			flags |=
				mal_node(&analysis->values, analysis->state->registers[reg])->flags;
	return flags & MAL_HISTORY;
}

/* After a call: what it may write is lost, but for its result, made of what has HISTORY. */
static void forget(struct mal_analysis *analysis, uint64_t writes, mal_value result,
		   uint32_t history)
{
	struct mal_state *state = analysis->state;
	mal_value lost = mal_leaf(&analysis->values, MAL_LOST, 0);

	for (unsigned int reg = 0; reg < MAL_REGISTERS; reg++)
		if (writes & MAL_BIT(reg) && !(mal_saved & MAL_BIT(reg)))
			state->registers[reg] = lost;
	if (writes & MAL_BIT(MAL_RAX))
		state->registers[MAL_RAX] =
			result ? result : mal_fresh(analysis, 0, MAL_ROUNDS | history);
	for (unsigned int i = 0; i < 2; i++)
		if (writes & MAL_BIT(MAL_XMM0 + i))
			state->registers[MAL_XMM0 + i] =
				mal_fresh(analysis, 1 + i, MAL_ROUNDS | history);
	state->left = state->right = 0;
	state->load_count = 0;
}

static void fill(struct mal_analysis *analysis, mal_value pointer, uint32_t bytes, mal_value value)
{
	const struct mal_node *node = mal_node(&analysis->values, pointer);
	struct mal_offsets *escapes = &analysis->escapes;
	uint32_t kept = 0;

	if (node->kind != MAL_STACK)
		return;
	for (uint32_t i = 0; i < escapes->count; i++)
		if (escapes->list[i] != node->key)
			escapes->list[kept++] = escapes->list[i];
	escapes->count = kept;
	mal_store_slot(analysis, node->key, bytes, value);
	mal_add_offset(analysis, &analysis->filled, node->key);
}

static mal_value on_stack(struct mal_analysis *analysis, int64_t place)
{
	const struct mal_node *top =
		mal_node(&analysis->values, analysis->state->registers[MAL_RSP]);

	return top->kind == MAL_STACK ? mal_load_slot(analysis, top->key + place, 8) : 0;
}

/* The runtimes' functions that divide iterations. */
static mal_value step_loop(struct mal_analysis *analysis, const struct mal_external *external,
			   const char *name)
{
	struct mal_values *values = &analysis->values;
	mal_value *registers = analysis->state->registers, share = mal_leaf(values, MAL_SHARE, 0);
	mal_value last = analysis->without ? mal_number(values, 0) : share;
	uint32_t bytes = strstr(name, "_8") ? 8 : 4;
	int64_t where = (int64_t)analysis->at->address;

	if (external->kind == MAL_EXTERNAL_STATIC_INIT) {
		mal_value step = on_stack(analysis, 0);

		analysis->state->working = 1;
		fill(analysis, registers[MAL_RCX], 4, last);
		fill(analysis, registers[MAL_R8], bytes, mal_leaf(values, MAL_LOW, where));
		fill(analysis, registers[MAL_R9], bytes, mal_leaf(values, MAL_HIGH, where));
		fill(analysis, step, bytes, share);
		return 0;
	}
	if (external->kind == MAL_EXTERNAL_DISPATCH_NEXT) {
		fill(analysis, registers[MAL_RDX], 4, last);
		for (size_t i = 3; i < 6; i++)
			fill(analysis, registers[mal_arguments[i]], bytes, share);
	} else {
		for (size_t i = 0; i < 6; i++)
			fill(analysis, registers[mal_arguments[i]], 8, share);
		for (int64_t i = 0; i < 24 && strstr(name, "_start"); i += 8)
			fill(analysis, on_stack(analysis, i), 8, share);
	}
	return last;
}

static mal_value step_runtime(struct mal_analysis *analysis, const struct mal_external *external,
			      const char *name)
{
	struct mal_values *values = &analysis->values;
	struct mal_state *state = analysis->state;
	int64_t filter;

	switch (external->kind) {
	case MAL_EXTERNAL_THREAD: return mal_leaf(values, MAL_THREAD, 0);
	case MAL_EXTERNAL_THREADS: return mal_leaf(values, MAL_THREADS, 0);
	case MAL_EXTERNAL_GLOBAL_THREAD:
		return mal_tells(values, "the number of a thread of the runtime");
	case MAL_EXTERNAL_STATIC_INIT:
	case MAL_EXTERNAL_DISPATCH_NEXT:
	case MAL_EXTERNAL_LOOP_NEXT: return step_loop(analysis, external, name);
	case MAL_EXTERNAL_ONCE:
		if (strcmp(name, "__kmpc_masked") == 0 &&
		    (!mal_is_number(values, state->registers[MAL_RDX], &filter) || filter))
			mal_mark_bound(analysis, "masked with a filter", NULL);
		return analysis->without ? mal_number(values, 0) : mal_leaf(values, MAL_CHOSEN, 0);
	case MAL_EXTERNAL_PROTECT: state->protected_ = state->held = 1; return 0;
	case MAL_EXTERNAL_PROTECT_END: state->protected_ = state->held = 0; return 0;
	default: return 0;
	}
}

/* memset, memcpy and their like. */
static void step_memory(struct mal_analysis *analysis, const char *name)
{
	struct mal_values *values = &analysis->values;
	struct mal_state *state = analysis->state;
	mal_value to = state->registers[MAL_RDI], from = state->registers[MAL_RSI];
	mal_value length = state->registers[MAL_RDX];
	const struct mal_node *bytes = mal_node(values, length);
	int set = strstr(name, "set") != NULL;

	mal_check_address(analysis, to, mal_node(values, to)->class != MAL_IDENTITY);
	if (set) {
		mal_check_value(analysis, from, "stored");
		mal_check_history(analysis, from);
	} else {
		mal_check_address(analysis, from, 0);
	}
	mal_check_length(analysis, length, 1, to, set ? 0 : from);
	mal_write_many(analysis, to, set && from == mal_number(values, 0) ? from : 0,
		       bytes->kind == MAL_NUMBER && bytes->key > 0 ? bytes->key : 0);
}

/* Something that counts how often it is done. */
static void note_effect(struct mal_analysis *analysis, const char *name)
{
	mal_effect(analysis, MAL_EFFECT_CALL);
	if (analysis->without && analysis->graph.blocks[analysis->block].ends)
		mal_mark_bound(analysis, "every thread calls what has an effect", name);
}

static bool allocates(const char *name)
{
	return strstr(name, "alloc") || strncmp(name, "_Zn", 3) == 0;
}

static void step_external(struct mal_analysis *analysis, const struct mal_slot *slot)
{
	const struct mal_external *external = mal_slot_external(slot);
	const char *name = slot->symbol ? slot->symbol : "?";
	uint64_t some = mal_external_arguments(external);
	uint32_t history = external->integers == MAL_ANY_ARGUMENTS ? 0 : history_of(analysis, some);
	mal_value result = 0;
	bool runtime = false;

	mal_share_external(analysis, external, name);
	switch (external->kind) {
	case MAL_EXTERNAL_MEMORY:
		step_memory(analysis, name);
		/* What most of them return. */
		if (!strstr(name, "mempcpy"))
			result = analysis->state->registers[MAL_RDI];
		break;
	case MAL_EXTERNAL_PURE:
	case MAL_EXTERNAL_END: give(analysis, some, external->integers == MAL_ANY_ARGUMENTS); break;
	case MAL_EXTERNAL_OTHER:
	case MAL_EXTERNAL_CALLBACK:
	case MAL_EXTERNAL_EFFECT:
		give(analysis, some, 1);
		note_effect(analysis, name);
		mal_forget_escaped(analysis);
		break;
	default:
		runtime = true;
		mal_effect(analysis, MAL_EFFECT_RUNTIME);
		if (strcmp(name, "__kmpc_for_static_fini") == 0)
			analysis->state->working = 0;
		result = step_runtime(analysis, external, name);
	}
	if (external->kind == MAL_EXTERNAL_PURE && external->integers)
		mal_forget_escaped(analysis);
	if (external->kind == MAL_EXTERNAL_PURE && allocates(name))
		result = mal_fresh(
			analysis, 0,
			(analysis->facts[analysis->block].shared ? 0 : MAL_OWN) |
				(strcmp(name, "realloc") != 0
					 ? MAL_NEW
					 : mal_flags(&analysis->values,
						     analysis->state->registers[MAL_RDI]) &
						   MAL_NEW));
	forget(analysis, ~mal_saved & ~MAL_BIT(MAL_FLAGS), result, history);
	/* No runtime returns a number there. */
	if (runtime)
		analysis->state->registers[MAL_XMM0] = analysis->state->registers[MAL_XMM0 + 1] =
			mal_leaf(&analysis->values, MAL_LOST, 0);
}

static void step_callee(struct mal_analysis *analysis, uint64_t target, mal_value *results)
{
	const struct mal_callee *callee = mal_callee(analysis->program, target);
	const struct mal_reason *reason;

	mal_effect(analysis,
		   MAL_EFFECT_RUNTIME | (callee && callee->chooses ? MAL_EFFECT_CHOOSES : 0));
	if (!callee) {
		mal_mark_bound(analysis, "calls that are nested too deeply",
			       mal_image_name(analysis->image, target));
		return;
	}
	reason = analysis->without ? &callee->replicated : &callee->bound;
	if (analysis->final && !analysis->reason->text)
		*analysis->reason = *reason;
	for (size_t i = 0; i < 2; i++)
		results[i] = callee->returns[i] >= MAL_IDENTITY
				     ? mal_tells(&analysis->values,
						 "what a function returns of a thread's number")
			     : callee->returns[i] ? mal_leaf(&analysis->values, MAL_SHARE, 0)
						  : 0;
}

/* Whether a function stores other than in its own frame, as far as that is known. */
static bool stores(const struct mal_callee *callee)
{
	return !callee || callee->store_count || callee->alone.text;
}

static bool is_argument(const struct mal_analysis *analysis, int64_t offset, int64_t bytes)
{
	const struct mal_node *top =
		mal_node(&analysis->values, analysis->state->registers[MAL_RSP]);

	return top->kind == MAL_STACK && offset >= top->key && offset < top->key + bytes;
}

static void step_internal(struct mal_analysis *analysis, uint64_t target)
{
	const struct mal_reach *reach = mal_closure(analysis->program, target);
	uint64_t shown = 0, taken;
	mal_value results[2] = {0, 0};
	uint32_t history = 0;

	mal_share_callee(analysis, target);
	for (unsigned int reg = 0; reg < MAL_XMM0 + 8; reg++)
		if (mal_node(&analysis->values, analysis->state->registers[reg])->class)
			shown |= MAL_BIT(reg);
	if ((shown & ~mal_saved && analysis->final) || history_of(analysis, mal_given)) {
		taken = mal_live_in(analysis->image, target, 0);
		history = history_of(analysis, taken);
		give(analysis, shown & taken, 0);
		if (history && analysis->values.inner && analysis->final &&
		    stores(mal_callee(analysis->program, target)))
			mal_mark_bound(analysis, "a value carried between iterations, passed on",
				       mal_image_name(analysis->image, target));
	}
	for (uint32_t i = 0; i < analysis->state->slot_count && analysis->final; i++)
		if (mal_node(&analysis->values, analysis->state->slots[i].value)->class >=
			    MAL_IDENTITY &&
		    is_argument(analysis, analysis->state->slots[i].offset,
				mal_takes_stack(analysis->program, target)))
			mal_check_value(analysis, analysis->state->slots[i].value,
					"passed to a function");
	if (reach->does & (MAL_DOES_ASK | MAL_DOES_RUNTIME)) {
		mal_effect(analysis, reach->does & MAL_DOES_EFFECT ? MAL_EFFECT_CALL : 0);
		step_callee(analysis, target, results);
	} else if (reach->does & MAL_DOES_EFFECT) {
		note_effect(analysis, mal_image_name(analysis->image, target));
	}
	mal_forget_escaped(analysis);
	forget(analysis, reach->bound.text ? ~(uint64_t)0 : reach->writes, results[0], history);
	if (results[1])
		analysis->state->registers[MAL_XMM0] = results[1];
}

static void step_indirect(struct mal_analysis *analysis)
{
	give(analysis, mal_given, 1);
	mal_share_indirect(analysis);
	if (mal_indirect_observes(analysis->program))
		mal_mark_bound(analysis, "a call through a pointer that may read the thread number",
			       NULL);
	note_effect(analysis, "through a pointer");
	mal_forget_escaped(analysis);
	forget(analysis, ~mal_saved, 0, 0);
}

void mal_step_call(struct mal_analysis *analysis, const struct mal_instruction *at)
{
	const struct mal_slot *slot = mal_call_slot(analysis->image, at);
	uint64_t target = mal_call_target(analysis->image, at);

	if (!slot && !target && at->operands[0].kind == MAL_OPERAND_REGISTER &&
	    at->operands[0].reg < 16) {
		const struct mal_node *node = mal_node(
			&analysis->values, analysis->state->registers[at->operands[0].reg]);

		if (node->kind == MAL_SLOT_VALUE)
			slot = mal_image_slot(analysis->image, (uint64_t)node->key);
	}
	if (slot && slot->kind == MAL_SLOT_ADDRESS) {
		target = slot->value;
		slot = NULL;
	}
	if (slot)
		step_external(analysis, slot);
	else if (target)
		step_internal(analysis, target);
	else
		step_indirect(analysis);
}
