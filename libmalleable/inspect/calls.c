/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * calls.c: calls of other functions: who may make them, with which arguments, and what they
 * change.
 */
#include <string.h>

#include "libmalleable/inspect/analysis.h"
#include "libmalleable/inspect/live.h"
#include "libmalleable/inspect/sweep.h"

#ifdef HAVE_ZYDIS

static const uint64_t saved = MAL_BIT(MAL_RBX) | MAL_BIT(MAL_RBP) | MAL_BIT(MAL_RSP) |
			      MAL_BIT(MAL_R12) | MAL_BIT(MAL_R13) | MAL_BIT(MAL_R14) |
			      MAL_BIT(MAL_R15);

/* Why one of the registers in SOME, or what lies on the stack for the callee, may not be passed. */
static const char *shown_by(struct mal_analysis *analysis, uint64_t some, int stack)
{
	const struct mal_state *state = analysis->state;
	const char *reason = NULL;
	uint32_t base;
	int64_t offset;
	int exact;

	for (unsigned int reg = 0; reg < MAL_REGISTERS && !reason; reg++) {
		if (!(some & MAL_BIT(reg)))
			continue;
		reason = mal_shows(analysis, state->registers[reg], analysis->block, -1);
		/* No compiler passes what it did not set. */
		if (reason == mal_unset || reason == mal_lost)
			reason = NULL;
	}
	if (!stack || reason)
		return reason;
	if (!mal_is_stack(&analysis->values, state->registers[MAL_RSP], &base, &offset, &exact) ||
	    !exact)
		return "a stack of changing size";
	for (uint32_t i = 0; i < state->slot_count && !reason; i++)
		if (state->slots[i].base == base && state->slots[i].offset >= offset &&
		    state->slots[i].offset < offset + 128) {
			reason = mal_shows(analysis, state->slots[i].value, analysis->block, -1);
			if (reason == mal_unset || reason == mal_lost)
				reason = NULL;
		}
	return reason;
}

/* Registers after a call: results are RESULT, or the same for all; what else may change is lost. */
static void clobber(struct mal_analysis *analysis, uint64_t writes, const char *returns)
{
	static const uint8_t results[] = {MAL_RAX, MAL_RDX, MAL_XMM0, MAL_XMM0 + 1};
	struct mal_state *state = analysis->state;

	for (unsigned int reg = 0; reg < MAL_REGISTERS; reg++) {
		if (!(writes & MAL_BIT(reg)) || saved & MAL_BIT(reg))
			continue;
		state->registers[reg] = mal_taint(&analysis->values, mal_lost);
		if (reg < 16)
			state->rest[reg] = 0;
	}
	for (size_t i = 0; i < sizeof(results); i++)
		if (!(writes & MAL_BIT(results[i])))
			continue;
		else if (returns == mal_heap_passed)
			state->registers[results[i]] =
				mal_fresh(analysis, MAL_CLEAN, MAL_ROLE_HEAP);
		else
			state->registers[results[i]] =
				returns ? mal_taint(&analysis->values, returns)
					: mal_fresh(analysis, MAL_CLEAN, results[i]);
	state->flags = MAL_FLAGS_VALUE;
	state->left = mal_taint(&analysis->values, "flags after a call");
	state->right = 0;
}

/* A share of an array that is set whole: from its low to its high end. */
static int is_share(struct mal_analysis *analysis, mal_value address, mal_value length)
{
	const struct mal_form *to = &analysis->values.forms[address];
	const struct mal_form *bytes = &analysis->values.forms[length];
	int64_t low = 0, high = 0, start = 0;

	if (to->kind != MAL_LINEAR || bytes->kind != MAL_LINEAR ||
	    !analysis->merging[analysis->block])
		return 0;
	for (unsigned int i = 0; i < to->count; i++) {
		const struct mal_symbol *symbol = &analysis->values.symbols[to->terms[i].symbol];

		if (symbol->class == MAL_LOW && !to->terms[i].factor && !start)
			start = to->terms[i].times;
		else if (symbol->class != MAL_CLEAN)
			return 0;
	}
	for (unsigned int i = 0; i < bytes->count; i++) {
		const struct mal_symbol *symbol = &analysis->values.symbols[bytes->terms[i].symbol];

		if (bytes->terms[i].factor)
			return 0;
		if (symbol->class == MAL_LOW)
			low = bytes->terms[i].times;
		else if (symbol->class == MAL_HIGH)
			high = bytes->terms[i].times;
		else
			return 0;
	}
	return start > 0 && high == start && low == -start &&
	       mal_family(&analysis->values, address) == mal_family(&analysis->values, length) &&
	       (bytes->constant == 0 || bytes->constant == start);
}

