/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * decode.c: instructions as Zydis decodes them, in the form that the analysis takes, with their
 * actions by their names.
 */
#include <Zydis/Zydis.h>
#include <stdio.h>
#include <string.h>

#include "libmalleable/prover/code/actions.h"
#include "libmalleable/prover/code/decode.h"
#include "libmalleable/prover/code/expressions.h"

/* Names with a space before and behind each. */
static const struct {
	enum mal_action action;
	const char *names;
} table[] = {
	{MAL_ACTION_NONE,
	 " nop endbr64 endbr32 prefetcht0 prefetcht1 prefetcht2 prefetchnta prefetchw pause mfence "
	 "lfence sfence vzeroupper vzeroall cld emms fwait "},
	{MAL_ACTION_MOVE,
	 " mov movzx movsx movsxd movd movq movaps movapd movups movupd movdqa movdqu movss movsd "
	 "lddqu movntdq movntps movntpd movnti vmovd vmovq vmovaps vmovapd vmovups vmovupd vmovdqa "
	 "vmovdqu vmovdqa32 vmovdqa64 vmovdqu8 vmovdqu16 vmovdqu32 vmovdqu64 vbroadcastss "
	 "vbroadcastsd vpbroadcastd vpbroadcastq movddup vmovddup vlddqu vmovntdq vmovntps "
	 "vmovntpd vbroadcastf128 vbroadcasti128 vmovss vmovsd "},
	{MAL_ACTION_LEA, " lea "},
	{MAL_ACTION_ADD, " add "},
	{MAL_ACTION_SUBTRACT, " sub "},
	{MAL_ACTION_INCREMENT, " inc "},
	{MAL_ACTION_DECREMENT, " dec "},
	{MAL_ACTION_NEGATE, " neg "},
	{MAL_ACTION_SHIFT_LEFT, " shl "},
	{MAL_ACTION_FOLD,
	 " shr sar shrx sarx bsr bsf lzcnt tzcnt popcnt bextr pext cvttsd2si cvttss2si cvtsd2si "
	 "cvtss2si vcvttsd2si vcvttss2si vcvtsd2si vcvtss2si "},
	{MAL_ACTION_MULTIPLY, " imul "},
	{MAL_ACTION_DIVIDE, " idiv div "},
	{MAL_ACTION_EXTEND, " cdqe cwde cbw "},
	{MAL_ACTION_SIGN, " cdq cqo cwd "},
	{MAL_ACTION_CLEAR_SAME,
	 " xor pxor xorps xorpd vpxor vxorps vxorpd vpxord vpxorq psubd psubq vpsubd vpsubq sbb "},
	{MAL_ACTION_SET_SAME,
	 " pcmpeqb pcmpeqw pcmpeqd pcmpeqq vpcmpeqb vpcmpeqw vpcmpeqd vpcmpeqq "},
	{MAL_ACTION_OR, " or por orps orpd vpor vorps vorpd vpord vporq "},
	{MAL_ACTION_VECTOR_ADD, " paddd paddq vpaddd vpaddq "},
	{MAL_ACTION_SPREAD, " pshufd vpshufd punpckldq vpunpckldq shufps vinserti128 "},
	{MAL_ACTION_AND, " and "},
	{MAL_ACTION_COMPARE, " cmp "},
	{MAL_ACTION_TEST, " test "},
	{MAL_ACTION_COMPARE_FLOAT,
	 " comisd comiss ucomisd ucomiss vcomisd vcomiss vucomisd vucomiss bt ptest vptest "},
	{MAL_ACTION_EXCHANGE, " xchg "},
	{MAL_ACTION_COMPARE_EXCHANGE, " cmpxchg "},
	{MAL_ACTION_EXCHANGE_ADD, " xadd "},
	{MAL_ACTION_PUSH, " push "},
	{MAL_ACTION_POP, " pop "},
	{MAL_ACTION_LEAVE, " leave "},
	{MAL_ACTION_PAIR, " unpcklpd vunpcklpd punpcklqdq vpunpcklqdq "},
	{MAL_ACTION_FLOAT_ADD, " addsd addss addpd addps vaddsd vaddss vaddpd vaddps "},
	{MAL_ACTION_FLOAT_MULTIPLY, " mulsd mulss mulpd mulps vmulsd vmulss vmulpd vmulps "},
	{MAL_ACTION_FLOAT_LESS, " minsd minss minpd minps vminsd vminss vminpd vminps "},
	{MAL_ACTION_FLOAT_MORE, " maxsd maxss maxpd maxps vmaxsd vmaxss vmaxpd vmaxps "},
	{MAL_ACTION_SYSTEM,
	 " rdtscp rdpid cpuid lsl str sldt sgdt sidt rdfsbase rdgsbase wrfsbase wrgsbase rdpkru "
	 "rdrand rdseed int fxsave fxsave64 fnsave fnstenv stmxcsr vstmxcsr ldmxcsr vldmxcsr "},
	{MAL_ACTION_CONVERT,
	 " cvtsi2sd cvtsi2ss cvtss2sd cvtsd2ss sqrtsd sqrtss vcvtsi2sd vcvtsi2ss vcvtusi2sd "
	 "vcvtusi2ss vcvtss2sd vcvtsd2ss vsqrtsd vsqrtss "},
};

