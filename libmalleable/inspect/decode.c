/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* decode.c: instructions as Zydis decodes them, put into the form that the analysis wants. */
#include "libmalleable/inspect/decode.h"

#include <Zydis/Zydis.h>
#include <string.h>

#include "libmalleable/inspect/actions.h"

static uint8_t register_of(ZydisRegister reg)
{
	ZydisRegister whole = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, reg);

	if (whole >= ZYDIS_REGISTER_RAX && whole <= ZYDIS_REGISTER_R15)
		return (uint8_t)(whole - ZYDIS_REGISTER_RAX + MAL_RAX);
	if (whole >= ZYDIS_REGISTER_ZMM0 && whole <= ZYDIS_REGISTER_ZMM31)
		return (uint8_t)(whole - ZYDIS_REGISTER_ZMM0 + MAL_XMM0);
	if (reg >= ZYDIS_REGISTER_K0 && reg <= ZYDIS_REGISTER_K7)
		return (uint8_t)(reg - ZYDIS_REGISTER_K0 + MAL_MASK0);
	if (ZydisRegisterGetClass(reg) == ZYDIS_REGCLASS_X87 ||
	    ZydisRegisterGetClass(reg) == ZYDIS_REGCLASS_MMX)
		return MAL_X87;
	return MAL_NO_REGISTER;
}

static uint64_t bit_of(ZydisRegister reg)
{
	uint8_t number = register_of(reg);

	return number == MAL_NO_REGISTER ? 0 : MAL_BIT(number);
}

static void take_memory(const ZydisDecodedOperand *from, struct mal_instruction *to,
			struct mal_operand *operand)
{
	operand->kind = MAL_OPERAND_MEMORY;
	operand->number = from->mem.disp.has_displacement ? from->mem.disp.value : 0;
	operand->base = register_of(from->mem.base);
	operand->index = register_of(from->mem.index);
	operand->scale = from->mem.scale;
	if (from->mem.base == ZYDIS_REGISTER_RIP)
		operand->number += (int64_t)(to->address + to->length);
}

/* The guard of the stack is the only thing at fs: that is the same for all threads in effect. */
static int is_guard(const ZydisDecodedOperand *operand)
{
	return operand->mem.segment == ZYDIS_REGISTER_FS &&
	       operand->mem.base == ZYDIS_REGISTER_NONE &&
	       operand->mem.index == ZYDIS_REGISTER_NONE && operand->mem.disp.value == 0x28;
}

static void take_operand(const ZydisDecodedOperand *from, struct mal_instruction *to)
{
	int read = (from->actions & ZYDIS_OPERAND_ACTION_MASK_READ) != 0;
	int written = (from->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) != 0;
	struct mal_operand operand = {
		.reg = MAL_NO_REGISTER,
		.base = MAL_NO_REGISTER,
		.index = MAL_NO_REGISTER,
		.read = (uint8_t)read,
		.written = (uint8_t)written,
		.bytes = (uint16_t)(from->size / 8),
	};

	if (from->type == ZYDIS_OPERAND_TYPE_REGISTER) {
		ZydisRegister reg = from->reg.value;

		operand.kind = MAL_OPERAND_REGISTER;
		operand.reg = register_of(reg);
		operand.high = reg >= ZYDIS_REGISTER_AH && reg <= ZYDIS_REGISTER_BH;
		if (read)
			to->reads |= bit_of(reg);
		if (written)
			to->writes |= bit_of(reg);
	} else if (from->type == ZYDIS_OPERAND_TYPE_MEMORY) {
		take_memory(from, to, &operand);
		to->addressing |= bit_of(from->mem.base) | bit_of(from->mem.index);
		to->reads |= to->addressing;
		if (from->mem.segment == ZYDIS_REGISTER_FS ||
		    from->mem.segment == ZYDIS_REGISTER_GS)
			to->thread_local_ |= is_guard(from) ? 2 : 1;
	} else if (from->type == ZYDIS_OPERAND_TYPE_IMMEDIATE) {
		operand.kind = MAL_OPERAND_NUMBER;
		operand.number = from->imm.value.s;
	}
	if (from->visibility != ZYDIS_OPERAND_VISIBILITY_HIDDEN && to->operand_count < 4)
		to->operands[to->operand_count++] = operand;
}

