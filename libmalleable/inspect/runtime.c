/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* runtime.c: what constructs of OpenMP do, by the calls of libomp and libgomp. */
#include <string.h>

#include "libmalleable/inspect/analysis.h"

#ifdef HAVE_ZYDIS

static const char not_understood[] = "a construct that is not understood";

static void set_result(struct mal_analysis *analysis, enum mal_symbol_class class)
{
	analysis->state->registers[MAL_RAX] = mal_fresh(analysis, class, 10);
	analysis->state->rest[MAL_RAX] = 0;
}

/* The runtime writes BYTES to where REG points: a bound of a share. */
static mal_value put(struct mal_analysis *analysis, unsigned int reg, uint32_t bytes,
		     enum mal_symbol_class class, uint32_t role)
{
	mal_value old = 0;
	uint32_t base;
	int64_t offset;
	int exact;

	if (!mal_is_stack(&analysis->values, analysis->state->registers[reg], &base, &offset,
			  &exact) ||
	    !exact) {
		mal_bind(analysis, not_understood, NULL);
		return 0;
	}
	old = mal_load_slot(analysis, base, (int32_t)offset, bytes);
	mal_store_slot(analysis, base, (int32_t)offset, bytes, mal_fresh(analysis, class, role));
	return old;
}

static void want_clean(struct mal_analysis *analysis, mal_value value)
{
	const char *reason =
		value ? mal_shows(analysis, value, analysis->block, -1) : not_understood;

	if (reason)
		mal_bind(analysis, reason, NULL);
}

static void want_together(struct mal_analysis *analysis)
{
	if (analysis->modes[analysis->block] != MAL_MODE_ALL ||
	    !analysis->together[analysis->block])
		mal_bind(analysis, "a construct that not all threads reach", NULL);
}

/* The word on the stack that is argument NUMBER behind those in registers. */
static mal_value on_stack(struct mal_analysis *analysis, unsigned int number)
{
	uint32_t base;
	int64_t offset;
	int exact;

	if (!mal_is_stack(&analysis->values, analysis->state->registers[MAL_RSP], &base, &offset,
			  &exact) ||
	    !exact)
		return mal_taint(&analysis->values, not_understood);
	return mal_load_slot(analysis, base, (int32_t)(offset + 8 * (int64_t)number), 8);
}

static void static_init(struct mal_analysis *analysis, const char *name)
{
	struct mal_state *state = analysis->state;
	uint32_t bytes = strstr(name, "_8") ? 8 : 4, base;
	mal_value stride = on_stack(analysis, 0);
	int64_t schedule, offset;
	int exact;

	want_together(analysis);
	if (!mal_is_number(&analysis->values, state->registers[MAL_RDX], &schedule) ||
	    ((schedule & 0xffff) != 34 && (schedule & 0xffff) != 33)) {
		mal_bind(analysis, not_understood, NULL);
		return;
	}
	put(analysis, MAL_RCX, 4, MAL_LAST, 11);
	want_clean(analysis, put(analysis, MAL_R8, bytes, MAL_LOW, 10));
	want_clean(analysis, put(analysis, MAL_R9, bytes, MAL_HIGH, 10));
	if (!mal_is_stack(&analysis->values, stride, &base, &offset, &exact) || !exact)
		mal_bind(analysis, not_understood, NULL);
	else
		mal_store_slot(analysis, base, (int32_t)offset, bytes,
			       mal_fresh(analysis, MAL_LENGTH, 12));
	/* Chunks and increments are the compiler's, and the same for all. */
}

static void dispatch_next(struct mal_analysis *analysis, const char *name)
{
	uint32_t bytes = strstr(name, "_8") ? 8 : 4;

	put(analysis, MAL_RDX, 4, MAL_LAST, 11);
	put(analysis, MAL_RCX, bytes, MAL_LOW, 10);
	put(analysis, MAL_R8, bytes, MAL_HIGH, 10);
	put(analysis, MAL_R9, bytes, MAL_LENGTH, 12);
	set_result(analysis, MAL_MORE);
}

/*
 * Those with `ordered` too: blocks that it guards run in the order of iterations, whoever has them,
 * and dependences lead to earlier iterations alone. That orders more, whatever the team.
 */
static int is_schedule(int64_t schedule)
{
	int64_t kind = schedule & 0xffff;

	return (kind >= 33 && kind <= 48) || (kind >= 65 && kind <= 70);
}

