/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * reloads.c: values that an iteration reads for the next one. A compiler that finds the same memory
 * read by two iterations, as the end of one row and the beginning of the next, reads it once and
 * keeps it. The first iteration of a share has it from before the loop: from the same place, if it
 * is read there just before the loop begins.
 */
#include "libmalleable/inspect/changes.h"

/* What memory held, and nothing else: the symbol of VALUE, or NULL. */
static const struct mal_symbol *loaded(const struct mal_analysis *analysis, mal_value value)
{
	const struct mal_form *form = &analysis->values.forms[value];
	const struct mal_symbol *symbol =
		mal_only_symbol(&analysis->values, form->kind == MAL_FIRST ? form->a : value);

	if (!symbol || symbol->role != 350 || !symbol->extra ||
	    (symbol->class != MAL_CLEAN && symbol->class != MAL_AT))
		return NULL;
	return symbol;
}

/* The instruction at ADDRESS, which loads. */
static const struct mal_instruction *load_at(struct mal_analysis *analysis, uint64_t address)
{
	mal_work(analysis, analysis->graph.instruction_count);
	for (uint32_t i = 0; i < analysis->graph.instruction_count; i++)
		if (analysis->graph.instructions[i].address == address)
			return &analysis->graph.instructions[i];
	return NULL;
}

/* As many bytes, by the same instruction. */
static int is_alike(const struct mal_instruction *left, const struct mal_instruction *right)
{
	if (!left || !right || left->mnemonic != right->mnemonic ||
	    left->operand_count != right->operand_count)
		return 0;
	for (unsigned int i = 0; i < left->operand_count; i++)
		if (left->operands[i].kind != right->operands[i].kind ||
		    left->operands[i].bytes != right->operands[i].bytes)
			return 0;
	return 1;
}

/* Whether INSTRUCTION may change memory that others see, or wait for them. */
static int may_change(const struct mal_instruction *instruction)
{
	if (instruction->lock || instruction->system ||
	    (instruction->flow != MAL_FLOW_NEXT && instruction->flow != MAL_FLOW_JUMP &&
	     instruction->flow != MAL_FLOW_BRANCH))
		return 1;
	for (unsigned int i = 0; i < instruction->operand_count; i++)
		if (instruction->operands[i].kind == MAL_OPERAND_MEMORY &&
		    instruction->operands[i].written && instruction->operands[i].base != MAL_RSP)
			return 1;
	return 0;
}

/* The only block before BLOCK, of those that are in the loop of HEADER none; -1: there are more. */
static int only_before(const struct mal_analysis *analysis, uint32_t block, int header)
{
	const struct mal_block *at = &analysis->graph.blocks[block];
	int found = -1;

	for (uint32_t i = 0; i < at->before_count; i++) {
		uint32_t from = at->before[i];

		if (analysis->graph.blocks[from].order < 0 ||
		    (header >= 0 && mal_flow_in_loop(&analysis->graph, header, from)))
			continue;
		if (found >= 0)
			return -1;
		found = (int)from;
	}
	return found;
}

/* Whether nothing changes memory from the instruction at ADDRESS to the loop of HEADER. */
static int is_just_before(const struct mal_analysis *analysis, uint32_t header, uint64_t address)
{
	int block = only_before(analysis, header, (int)header);

	for (uint32_t steps = 0; block >= 0 && steps < analysis->graph.block_count; steps++) {
		const struct mal_block *at = &analysis->graph.blocks[block];

		for (uint32_t i = at->count; i-- > 0;) {
			const struct mal_instruction *instruction =
				&analysis->graph.instructions[at->first + i];

			if (instruction->address == address)
				return 1;
			if (may_change(instruction))
				return 0;
		}
		block = only_before(analysis, (uint32_t)block, -1);
	}
	return 0;
}

/* ADDRESS of one round of the loop of HEADER: one round earlier, and in the first one. */
static mal_value earlier(struct mal_analysis *analysis, mal_value address, uint32_t header,
			 mal_value *first)
{
	struct mal_values *values = &analysis->values;
	const struct mal_form form = values->forms[address];
	mal_value before = address, start;

	if (form.kind != MAL_LINEAR)
		return 0;
	for (unsigned int i = 0; i < form.count; i++) {
		const struct mal_symbol *symbol = &values->symbols[form.terms[i].symbol];

		if (symbol->class != MAL_ROUND || symbol->extra != header) {
			if (symbol->class != MAL_CLEAN && symbol->class != MAL_LOW)
				return 0;
			continue;
		}
		if (form.terms[i].factor)
			return 0;
		before = mal_add(values, before, mal_number(values, form.terms[i].times), -1);
	}
	if (!before)
		return 0;
	start = before;
	for (unsigned int i = 0; i < form.count && start; i++)
		if (values->symbols[form.terms[i].symbol].class == MAL_ROUND)
			start = mal_add(
				values, start,
				mal_form(values, &(struct mal_form){.kind = MAL_LINEAR,
								    .count = 1,
								    .terms = {form.terms[i]}}),
				-1);
	*first = start;
	return start ? before : 0;
}

mal_value mal_reloaded(struct mal_analysis *analysis, const struct mal_location *location,
		       mal_value end)
{
	const struct mal_symbol *from = loaded(analysis, location->entry);
	const struct mal_symbol *to = end ? loaded(analysis, end) : NULL;
	mal_value address, first = 0;
	struct mal_symbol symbol;

	if (!from || !to || to->class != MAL_CLEAN ||
	    !mal_flow_in_loop(&analysis->graph, (int)location->block, to->block) ||
	    mal_flow_in_loop(&analysis->graph, (int)location->block, from->block) ||
	    !is_alike(load_at(analysis, from->address), load_at(analysis, to->address)) ||
	    !is_just_before(analysis, location->block, from->address))
		return 0;
	symbol = *to;
	address = earlier(analysis, to->extra, location->block, &first);
	if (!address || first != from->extra || mal_shows(analysis, address, location->block, -1))
		return 0;
	symbol.block = location->block;
	symbol.extra = address;
	return mal_of_symbol(&analysis->values, mal_symbol(&analysis->values, &symbol));
}

int mal_may_reload(const struct mal_analysis *analysis, const struct mal_location *location,
		   mal_value end)
{
	const struct mal_symbol *to = loaded(analysis, end);
	const struct mal_form *form = &analysis->values.forms[end];

	if (!loaded(analysis, location->entry))
		return 0;
	if (to)
		form = &analysis->values.forms[to->extra];
	for (unsigned int i = 0; i < form->count; i++)
		if (analysis->values.symbols[form->terms[i].symbol].class == MAL_CARRIED)
			return 1;
	return 0;
}

static void reopen_within(struct mal_analysis *analysis, uint32_t header)
{
	mal_work(analysis, MAL_LOCATIONS);
	for (size_t i = 0; i < MAL_LOCATIONS; i++) {
		struct mal_location *location = &analysis->locations[i];

		if (location->used && location->block != header &&
		    mal_flow_in_loop(&analysis->graph, (int)header, location->block)) {
			location->change = MAL_CHANGE_NONE;
			location->value = 0;
		}
	}
}

void mal_reopen(struct mal_analysis *analysis)
{
	for (size_t i = 0; i < MAL_LOCATIONS; i++)
		if (analysis->locations[i].fresh) {
			analysis->locations[i].fresh = 0;
			reopen_within(analysis, analysis->locations[i].block);
		}
}