/* Memory that is set or copied whole. Returns whether that was understood. */
static int step_memory(struct mal_analysis *analysis, const char *name)
{
	struct mal_state *state = analysis->state;
	struct mal_values *values = &analysis->values;
	mal_value to = state->registers[MAL_RDI], from = state->registers[MAL_RSI];
	mal_value length = state->registers[MAL_RDX], value;
	int set = strcmp(name, "memset") == 0, exact;
	int64_t offset, bytes;
	uint32_t base;

	if (!set && strcmp(name, "memcpy") != 0 && strcmp(name, "memmove") != 0)
		return 0;
	if (!mal_is_stack(values, to, &base, &offset, &exact)) {
		if (!set || !is_share(analysis, to, length))
			return 0;
		return mal_shows(analysis, from, analysis->block, -1) == NULL;
	}
	mal_forget_slots(analysis, base, exact ? offset : INT64_MIN, INT64_MAX);
	if (!exact || !mal_is_number(values, length, &bytes) || bytes <= 0 || bytes > 4096)
		return 1;
	value = from;
	if (!set || !mal_is_number(values, from, &(int64_t){0})) {
		if (mal_shows(analysis, from, analysis->block, -1))
			return 1;
		value = mal_fresh(analysis, MAL_CLEAN, 600);
	}
	mal_store_slot(analysis, base, (int32_t)offset, (uint32_t)bytes, value);
	return 1;
}

static void step_out(struct mal_analysis *analysis, const struct mal_external *external)
{
	static const uint8_t pointers[] = {MAL_RDI, MAL_RSI};
	const char *reason = shown_by(analysis, MAL_BIT(MAL_XMM0), 0);

	for (unsigned int i = 0; i < external->integers && i < 2; i++) {
		uint32_t base, bytes = external->name[strlen(external->name) - 1] == 'f' ? 4 : 8;
		int64_t offset;
		int exact;

		if (strncmp(external->name, "frexp", 5) == 0)
			bytes = 4;
		if (!mal_is_stack(&analysis->values, analysis->state->registers[pointers[i]], &base,
				  &offset, &exact) ||
		    !exact)
			mal_bind(analysis, "results in memory", external->name);
		else
			mal_store_slot(analysis, base, (int32_t)offset, bytes,
				       reason ? mal_taint(&analysis->values, reason)
					      : mal_fresh(analysis, MAL_CLEAN, 610 + i));
	}
}

/* A construct's result is a word; the rest is changed like by any call. */
static void step_construct(struct mal_analysis *analysis, const struct mal_external *external,
			   const struct mal_instruction *instruction)
{
	static const uint8_t others[] = {MAL_RDX, MAL_XMM0, MAL_XMM0 + 1};
	mal_value before = analysis->state->registers[MAL_RAX], result;

	mal_step_runtime(analysis, external, instruction);
	result = analysis->state->registers[MAL_RAX];
	clobber(analysis, ~saved & ~MAL_BIT(MAL_FLAGS), NULL);
	for (size_t i = 0; i < sizeof(others); i++)
		analysis->state->registers[others[i]] = mal_taint(&analysis->values, mal_lost);
	if (result != before)
		analysis->state->registers[MAL_RAX] = result;
}

void mal_check_external(struct mal_analysis *analysis, const char *name)
{
	enum mal_external_kind kind = mal_external(name)->kind;

	if (kind == MAL_EXTERNAL_UNKNOWN)
		mal_bind(analysis, "unknown function", name);
	else if (kind == MAL_EXTERNAL_IDENTITY || kind == MAL_EXTERNAL_THREAD ||
		 kind == MAL_EXTERNAL_THREADS)
		mal_bind(analysis, "identity", name);
}

static void step_external(struct mal_analysis *analysis, const struct mal_external *external,
			  const char *name, const struct mal_instruction *instruction)
{
	enum mal_mode mode = analysis->modes[analysis->block];
	int every = mode == MAL_MODE_ALL, any = external->integers == MAL_ANY_ARGUMENTS;
	const char *reason = shown_by(analysis, mal_arguments_of(external), any);
	uint64_t all = ~saved & ~MAL_BIT(MAL_FLAGS);

	switch (external->kind) {
	case MAL_EXTERNAL_UNKNOWN: mal_bind(analysis, "unknown function", name); break;
	case MAL_EXTERNAL_IDENTITY: mal_bind(analysis, "identity", name); break;
	case MAL_EXTERNAL_PURE: break;
	case MAL_EXTERNAL_READ: break;
	case MAL_EXTERNAL_OUT: step_out(analysis, external); break;
	case MAL_EXTERNAL_ALLOCATE:
		if (reason && !every)
			mal_bind(analysis, reason, name);
		if (every)
			reason = "memory that a thread allocates";
		break;
	case MAL_EXTERNAL_RELEASE:
		if (reason && !every)
			mal_bind(analysis, reason, name);
		break;
	case MAL_EXTERNAL_EFFECT:
		if (step_memory(analysis, name))
			break;
		if (reason)
			mal_bind(analysis, reason, name);
		else if (every)
			mal_bind(analysis, "an effect of every thread", name);
		break;
	case MAL_EXTERNAL_CALLBACK:
		if (!mal_indirect_harmless(analysis->program))
			mal_bind(analysis, "a call through a pointer", name);
		else if (reason || every)
			mal_bind(analysis, reason ? reason : "an effect of every thread", name);
		break;
	case MAL_EXTERNAL_END:
		if (every && !analysis->together[analysis->block] &&
		    strcmp(name, "__stack_chk_fail") != 0)
			mal_bind(analysis, "an end that threads decide", name);
		break;
	default: step_construct(analysis, external, instruction); return;
	}
	clobber(analysis, all, reason);
	if (external->kind == MAL_EXTERNAL_ALLOCATE && !reason)
		analysis->state->registers[MAL_RAX] = mal_fresh(analysis, MAL_CLEAN, MAL_ROLE_HEAP);
}