static void dispatch_init(struct mal_analysis *analysis)
{
	const struct mal_state *state = analysis->state;
	int64_t schedule;

	want_together(analysis);
	if (!mal_is_number(&analysis->values, state->registers[MAL_RDX], &schedule) ||
	    !is_schedule(schedule))
		mal_bind(analysis, not_understood, NULL);
	want_clean(analysis, state->registers[MAL_RCX]);
	want_clean(analysis, state->registers[MAL_R8]);
	want_clean(analysis, state->registers[MAL_R9]);
}

static void loop_start(struct mal_analysis *analysis, const struct mal_external *external, int ull)
{
	static const uint8_t arguments[] = {MAL_RDI, MAL_RSI, MAL_RDX, MAL_RCX, MAL_R8, MAL_R9};
	int runtime = strstr(external->name, "runtime") != NULL;
	unsigned int low = 4u + (unsigned int)ull - (unsigned int)runtime;
	struct mal_state *state = analysis->state;

	want_together(analysis);
	for (unsigned int i = 0; i < low; i++)
		want_clean(analysis, state->registers[arguments[i]]);
	put(analysis, arguments[low], 8, MAL_LOW, 10);
	if (low + 1 < sizeof(arguments)) {
		put(analysis, arguments[low + 1], 8, MAL_HIGH, 10);
	} else {
		/* Behind the registers. */
		state->registers[MAL_R9] = on_stack(analysis, 0);
		put(analysis, MAL_R9, 8, MAL_HIGH, 10);
	}
	set_result(analysis, MAL_MORE);
}

static void once(struct mal_analysis *analysis, const struct mal_external *external)
{
	int64_t filter;

	want_together(analysis);
	if (strcmp(external->name, "__kmpc_masked") == 0 &&
	    (!mal_is_number(&analysis->values, analysis->state->registers[MAL_RDX], &filter) ||
	     filter != 0))
		mal_bind(analysis, "a thread chosen by its number", NULL);
	set_result(analysis, MAL_ONCE);
}

static mal_value number_of_thread(struct mal_analysis *analysis, enum mal_symbol_class class)
{
	/* The same wherever it is asked for. */
	struct mal_symbol symbol = {.class = class, .role = 20};

	return mal_of_symbol(&analysis->values, mal_symbol(&analysis->values, &symbol));
}

void mal_step_runtime(struct mal_analysis *analysis, const struct mal_external *external,
		      const struct mal_instruction *instruction)
{
	struct mal_state *state = analysis->state;

	(void)instruction;
	switch (external->kind) {
	case MAL_EXTERNAL_THREAD:
	case MAL_EXTERNAL_THREADS:
	case MAL_EXTERNAL_GLOBAL_THREAD:
		state->registers[MAL_RAX] = number_of_thread(
			analysis, external->kind == MAL_EXTERNAL_THREAD	   ? MAL_THREAD
				  : external->kind == MAL_EXTERNAL_THREADS ? MAL_THREADS
									   : MAL_GLOBAL);
		state->rest[MAL_RAX] = 0;
		return;
	case MAL_EXTERNAL_STATIC_INIT: static_init(analysis, external->name); return;
	case MAL_EXTERNAL_DISPATCH_INIT: dispatch_init(analysis); return;
	case MAL_EXTERNAL_DISPATCH_NEXT: dispatch_next(analysis, external->name); return;
	case MAL_EXTERNAL_LOOP_START: loop_start(analysis, external, 0); return;
	case MAL_EXTERNAL_LOOP_START_ULL: loop_start(analysis, external, 1); return;
	case MAL_EXTERNAL_LOOP_NEXT:
		put(analysis, MAL_RDI, 8, MAL_LOW, 10);
		put(analysis, MAL_RSI, 8, MAL_HIGH, 10);
		set_result(analysis, MAL_MORE);
		return;
	case MAL_EXTERNAL_ONCE: once(analysis, external); return;
	case MAL_EXTERNAL_BARRIER:
		/* Threads with a share and those without may each have a call of their own. */
		if (!analysis->merging[analysis->block])
			want_together(analysis);
		return;
	case MAL_EXTERNAL_REDUCE:
		want_together(analysis);
		set_result(analysis, MAL_REDUCE);
		return;
	case MAL_EXTERNAL_LOOP_END:
	case MAL_EXTERNAL_ONCE_END:
	case MAL_EXTERNAL_REDUCE_END:
	case MAL_EXTERNAL_PROTECT: return;
	default: mal_bind(analysis, not_understood, external->name);
	}
}

#endif
