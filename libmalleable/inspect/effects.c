/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* effects.c: writes that others see: who may make them, and with what. */
#include "libmalleable/inspect/analysis.h"

#ifdef HAVE_ZYDIS

/*
 * Whether a partial result of the loop in which CARRIED is carried may be put together here: by all
 * threads, or by those whose share of that very loop is not empty.
 */
static int may_merge(const struct mal_analysis *analysis, unsigned int operation, uint32_t carried,
		     uint32_t width)
{
	uint32_t guard = analysis->guards[analysis->block];
	const struct mal_shared_loop *loop;

	if (!analysis->merging[analysis->block])
		return 0;
	/* What overflows in each thread overflows as often as there are threads. */
	if (operation == MAL_SUM && width)
		for (unsigned int i = 0; i < analysis->at->operand_count; i++)
			if (analysis->at->operands[i].kind == MAL_OPERAND_MEMORY &&
			    analysis->at->operands[i].bytes > width)
				return 0;
	if (!guard)
		return 1;
	if (!carried)
		return 0;
	loop = &analysis->loops[analysis->values.symbols[carried].extra];
	return loop->start && mal_family(&analysis->values, loop->start) == guard;
}

const char mal_before_text[] = "what a sum was before a thread's part of it";

int mal_is_before(const struct mal_values *values, const struct mal_before *before, mal_value value)
{
	const struct mal_symbol *symbol = mal_only_symbol(values, value);

	return symbol && (value == before->old ||
			  (symbol->class == MAL_CLEAN && symbol->extra == before->address &&
			   (symbol->role == 350 || symbol->role == 353)));
}

/* Nothing may be made of what memory held before. */
static void taint_before(struct mal_analysis *analysis, const struct mal_before *before)
{
	struct mal_state *state = analysis->state;
	mal_value taint = mal_taint(&analysis->values, mal_before_text);

	for (unsigned int reg = 0; reg < MAL_REGISTERS; reg++)
		if (mal_is_before(&analysis->values, before, state->registers[reg]))
			state->registers[reg] = taint;
	for (uint32_t i = 0; i < state->slot_count; i++)
		if (mal_is_before(&analysis->values, before, state->slots[i].value))
			state->slots[i].value = taint;
}

/* A sum that memory had at ADDRESS, and this thread's part of it. */
static int is_merge(const struct mal_analysis *analysis, mal_value address, mal_value value)
{
	const struct mal_form *form = &analysis->values.forms[value];
	const struct mal_symbol *symbol;

	if (form->kind != MAL_MERGED || !may_merge(analysis, form->operation, form->b, form->c))
		return 0;
	symbol = mal_only_symbol(&analysis->values, form->a);
	return symbol && symbol->class == MAL_CLEAN && symbol->extra == address;
}

/* Whether an iteration that is left over runs here, and nothing else: by its share alone. */
static int is_tail(const struct mal_analysis *analysis)
{
	uint32_t block = analysis->block;

	return analysis->merging[block] && !analysis->together[block] && !analysis->reducing[block];
}

void mal_effect_store(struct mal_analysis *analysis, mal_value address, uint32_t bytes,
		      mal_value value)
{
	const char *reason;

	analysis->width = bytes;
	reason = mal_shows(analysis, address, analysis->block, -1);
	analysis->width = 0;
	if (mal_is_heap(&analysis->values, value))
		mal_keep_heap(analysis, address);
	if (!analysis->final)
		return;
	if (!reason && is_merge(analysis, address, value)) {
		taint_before(analysis,
			     &(struct mal_before){.address = address,
						  .old = analysis->values.forms[value].a});
		return;
	}
	if (reason == mal_tail && is_tail(analysis)) {
		reason = mal_shows(analysis, value, analysis->block, -1);
		if (!reason || reason == mal_tail)
			return;
	}
	if (!reason)
		reason = mal_shows(analysis, value, analysis->block, -1);
	if (reason)
		mal_bind(analysis, reason, NULL);
	else if (analysis->modes[analysis->block] == MAL_MODE_ALL)
		mal_bind(analysis, "memory that every thread writes", NULL);
	else if (analysis->modes[analysis->block] == MAL_MODE_SHARE &&
		 mal_of_fold(analysis, &address, 1))
		mal_bind(analysis, "memory that iterations share", NULL);
}

