/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* escapes.c: follows addresses of the stack through a function, from instruction to instruction. */
#include "libmalleable/inspect/escapes.h"

#ifdef HAVE_ZYDIS

static int holds(const struct mal_escape *escape, const struct mal_operand *operand)
{
	return operand->kind == MAL_OPERAND_REGISTER && operand->reg < 16 &&
	       (operand->reg == MAL_RSP || escape->registers >> operand->reg & 1);
}

/* Whether OPERAND is memory at such an address. */
static int is_private(const struct mal_escape *escape, const struct mal_operand *operand)
{
	return operand->kind == MAL_OPERAND_MEMORY && operand->base < 16 &&
	       (operand->base == MAL_RSP || escape->registers >> operand->base & 1);
}

static void set(struct mal_escape *escape, const struct mal_instruction *instruction, int private)
{
	const struct mal_operand *to = &instruction->operands[0];

	escape->registers &= ~(uint32_t)(instruction->writes & 0xffff);
	if (private && to->kind == MAL_OPERAND_REGISTER && to->reg < 16 && to->bytes == 8)
		escape->registers |= (uint32_t)MAL_BIT(to->reg);
}

int mal_escapes(struct mal_escape *escape, const struct mal_instruction *instruction)
{
	static const uint32_t saved = 1u << MAL_RBX | 1u << MAL_RBP | 1u << MAL_R12 |
				      1u << MAL_R13 | 1u << MAL_R14 | 1u << MAL_R15;
	const struct mal_operand *to = &instruction->operands[0], *from = &instruction->operands[1];
	int any = 0;

	if (instruction->flow != MAL_FLOW_NEXT) {
		if (instruction->flow == MAL_FLOW_CALL)
			escape->registers &= saved;
		return 0;
	}
	for (unsigned int i = 0; i < instruction->operand_count; i++)
		any |= instruction->operands[i].read && holds(escape, &instruction->operands[i]);
	switch (instruction->mnemonic) {
	case ZYDIS_MNEMONIC_PUSH:
	case ZYDIS_MNEMONIC_POP:
	case ZYDIS_MNEMONIC_LEAVE:
	case ZYDIS_MNEMONIC_NOP:
	case ZYDIS_MNEMONIC_ENDBR64: set(escape, instruction, 0); return 0;
	case ZYDIS_MNEMONIC_LEA: set(escape, instruction, is_private(escape, from)); return 0;
	case ZYDIS_MNEMONIC_MOV:
		if (any && to->kind == MAL_OPERAND_MEMORY && !is_private(escape, to))
			return 1;
		set(escape, instruction, any);
		return 0;
	case ZYDIS_MNEMONIC_ADD:
	case ZYDIS_MNEMONIC_SUB:
	case ZYDIS_MNEMONIC_AND:
		/* The frame itself, or what lies in it. */
		if (to->kind == MAL_OPERAND_REGISTER && to->reg == MAL_RSP)
			return 0;
		if (instruction->mnemonic != ZYDIS_MNEMONIC_AND && holds(escape, to))
			return 0;
		break;
	case ZYDIS_MNEMONIC_CMP:
		/* The end of what lies there. */
		if (holds(escape, to) && holds(escape, from))
			return 0;
		break;
	case ZYDIS_MNEMONIC_OR:
		/* A page that is touched, a fence. */
		if (is_private(escape, to) && !any)
			return 0;
		break;
	default: break;
	}
	if (any && instruction->operand_count > 0)
		return 1;
	set(escape, instruction, 0);
	return 0;
}

#else

int mal_escapes(struct mal_escape *escape, const struct mal_instruction *instruction)
{
	(void)escape;
	(void)instruction;
	return 0;
}

#endif