static void take_flow(const ZydisDecodedInstruction *from, struct mal_instruction *to)
{
	const struct mal_operand *first = &to->operands[0];

	switch (from->meta.category) {
	case ZYDIS_CATEGORY_COND_BR: to->flow = MAL_FLOW_BRANCH; break;
	case ZYDIS_CATEGORY_UNCOND_BR: to->flow = MAL_FLOW_JUMP; break;
	case ZYDIS_CATEGORY_CALL: to->flow = MAL_FLOW_CALL; break;
	case ZYDIS_CATEGORY_RET: to->flow = MAL_FLOW_RETURN; return;
	default:
		if (from->mnemonic == ZYDIS_MNEMONIC_UD2 || from->mnemonic == ZYDIS_MNEMONIC_HLT ||
		    from->mnemonic == ZYDIS_MNEMONIC_INT3 || from->mnemonic == ZYDIS_MNEMONIC_UD1)
			to->flow = MAL_FLOW_STOP;
		return;
	}
	if (first->kind == MAL_OPERAND_NUMBER)
		to->target = to->address + to->length + (uint64_t)first->number;
	else if (first->kind == MAL_OPERAND_MEMORY && first->base == MAL_NO_REGISTER &&
		 first->index == MAL_NO_REGISTER)
		to->slot = (uint64_t)first->number;
}

/* Whether it reads or writes memory by itself: only the stack and strings are followed. */
static int has_hidden_memory(const ZydisDecodedInstruction *from,
			     const ZydisDecodedOperand *operands)
{
	switch (from->meta.category) {
	case ZYDIS_CATEGORY_CALL:
	case ZYDIS_CATEGORY_RET:
	case ZYDIS_CATEGORY_PUSH:
	case ZYDIS_CATEGORY_POP:
	case ZYDIS_CATEGORY_STRINGOP: return 0;
	default: break;
	}
	for (unsigned int i = 0; i < from->operand_count; i++)
		if (operands[i].type == ZYDIS_OPERAND_TYPE_MEMORY &&
		    operands[i].visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN)
			return from->mnemonic != ZYDIS_MNEMONIC_LEAVE;
	return 0;
}

static int is_system(const ZydisDecodedInstruction *from)
{
	switch (from->meta.category) {
	case ZYDIS_CATEGORY_SYSCALL:
	case ZYDIS_CATEGORY_SYSTEM:
	case ZYDIS_CATEGORY_INTERRUPT:
	case ZYDIS_CATEGORY_XSAVE:
	case ZYDIS_CATEGORY_XSAVEOPT: return 1;
	default: return (from->attributes & ZYDIS_ATTRIB_IS_PRIVILEGED) != 0;
	}
}

int mal_decode(const struct mal_image *image, uint64_t address, struct mal_instruction *to)
{
	static const uint64_t repeats =
		ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE;
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction instruction;
	ZydisDecoder decoder;
	uint64_t left;
	const uint8_t *code = mal_image_at(image, address, &left);

	if (!code || !mal_image_executable(image, address))
		return 0;
	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, code, left < 15 ? left : 15,
						 &instruction, operands)))
		return 0;
	memset(to, 0, sizeof(*to));
	to->address = address;
	to->length = instruction.length;
	to->mnemonic = (uint16_t)instruction.mnemonic;
	to->action = mal_action_of(to->mnemonic, &to->condition);
	to->lock = (instruction.attributes & ZYDIS_ATTRIB_HAS_LOCK) != 0;
	to->repeat = (instruction.attributes & repeats) != 0;
	for (unsigned int i = 0; i < instruction.operand_count; i++)
		take_operand(&operands[i], to);
	if (to->action == MAL_ACTION_CONVERT) {
		const struct mal_operand *from = &to->operands[1];

		to->operands[0].read = 0;
		if (from->kind != MAL_OPERAND_REGISTER || from->reg != to->operands[0].reg)
			to->reads &= ~MAL_BIT(to->operands[0].reg);
	}
	/* Flags that are only kept count as neither. */
	if (instruction.cpu_flags) {
		const ZydisAccessedFlags *flags = instruction.cpu_flags;

		to->reads |= flags->tested ? MAL_BIT(MAL_FLAGS) : 0;
		if (flags->modified | flags->set_0 | flags->set_1 | flags->undefined)
			to->writes |= MAL_BIT(MAL_FLAGS);
	}
	to->system = to->action == MAL_ACTION_SYSTEM || is_system(&instruction) ||
		     has_hidden_memory(&instruction, operands);
	take_flow(&instruction, to);
	/* Locked without a prefix. */
	if (instruction.mnemonic == ZYDIS_MNEMONIC_XCHG &&
	    (to->operands[0].kind == MAL_OPERAND_MEMORY ||
	     to->operands[1].kind == MAL_OPERAND_MEMORY))
		to->lock = 1;
	return 1;
}