/* Whether an atomic operation leaves memory the same however many threads run it. */
static int is_harmless(struct mal_analysis *analysis, uint16_t mnemonic, mal_value value)
{
	const struct mal_values *values = &analysis->values;
	const struct mal_form *form = &values->forms[value];
	unsigned int operation;

	switch (mnemonic) {
	case ZYDIS_MNEMONIC_ADD: operation = MAL_SUM; break;
	case ZYDIS_MNEMONIC_SUB: operation = MAL_SUM; break;
	case ZYDIS_MNEMONIC_AND: operation = MAL_AND; break;
	case ZYDIS_MNEMONIC_OR: operation = MAL_OR; break;
	case ZYDIS_MNEMONIC_XOR: operation = MAL_XOR; break;
	case ZYDIS_MNEMONIC_CMPXCHG:
		return form->kind == MAL_MERGED &&
		       may_merge(analysis, form->operation, form->b, form->c) &&
		       form->a == analysis->state->registers[MAL_RAX] &&
		       mal_only_symbol(values, form->a);
	default: return 0;
	}
	if (form->kind == MAL_PARTIAL)
		return form->operation == operation &&
		       may_merge(analysis, operation, form->a, form->b);
	/* How many iterations there were: in sum as many as there are. */
	if (operation == MAL_SUM && form->kind == MAL_LINEAR && form->constant == 0 &&
	    form->count == 1 && values->symbols[form->terms[0].symbol].class == MAL_ROUND &&
	    !form->terms[0].factor && (form->terms[0].times == 1 || form->terms[0].times == -1))
		return may_merge(analysis, operation, form->terms[0].symbol, 0);
	return operation != MAL_AND && form->count == 0 &&
	       mal_is_neutral(values, value, operation) && mal_only_symbol(values, value) == NULL &&
	       form->constant == 0;
}

/* Another try needs what memory held; behind the last one nothing may be made of it. */
static void note_before(struct mal_analysis *analysis, mal_value address, mal_value old)
{
	if (analysis->before_count == MAL_BEFORE) {
		mal_bind(analysis, "too large", NULL);
		return;
	}
	analysis->before[analysis->before_count++] =
		(struct mal_before){.block = analysis->block, .address = address, .old = old};
}

static void check_atomic(struct mal_analysis *analysis, const struct mal_instruction *instruction,
			 mal_value address, mal_value value)
{
	const char *reason = mal_shows(analysis, address, analysis->block, -1);

	if (!analysis->final)
		return;
	if (reason == mal_tail && is_tail(analysis)) {
		reason = mal_shows(analysis, value, analysis->block, -1);
		if (!reason || reason == mal_tail)
			return;
	}
	if (reason) {
		mal_bind(analysis, reason, NULL);
		return;
	}
	if (analysis->merging[analysis->block] &&
	    is_harmless(analysis, instruction->mnemonic, value)) {
		if (instruction->mnemonic == ZYDIS_MNEMONIC_CMPXCHG)
			note_before(analysis, address, analysis->values.forms[value].a);
		return;
	}
	reason = mal_shows(analysis, value, analysis->block, -1);
	if (reason)
		mal_bind(analysis, reason, NULL);
	else if (analysis->modes[analysis->block] == MAL_MODE_ALL)
		mal_bind(analysis, "an atomic operation of every thread", NULL);
}

/* What is in memory now: the same for all, until it is read again. */
static mal_value reload(struct mal_analysis *analysis, mal_value address)
{
	struct mal_symbol symbol = {.class = MAL_CLEAN,
				    .address = analysis->at->address,
				    .role = 353,
				    .block = analysis->block,
				    .extra = address};

	return mal_of_symbol(&analysis->values, mal_symbol(&analysis->values, &symbol));
}

void mal_effect_atomic(struct mal_analysis *analysis, const struct mal_instruction *instruction)
{
	struct mal_values *values = &analysis->values;
	struct mal_state *state = analysis->state;
	const struct mal_operand *memory = &instruction->operands[0], *other = NULL;
	mal_value address, value;
	uint32_t base;
	int64_t number;
	int exact;

	if (instruction->operand_count > 1) {
		other = &instruction->operands[1];
		if (memory->kind != MAL_OPERAND_MEMORY) {
			memory = other;
			other = &instruction->operands[0];
		}
	}
	address = mal_address(analysis, memory);
	value = other ? mal_read(analysis, other) : mal_number(values, 1);
	state->flags = MAL_FLAGS_VALUE;
	state->left = reload(analysis, address);
	state->right = 0;
	/* A fence, as compilers write it. */
	if (instruction->mnemonic == ZYDIS_MNEMONIC_OR &&
	    mal_is_stack(values, address, &base, &number, &exact) &&
	    mal_is_number(values, value, &number) && number == 0)
		return;
	if (instruction->thread_local_ & 1)
		mal_bind(analysis, "thread-local storage", NULL);
	check_atomic(analysis, instruction, address, value);
	switch (instruction->mnemonic) {
	case ZYDIS_MNEMONIC_CMPXCHG:
		state->registers[MAL_RAX] = reload(analysis, address);
		state->rest[MAL_RAX] = 0;
		break;
	case ZYDIS_MNEMONIC_XADD:
	case ZYDIS_MNEMONIC_XCHG:
		if (other)
			mal_write(analysis, other, reload(analysis, address));
		break;
	case ZYDIS_MNEMONIC_ADD:
	case ZYDIS_MNEMONIC_SUB:
	case ZYDIS_MNEMONIC_INC:
	case ZYDIS_MNEMONIC_DEC:
	case ZYDIS_MNEMONIC_AND:
	case ZYDIS_MNEMONIC_OR:
	case ZYDIS_MNEMONIC_XOR: break;
	default: mal_bind(analysis, "an atomic operation that is not understood", NULL);
	}
}

#endif
