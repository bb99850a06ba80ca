/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* operands.c: reads and writes registers and memory. */
#include <string.h>

#include "libmalleable/inspect/analysis.h"

mal_value mal_address(struct mal_analysis *analysis, const struct mal_operand *operand)
{
	struct mal_state *state = analysis->state;
	mal_value address = mal_number(&analysis->values, operand->number);

	if (operand->base != MAL_NO_REGISTER)
		address = mal_plus(analysis, address, state->registers[operand->base], 1);
	if (operand->index != MAL_NO_REGISTER) {
		int64_t scale = operand->scale ? operand->scale : 1;

		address = mal_plus(analysis, address, state->registers[operand->index], scale);
	}
	return address;
}

/* What constant memory holds: a number where all its parts are the same. */
static mal_value load_constant(struct mal_analysis *analysis, uint64_t address, unsigned int bytes)
{
	struct mal_symbol symbol = {.class = MAL_CLEAN,
				    .address = address,
				    .role = 500 + bytes,
				    .block = analysis->graph.order[0]};
	uint8_t data[64];

	if (mal_image_slot(analysis->image, address) || bytes < 4 || bytes > sizeof(data) ||
	    !mal_image_copy(analysis->image, address, data, bytes))
		return mal_of_symbol(&analysis->values, mal_symbol(&analysis->values, &symbol));
	if (bytes % 4 == 0 && (bytes == 4 || memcmp(data, data + 4, bytes - 4) == 0)) {
		int32_t number;

		memcpy(&number, data, sizeof(number));
		return mal_number(&analysis->values, number);
	}
	/* Only the lower half is used. */
	if (bytes == 16 && memcmp(data, data + 4, 4) == 0 &&
	    memcmp(data + 8, "\0\0\0\0\0\0\0", 8) == 0) {
		int32_t number;

		memcpy(&number, data, sizeof(number));
		return mal_number(&analysis->values, number);
	}
	if (bytes % 8 == 0 && (bytes == 8 || memcmp(data, data + 8, bytes - 8) == 0)) {
		int64_t number;

		memcpy(&number, data, sizeof(number));
		return mal_number(&analysis->values, number);
	}
	return mal_of_symbol(&analysis->values, mal_symbol(&analysis->values, &symbol));
}

static mal_value load(struct mal_analysis *analysis, const struct mal_operand *operand)
{
	mal_value address = mal_address(analysis, operand);
	struct mal_symbol symbol = {.class = MAL_CLEAN, .role = 350, .extra = address};
	const char *reason;
	uint32_t base;
	int64_t number;
	int exact;

	if (analysis->at->thread_local_ & 1) {
		mal_bind(analysis, "thread-local storage", NULL);
		return mal_taint(&analysis->values, "thread-local storage");
	}
	if (analysis->at->thread_local_)
		return mal_fresh(analysis, MAL_CLEAN, 351);
	if (mal_is_stack(&analysis->values, address, &base, &number, &exact))
		return exact ? mal_load_slot(analysis, base, (int32_t)number, operand->bytes)
			     : mal_taint(&analysis->values, "an array of a thread's own");
	if (mal_is_number(&analysis->values, address, &number) &&
	    mal_image_constant(analysis->image, (uint64_t)number))
		return load_constant(analysis, (uint64_t)number, operand->bytes);
	analysis->width = operand->bytes;
	reason = mal_shows(analysis, address, analysis->block, -1);
	analysis->width = 0;
	if (reason && (reason == mal_tail || analysis->values.forms[address].kind != MAL_LINEAR))
		return mal_taint(&analysis->values, reason);
	if (reason) {
		symbol.class = MAL_AT;
		symbol.address = analysis->at->address;
		symbol.block = analysis->block;
		return mal_of_symbol(&analysis->values, mal_symbol(&analysis->values, &symbol));
	}
	if (operand->bytes == 8 && mal_heap_at(analysis, address))
		return mal_heap_at(analysis, address);
	/* Scratch that iterations share, by its address. */
	if (operand->bytes == 8 && analysis->modes[analysis->block] == MAL_MODE_SHARE &&
	    mal_of_fold(analysis, &address, 1))
		return mal_of_fold(analysis, &address, 1);
	symbol.address = analysis->at->address;
	symbol.block = analysis->block;
	return mal_of_symbol(&analysis->values, mal_symbol(&analysis->values, &symbol));
}

mal_value mal_read(struct mal_analysis *analysis, const struct mal_operand *operand)
{
	struct mal_state *state = analysis->state;
	mal_value value;

	switch (operand->kind) {
	case MAL_OPERAND_NUMBER: return mal_number(&analysis->values, operand->number);
	case MAL_OPERAND_MEMORY: return load(analysis, operand);
	case MAL_OPERAND_REGISTER: break;
	default: return mal_taint(&analysis->values, "an operand that is not understood");
	}
	if (operand->reg == MAL_NO_REGISTER)
		return mal_fresh(analysis, MAL_CLEAN, 352);
	value = state->registers[operand->reg];
	if (operand->reg >= 16)
		return value;
	if (operand->high || (operand->bytes >= 4 && state->rest[operand->reg])) {
		mal_value rest = state->rest[operand->reg];

		return mal_mixed(analysis, (mal_value[]){value, rest ? rest : value}, 2,
				 360u + operand->reg);
	}
	return value;
}

static void write_register(struct mal_analysis *analysis, const struct mal_operand *operand,
			   mal_value value)
{
	struct mal_state *state = analysis->state;
	uint8_t reg = operand->reg;

	if (reg == MAL_NO_REGISTER)
		return;
	if (reg < 16 && operand->high) {
		state->registers[reg] = mal_mixed(
			analysis, (mal_value[]){value, state->registers[reg]}, 2, 380u + reg);
		return;
	}
	if (reg < 16 && operand->bytes < 4) {
		if (!state->rest[reg])
			state->rest[reg] = state->registers[reg];
	} else if (reg < 16) {
		state->rest[reg] = 0;
	}
	state->registers[reg] = value;
}

void mal_write(struct mal_analysis *analysis, const struct mal_operand *operand, mal_value value)
{
	mal_value address;
	uint32_t base;
	int64_t offset;
	int exact;

	if (operand->kind == MAL_OPERAND_REGISTER) {
		write_register(analysis, operand, value);
		return;
	}
	if (operand->kind != MAL_OPERAND_MEMORY)
		return;
	if (analysis->at->thread_local_) {
		mal_bind(analysis, "thread-local storage", NULL);
		return;
	}
	address = mal_address(analysis, operand);
	if (!mal_is_stack(&analysis->values, address, &base, &offset, &exact))
		mal_effect_store(analysis, address, operand->bytes, value);
	else if (exact)
		mal_store_slot(analysis, base, (int32_t)offset, operand->bytes, value);
	else
		mal_forget_around(analysis, address, operand->bytes);
}