static const char conditions[][4] = {
	[MAL_EQUAL] = "z",     [MAL_NOT_EQUAL] = "nz",	[MAL_LESS] = "l",
	[MAL_NOT_LESS] = "nl", [MAL_LESS_EQUAL] = "le", [MAL_MORE] = "nle",
	[MAL_BELOW] = "b",     [MAL_NOT_BELOW] = "nb",	[MAL_BELOW_EQUAL] = "be",
	[MAL_ABOVE] = "nbe",   [MAL_NEGATIVE] = "s",	[MAL_NOT_NEGATIVE] = "ns",
};

static uint8_t condition_of(const char *name)
{
	for (uint8_t i = MAL_EQUAL; i < MAL_OTHER_CONDITION; i++)
		if (strcmp(name, conditions[i]) == 0)
			return i;
	return MAL_OTHER_CONDITION;
}

static uint8_t find(const char *name, uint8_t *condition)
{
	char word[40] = " ";

	if (name[0] == 'j') {
		*condition = strcmp(name, "jmp") == 0 ? MAL_NO_CONDITION : condition_of(name + 1);
		return MAL_ACTION_JUMP;
	}
	if (strncmp(name, "set", 3) == 0 && strncmp(name, "setssbsy", 8) != 0) {
		*condition = condition_of(name + 3);
		return MAL_ACTION_SET;
	}
	if (strncmp(name, "cmov", 4) == 0) {
		*condition = condition_of(name + 4);
		return MAL_ACTION_CHOOSE;
	}
	strncat(word, name, sizeof(word) - 3);
	strcat(word, " ");
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		if (strstr(table[i].names, word))
			return (uint8_t)table[i].action;
	return MAL_ACTION_ANY;
}

/* Whether, and how, an instruction of this name rounds floating-point numbers. */
static uint8_t rounds(const char *name)
{
	static const char x87[] = " fadd faddp fsub fsubp fsubr fsubrp fmul fmulp fdiv fdivp fdivr "
				  "fdivrp fiadd fisub fimul fidiv fsqrt ";
	static const char *const starts[] = {"add",  "sub",  "mul", "div",  "sqrt", "fm",  "fnm",
					     "hadd", "hsub", "dpp", "cvts", "cvtp", "rcp", "rsqrt"};
	const char *first = name + (name[0] == 'v'), *end = name + strlen(name);
	char word[40];

	snprintf(word, sizeof(word), " %s ", name);
	if (strstr(x87, word))
		return MAL_ROUNDS_ONE;
	if (end - first < 5 || (end[-2] != 's' && end[-2] != 'p') || !strchr("sdh", end[-1]))
		return 0;
	for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]); i++)
		if (strncmp(first, starts[i], strlen(starts[i])) == 0)
			return (end[-2] == 's' ? MAL_ROUNDS_ONE : MAL_ROUNDS_VECTOR) |
			       (starts[i][0] == 'f' ? MAL_ROUNDS_FUSED : 0);
	return 0;
}

/* What is known of an instruction by its name. */
static void name_instruction(struct mal_instruction *to)
{
	/* Found once each; threads may not share this, and do not. */
	static struct {
		uint8_t known, action, condition, rounds;
	} found[ZYDIS_MNEMONIC_MAX_VALUE + 1], *one;
	const char *name = ZydisMnemonicGetString((ZydisMnemonic)to->mnemonic);

	one = &found[to->mnemonic];
	if (!one->known) {
		one->action = find(name, &one->condition);
		one->rounds = rounds(name);
		one->known = 1;
	}
	to->action = one->action;
	to->condition = one->condition;
	to->rounds = one->rounds;
}

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
static bool is_guard(const ZydisDecodedOperand *operand)
{
	return operand->mem.segment == ZYDIS_REGISTER_FS &&
	       operand->mem.base == ZYDIS_REGISTER_NONE &&
	       operand->mem.index == ZYDIS_REGISTER_NONE && operand->mem.disp.value == 0x28;
}

