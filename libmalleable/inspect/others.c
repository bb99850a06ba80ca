/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* others.c: instructions that are not followed: each result depends on all that is read. */
#include "libmalleable/inspect/analysis.h"

#ifdef HAVE_ZYDIS

void mal_step_any(struct mal_analysis *analysis, const struct mal_instruction *instruction)
{
	struct mal_state *state = analysis->state;
	uint64_t reads = instruction->reads & ~instruction->addressing;
	const char *reason = NULL;

	for (unsigned int i = 0; i < instruction->operand_count; i++)
		if (instruction->operands[i].kind == MAL_OPERAND_REGISTER &&
		    instruction->operands[i].read &&
		    instruction->operands[i].reg != MAL_NO_REGISTER)
			reads |= MAL_BIT(instruction->operands[i].reg);
	for (unsigned int reg = 0; reg < MAL_REGISTERS; reg++) {
		if (!(reads & MAL_BIT(reg)) || reg == MAL_FLAGS || reg == MAL_RSP)
			continue;
		reason = mal_worse(reason,
				   mal_shows(analysis, state->registers[reg], analysis->block, -1));
		if (mal_is_heap(&analysis->values, state->registers[reg]))
			reason = mal_heap_text;
		if (reg < 16 && state->rest[reg])
			reason = mal_worse(
				reason, mal_shows(analysis, state->rest[reg], analysis->block, -1));
	}
	if (instruction->reads & MAL_BIT(MAL_FLAGS)) {
		reason = mal_worse(reason, mal_shows(analysis, state->left, analysis->block, -1));
		if (state->right)
			reason = mal_worse(reason,
					   mal_shows(analysis, state->right, analysis->block, -1));
		reason = mal_worse(
			reason,
			mal_compares_heap(analysis, state->left, state->right,
					  instruction->mnemonic == ZYDIS_MNEMONIC_SETZ ||
						  instruction->mnemonic == ZYDIS_MNEMONIC_SETNZ));
	}
	for (unsigned int i = 0; i < instruction->operand_count; i++)
		if (instruction->operands[i].kind == MAL_OPERAND_MEMORY &&
		    instruction->operands[i].read)
			reason = mal_worse(reason,
					   mal_shows(analysis,
						     mal_read(analysis, &instruction->operands[i]),
						     analysis->block, -1));
	for (unsigned int i = 0; i < instruction->operand_count; i++)
		if (instruction->operands[i].written && instruction->operands[i].reg != MAL_X87)
			mal_write(analysis, &instruction->operands[i],
				  reason ? mal_taint(&analysis->values, reason)
					 : mal_fresh(analysis, MAL_CLEAN, 390 + i));
	for (unsigned int reg = 0; reg < MAL_REGISTERS; reg++) {
		int visible = 0;

		for (unsigned int i = 0; i < instruction->operand_count; i++)
			visible |= instruction->operands[i].kind == MAL_OPERAND_REGISTER &&
				   instruction->operands[i].written && reg != MAL_X87 &&
				   instruction->operands[i].reg == reg;
		if (!(instruction->writes & MAL_BIT(reg)) || visible || reg == MAL_RSP)
			continue;
		/* One for the whole stack of x87: what is in it stays. */
		if (reg == MAL_X87 &&
		    mal_shows(analysis, state->registers[reg], analysis->block, -1))
			continue;
		state->registers[reg] = reason ? mal_taint(&analysis->values, reason)
					       : mal_fresh(analysis, MAL_CLEAN, reg);
		if (reg < 16)
			state->rest[reg] = 0;
	}
	if (instruction->writes & MAL_BIT(MAL_FLAGS))
		mal_set_flags(analysis, MAL_FLAGS_VALUE, state->registers[MAL_FLAGS], 0);
	if (instruction->writes & MAL_BIT(MAL_RSP))
		mal_bind(analysis, "a stack of changing size", NULL);
}

#endif
