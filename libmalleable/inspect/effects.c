/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* effects.c: writes that others see: who may make them, and with what. */
#include "libmalleable/inspect/analysis.h"

#ifdef HAVE_ZYDIS

/* A sum that memory had at ADDRESS, and this thread's part of it. */
static int is_merge(const struct mal_analysis *analysis, mal_value address, mal_value value)
{
	const struct mal_form *form = &analysis->values.forms[value];
	const struct mal_symbol *symbol;

	if (form->kind != MAL_MERGED || !analysis->merging[analysis->block])
		return 0;
	symbol = mal_only_symbol(&analysis->values, form->a);
	return symbol && symbol->class == MAL_CLEAN && symbol->extra == address;
}

void mal_effect_store(struct mal_analysis *analysis, mal_value address, mal_value value)
{
	const char *reason = mal_shows(analysis, address, analysis->block, -1);

	if (!analysis->final)
		return;
	if (!reason && is_merge(analysis, address, value))
		return;
	if (reason == mal_tail && analysis->values.forms[address].kind == MAL_LINEAR) {
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
		return form->kind == MAL_MERGED && form->a == analysis->state->registers[MAL_RAX] &&
		       mal_only_symbol(values, form->a);
	default: return 0;
	}
	if (form->kind == MAL_PARTIAL)
		return form->operation == operation;
	/* How many iterations there were: in sum as many as there are. */
	if (operation == MAL_SUM && form->kind == MAL_LINEAR && form->constant == 0 &&
	    form->count == 1 && values->symbols[form->terms[0].symbol].class == MAL_ROUND &&
	    !form->terms[0].factor)
		return 1;
	return operation != MAL_AND && form->count == 0 &&
	       mal_is_neutral(values, value, operation) && mal_only_symbol(values, value) == NULL &&
	       form->constant == 0;
}

static void check_atomic(struct mal_analysis *analysis, const struct mal_instruction *instruction,
			 mal_value address, mal_value value)
{
	const char *reason = mal_shows(analysis, address, analysis->block, -1);

	if (!analysis->final)
		return;
	if (reason) {
		mal_bind(analysis, reason, NULL);
		return;
	}
	if (analysis->merging[analysis->block] &&
	    is_harmless(analysis, instruction->mnemonic, value))
		return;
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