/* Every thread calls it: it is looked at like the region itself. */
static void step_callee(struct mal_analysis *analysis, uint64_t target, int region,
			const char **returns)
{
	enum mal_reached reached = region ? MAL_REACHED_LIBOMP : MAL_REACHED_CALL;
	const struct mal_callee *callee = mal_sweep_callee(analysis, target, reached, 0);

	if (!callee) {
		mal_bind(analysis, "too many calls", NULL);
		return;
	}
	if (callee->reason)
		mal_bind(analysis, callee->reason, callee->symbol);
	*returns = callee->returns;
}

/*
 * Within a share a function may use an address of allocated memory as an address alone: where an
 * allocator puts things differs among threads.
 */
static void step_heap(struct mal_analysis *analysis, uint64_t target, uint64_t live,
		      const char **returns)
{
	const struct mal_callee *callee;
	uint16_t heap = 0;

	for (unsigned int reg = 0; reg < 16; reg++)
		if (live & MAL_BIT(reg) &&
		    mal_is_heap(&analysis->values, analysis->state->registers[reg]))
			heap |= (uint16_t)MAL_BIT(reg);
	if (!heap)
		return;
	callee = mal_sweep_callee(analysis, target, MAL_REACHED_SHARE, heap);
	if (!callee)
		mal_bind(analysis, mal_heap_text, NULL);
	else if (callee->reason)
		mal_bind(analysis, callee->reason, callee->symbol);
	else
		*returns = callee->returns;
}

/* Whether all that LLVM's runtime passes a region is passed on, as clang does for debuggers. */
static int passes_region(const struct mal_analysis *analysis)
{
	static const uint8_t numbers[] = {MAL_RDI, MAL_RSI};

	for (size_t i = 0; i < sizeof(numbers); i++) {
		const struct mal_symbol *symbol =
			mal_only_symbol(&analysis->values, analysis->state->registers[numbers[i]]);

		if (!symbol || symbol->class != MAL_GLOBAL || symbol->role != 700u + numbers[i])
			return 0;
	}
	return analysis->modes[analysis->block] == MAL_MODE_ALL &&
	       analysis->together[analysis->block];
}

static void step_internal(struct mal_analysis *analysis, uint64_t target)
{
	const struct mal_function *function = mal_image_function(analysis->image, target);
	const char *name = function ? function->name : NULL, *returns = NULL, *reason;
	const struct mal_reach *reach = mal_closure(analysis->program, target);
	uint64_t writes = reach ? reach->writes : ~(uint64_t)0, live;
	struct mal_reach copy = {0};
	int stack, region = passes_region(analysis);

	if (!reach) {
		analysis->values.full = 1;
		return;
	}
	copy = *reach;
	if (copy.reason)
		writes = ~(uint64_t)0;
	live = mal_live_in(analysis->program, target, 0, &stack);
	if (region)
		live &= ~(MAL_BIT(MAL_RDI) | MAL_BIT(MAL_RSI));
	reason = shown_by(analysis, live, stack);
	if (reason) {
		mal_bind(analysis, reason, name);
		returns = reason;
	}
	if (copy.indirect && !mal_indirect_harmless(analysis->program))
		mal_bind(analysis, "a call through a pointer", name);
	if (copy.constructs && !analysis->together[analysis->block])
		mal_bind(analysis, "a construct that not all threads reach", name);
	if (analysis->modes[analysis->block] == MAL_MODE_ALL) {
		if (!reason)
			step_callee(analysis, target, region, &returns);
	} else if (copy.reason) {
		mal_bind(analysis, copy.reason, copy.symbol);
	} else if (copy.constructs) {
		mal_bind(analysis, "a construct within a share", name);
	} else {
		step_heap(analysis, target, live, &returns);
	}
	clobber(analysis, writes | MAL_BIT(MAL_FLAGS), returns);
}

static void step_indirect(struct mal_analysis *analysis)
{
	const char *reason = shown_by(analysis, mal_arguments(), 0);

	if (!mal_indirect_harmless(analysis->program))
		mal_bind(analysis, "a call through a pointer", NULL);
	else if (analysis->modes[analysis->block] == MAL_MODE_ALL)
		mal_bind(analysis, "a call through a pointer by every thread", NULL);
	else if (reason)
		mal_bind(analysis, reason, NULL);
	clobber(analysis, ~(uint64_t)0, reason);
}

void mal_step_call(struct mal_analysis *analysis, const struct mal_instruction *instruction)
{
	const char *name = mal_call_name(analysis->image, instruction);
	uint64_t target = mal_call_target(analysis->image, instruction);

	analysis->at = instruction;
	if (name)
		step_external(analysis, mal_external(name), name, instruction);
	else if (target)
		step_internal(analysis, target);
	else
		step_indirect(analysis);
}

#endif
