/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* strings.c: instructions that copy, set or compare many words at once. */
#include "libmalleable/inspect/analysis.h"

#ifdef HAVE_ZYDIS

/* What one of them does: reads at RSI, reads or writes at RDI, words of so many bytes. */
struct string {
	int reads_source, reads_target, writes_target, loads;
	uint32_t bytes;
};

static int take_string(const struct mal_instruction *instruction, struct string *string)
{
	*string = (struct string){.bytes = 1};
	switch (instruction->mnemonic) {
	case ZYDIS_MNEMONIC_MOVSQ: string->bytes *= 2; /* fall through */
	case ZYDIS_MNEMONIC_MOVSD: string->bytes *= 2; /* fall through */
	case ZYDIS_MNEMONIC_MOVSW: string->bytes *= 2; /* fall through */
	case ZYDIS_MNEMONIC_MOVSB: string->reads_source = string->writes_target = 1; break;
	case ZYDIS_MNEMONIC_STOSQ: string->bytes *= 2; /* fall through */
	case ZYDIS_MNEMONIC_STOSD: string->bytes *= 2; /* fall through */
	case ZYDIS_MNEMONIC_STOSW: string->bytes *= 2; /* fall through */
	case ZYDIS_MNEMONIC_STOSB: string->writes_target = 1; break;
	case ZYDIS_MNEMONIC_LODSB:
	case ZYDIS_MNEMONIC_LODSW:
	case ZYDIS_MNEMONIC_LODSD:
	case ZYDIS_MNEMONIC_LODSQ: string->reads_source = string->loads = 1; break;
	case ZYDIS_MNEMONIC_CMPSB:
	case ZYDIS_MNEMONIC_CMPSW:
	case ZYDIS_MNEMONIC_CMPSD:
	case ZYDIS_MNEMONIC_CMPSQ: string->reads_source = 1; /* fall through */
	case ZYDIS_MNEMONIC_SCASB:
	case ZYDIS_MNEMONIC_SCASW:
	case ZYDIS_MNEMONIC_SCASD:
	case ZYDIS_MNEMONIC_SCASQ: string->reads_target = 1; break;
	default: return 0;
	}
	/* Two of these names are also instructions on vectors. */
	return instruction->operand_count == 0;
}

/* Words are set at TO: in memory of the thread's own, or where others see it. */
static void set_words(struct mal_analysis *analysis, const struct mal_instruction *instruction,
		      const struct string *string, mal_value to, mal_value value)
{
	mal_value count = analysis->state->registers[MAL_RCX];
	uint32_t base;
	int64_t offset, words = 1;
	int exact;

	if (!mal_is_stack(&analysis->values, to, &base, &offset, &exact)) {
		mal_effect_store(analysis, to, string->bytes, value);
		return;
	}
	if (exact && (!instruction->repeat || mal_is_number(&analysis->values, count, &words)) &&
	    words > 0 && words <= 4096) {
		mal_store_slot(analysis, base, (int32_t)offset, (uint32_t)words * string->bytes,
			       value);
		return;
	}
	mal_forget_slots(analysis, base, exact ? offset : INT64_MIN, INT64_MAX);
}

int mal_step_string(struct mal_analysis *analysis, const struct mal_instruction *instruction)
{
	struct mal_state *state = analysis->state;
	mal_value to = state->registers[MAL_RDI], from = state->registers[MAL_RSI];
	mal_value value = state->registers[MAL_RAX];
	const char *reason = NULL;
	struct string string;

	if (!take_string(instruction, &string))
		return 0;
	if (instruction->repeat)
		reason = mal_shows(analysis, state->registers[MAL_RCX], analysis->block, -1);
	if (!reason && string.reads_source)
		reason = mal_shows(analysis, from, analysis->block, -1);
	if (!reason && string.reads_target)
		reason = mal_shows(analysis, to, analysis->block, -1);
	if (reason)
		mal_bind(analysis, "an instruction on strings", NULL);
	if (instruction->thread_local_)
		mal_bind(analysis, "thread-local storage", NULL);
	if (string.reads_source)
		value = reason ? mal_taint(&analysis->values, reason)
			       : mal_fresh(analysis, MAL_CLEAN, 601);
	/* Words of zeros alone are known to be what each of them is. */
	else if (!mal_is_number(&analysis->values, value, &(int64_t){0}))
		value = mal_mixed(analysis, &value, 1, 602);
	if (string.writes_target)
		set_words(analysis, instruction, &string, to, value);
	if (string.loads)
		state->registers[MAL_RAX] = value;
	if (string.reads_source)
		state->registers[MAL_RSI] = mal_mixed(analysis, &from, 1, MAL_RSI);
	if (string.reads_target || string.writes_target)
		state->registers[MAL_RDI] = mal_mixed(analysis, &to, 1, MAL_RDI);
	state->registers[MAL_RCX] = mal_mixed(analysis, &state->registers[MAL_RCX], 1, MAL_RCX);
	for (size_t i = 0; i < 8; i++)
		if (instruction->writes & MAL_BIT(i))
			state->rest[i] = 0;
	if (string.reads_target)
		mal_set_flags(analysis, MAL_FLAGS_VALUE,
			      reason ? mal_taint(&analysis->values, reason)
				     : mal_fresh(analysis, MAL_CLEAN, 603),
			      0);
	return 1;
}

#endif
