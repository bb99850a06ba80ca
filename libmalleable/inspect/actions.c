/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* actions.c: the table of actions, by names of instructions. */
#include "libmalleable/inspect/actions.h"

#include <Zydis/Zydis.h>
#include <string.h>

#include "libmalleable/inspect/values.h"

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
	 "vmovntpd vbroadcastf128 vbroadcasti128 "},
	{MAL_ACTION_LEA, " lea "},
	{MAL_ACTION_ADD, " add "},
	{MAL_ACTION_SUBTRACT, " sub "},
	{MAL_ACTION_INCREMENT, " inc "},
	{MAL_ACTION_DECREMENT, " dec "},
	{MAL_ACTION_NEGATE, " neg "},
	{MAL_ACTION_SHIFT_LEFT, " shl "},
	{MAL_ACTION_MULTIPLY, " imul "},
	{MAL_ACTION_DIVIDE, " idiv div "},
	{MAL_ACTION_EXTEND, " cdqe cwde cbw "},
	{MAL_ACTION_SIGN, " cdq cqo cwd "},
	{MAL_ACTION_CLEAR_SAME,
	 " xor pxor xorps xorpd vpxor vxorps vxorpd vpxord vpxorq psubd psubq vpsubd vpsubq sbb "},
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
	 "rdrand "
	 "rdseed int fxsave fxsave64 fnsave fnstenv stmxcsr vstmxcsr ldmxcsr vldmxcsr "},
	{MAL_ACTION_CONVERT, " cvtsi2sd cvtsi2ss cvtss2sd cvtsd2ss sqrtsd sqrtss "},
	{MAL_ACTION_STRING,
	 " movsb movsw movsq stosb stosw stosd stosq lodsb lodsw lodsd lodsq scasb scasw scasd "
	 "scasq cmpsb cmpsw cmpsq "},
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

uint8_t mal_action_of(uint16_t mnemonic, uint8_t *condition)
{
	/* Found once each; threads may not share this, and do not. */
	static uint8_t actions[ZYDIS_MNEMONIC_MAX_VALUE + 1];
	static uint8_t found[ZYDIS_MNEMONIC_MAX_VALUE + 1];

	if (!actions[mnemonic])
		actions[mnemonic] = (uint8_t)(find(ZydisMnemonicGetString((ZydisMnemonic)mnemonic),
						   &found[mnemonic]) +
					      1);
	*condition = found[mnemonic];
	return (uint8_t)(actions[mnemonic] - 1);
}