static void take_operand(const ZydisDecodedOperand *from, struct mal_instruction *to)
{
	/* What is written in part only keeps the rest. */
	int read = (from->actions &
		    (ZYDIS_OPERAND_ACTION_MASK_READ | ZYDIS_OPERAND_ACTION_CONDWRITE)) != 0;
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
static bool has_hidden_memory(const ZydisDecodedInstruction *from,
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

static bool is_system(const ZydisDecodedInstruction *from)
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

/* Zydis tells that of masks of AVX-512 alone, and not of what replaces a part of a vector. */
static bool keeps_a_part(const struct mal_instruction *at)
{
	switch (at->mnemonic) {
	case ZYDIS_MNEMONIC_VMASKMOVPS:
	case ZYDIS_MNEMONIC_VMASKMOVPD:
	case ZYDIS_MNEMONIC_VPMASKMOVD:
	case ZYDIS_MNEMONIC_VPMASKMOVQ: return at->operands[0].kind == MAL_OPERAND_MEMORY;
	case ZYDIS_MNEMONIC_MOVHPD:
	case ZYDIS_MNEMONIC_MOVHPS:
	case ZYDIS_MNEMONIC_MOVLPD:
	case ZYDIS_MNEMONIC_MOVLPS:
	case ZYDIS_MNEMONIC_MOVHLPS:
	case ZYDIS_MNEMONIC_MOVLHPS: return at->operands[0].kind == MAL_OPERAND_REGISTER;
	case ZYDIS_MNEMONIC_MOVSD:
	case ZYDIS_MNEMONIC_MOVSS:
		return at->operands[0].kind == MAL_OPERAND_REGISTER &&
		       at->operands[1].kind == MAL_OPERAND_REGISTER;
	default: return 0;
	}
}

static void take_operands(const ZydisDecodedInstruction *from, const ZydisDecodedOperand *operands,
			  struct mal_instruction *to)
{
	for (unsigned int i = 0; i < from->operand_count; i++) {
		if (operands[i].encoding == ZYDIS_OPERAND_ENCODING_MASK) {
			/* This one masks nothing. */
			if (operands[i].reg.value == ZYDIS_REGISTER_K0)
				continue;
			to->action = MAL_ACTION_ANY;
		}
		take_operand(&operands[i], to);
	}
}

/* What of its first operands stays, or goes, otherwise than Zydis tells. */
static void correct_parts(struct mal_instruction *to)
{
	struct mal_operand *first = &to->operands[0], *second = first + 1, *third = first + 2;

	/* Half of one register and half of another, or of the same. */
	if (to->action == MAL_ACTION_MOVE && to->operand_count > 2) {
		if (to->operand_count == 3 && second->kind == MAL_OPERAND_REGISTER &&
		    third->kind == MAL_OPERAND_REGISTER && second->reg == third->reg)
			to->operand_count = 2;
		else
			to->action = MAL_ACTION_ANY;
	}
	if (keeps_a_part(to)) {
		first->read = 1;
		to->reads |= first->kind == MAL_OPERAND_REGISTER ? MAL_BIT(first->reg) : 0;
	}
	if (to->action == MAL_ACTION_CONVERT) {
		const struct mal_operand *what = &first[to->operand_count - 1];
		struct mal_operand *rest = &first[to->operand_count - 2];

		rest->read = 0;
		if (what->kind != MAL_OPERAND_REGISTER || what->reg != rest->reg)
			to->reads &= ~MAL_BIT(rest->reg);
	}
}

/* Flags that are only kept count as neither. */
static void take_flags(const ZydisAccessedFlags *flags, struct mal_instruction *to)
{
	if (!flags)
		return;
	to->reads |= flags->tested ? MAL_BIT(MAL_FLAGS) : 0;
	if (flags->modified | flags->set_0 | flags->set_1 | flags->undefined)
		to->writes |= MAL_BIT(MAL_FLAGS);
}

bool mal_decode(const struct mal_image *image, uint64_t address, struct mal_instruction *to)
{
	static const uint64_t repeats =
		ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE;
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction from;
	ZydisDecoder decoder;
	uint64_t left;
	const uint8_t *code = mal_image_at(image, address, &left);

	if (!code || !mal_image_executable(image, address))
		return 0;
	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	if (!ZYAN_SUCCESS(
		    ZydisDecoderDecodeFull(&decoder, code, left < 15 ? left : 15, &from, operands)))
		return 0;
	memset(to, 0, sizeof(*to));
	to->address = address;
	to->length = from.length;
	memcpy(to->encoded, code, left < sizeof(to->encoded) ? left : sizeof(to->encoded));
	to->mnemonic = (uint16_t)from.mnemonic;
	name_instruction(to);
	/* Vectors have movsd and cmpsd too. */
	if (from.meta.category == ZYDIS_CATEGORY_STRINGOP)
		to->action = MAL_ACTION_STRING;
	to->repeat = (from.attributes & repeats) != 0;
	take_operands(&from, operands, to);
	correct_parts(to);
	take_flags(from.cpu_flags, to);
	to->system = to->action == MAL_ACTION_SYSTEM || is_system(&from) ||
		     has_hidden_memory(&from, operands);
	take_flow(&from, to);
	/* Exchanged with memory, it is locked without a prefix. */
	to->lock = (from.attributes & ZYDIS_ATTRIB_HAS_LOCK) != 0 ||
		   (from.mnemonic == ZYDIS_MNEMONIC_XCHG &&
		    (to->operands[0].kind == MAL_OPERAND_MEMORY ||
		     to->operands[1].kind == MAL_OPERAND_MEMORY));
	return 1;
}

bool mal_is_of_one(const struct mal_instruction *at)
{
	const struct mal_operand *last;

	if (at->operand_count < 2)
		return 0;
	last = &at->operands[at->operand_count - 1];
	return last->kind == MAL_OPERAND_REGISTER && last[-1].kind == MAL_OPERAND_REGISTER &&
	       last->reg == last[-1].reg;
}
