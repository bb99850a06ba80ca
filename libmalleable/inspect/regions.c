/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * regions.c: finds calls that start a region, and which function they give. The bytes of the code
 * are searched for such calls first; the functions that have one are then decoded, and gone through
 * again and again until what is known where ways meet holds on all of them.
 */
#include "libmalleable/inspect/program.h"

#include <Zydis/Zydis.h>
#include <stdlib.h>
#include <string.h>

#include "libmalleable/inspect/actions.h"
#include "libmalleable/inspect/find.h"

enum { JOINS = 4096, PASSES = 16 };

/* What the registers hold, as far as it is seen from instruction to instruction. */
struct trace {
	enum { UNKNOWN, ADDRESS, TRUTH } kind[16];
	uint64_t value[16];
	/* A size of the team was asked for, on some way. */
	int clause;
};

/* Where a jump leads to, and what holds on all ways that were seen. */
struct join {
	uint64_t address;
	struct trace trace;
	int reached;
};

struct reading {
	const struct mal_image *image;
	const struct mal_function *function;
	struct mal_starts *starts;
	/* All that can be decoded from its beginning on. */
	struct mal_instruction *text;
	size_t count;
	/* Sorted by address. */
	struct join *joins;
	size_t join_count;
	/* The function asks for a size somewhere. */
	int clauses;
	/* What is known where ways meet became less. */
	int changed;
	/* Code is read that no way leads to. */
	int all;
	int final;
};

/* A size of the team that is no more than a condition. */
static int is_condition(const struct trace *trace, unsigned int reg)
{
	return trace->kind[reg] == TRUTH || (trace->kind[reg] == ADDRESS && trace->value[reg] <= 1);
}

static void forget(struct trace *trace, uint64_t registers)
{
	for (unsigned int i = 0; i < 16; i++)
		if (registers & MAL_BIT(i))
			trace->kind[i] = UNKNOWN;
}

static void step(struct trace *trace, const struct mal_instruction *instruction)
{
	const struct mal_operand *to = &instruction->operands[0], *from = &instruction->operands[1];
	struct trace before = *trace;

	forget(trace, instruction->writes);
	if (to->kind != MAL_OPERAND_REGISTER || to->reg >= 16 || !to->written)
		return;
	switch (instruction->mnemonic) {
	case ZYDIS_MNEMONIC_LEA:
		if (from->base != MAL_NO_REGISTER || from->index != MAL_NO_REGISTER)
			return;
		/* fall through */
	case ZYDIS_MNEMONIC_MOV:
	case ZYDIS_MNEMONIC_MOVZX:
		if (from->kind == MAL_OPERAND_REGISTER && from->reg < 16) {
			trace->kind[to->reg] = before.kind[from->reg];
			trace->value[to->reg] = before.value[from->reg];
		} else if (from->kind == MAL_OPERAND_NUMBER ||
			   instruction->mnemonic == ZYDIS_MNEMONIC_LEA) {
			trace->kind[to->reg] = ADDRESS;
			trace->value[to->reg] = (uint64_t)from->number;
		}
		return;
	case ZYDIS_MNEMONIC_XOR:
		if (from->kind == MAL_OPERAND_REGISTER && from->reg == to->reg) {
			trace->kind[to->reg] = ADDRESS;
			trace->value[to->reg] = 0;
		} else if (from->kind == MAL_OPERAND_NUMBER && from->number == 1) {
			trace->kind[to->reg] = before.kind[to->reg];
			trace->value[to->reg] = before.value[to->reg] ^ 1;
		}
		return;
	default:
		if (instruction->mnemonic >= ZYDIS_MNEMONIC_SETB &&
		    instruction->mnemonic <= ZYDIS_MNEMONIC_SETZ)
			trace->kind[to->reg] = TRUTH;
	}
}

static int add_start(struct mal_starts *starts, const struct mal_start *start,
		     struct mal_error *err)
{
	struct mal_start *more;

	for (size_t i = 0; i < starts->count; i++)
		if (starts->starts[i].entry == start->entry) {
			starts->starts[i].clause |= start->clause;
			starts->starts[i].other |= start->other;
			return 0;
		}
	if (starts->count == MAL_REGIONS)
		return mal_fail(err, "too large: more than %d regions", MAL_REGIONS);
	more = mal_room(starts->starts, starts->count, sizeof(*more));
	if (!more)
		return mal_fail(err, "out of memory");
	starts->starts = more;
	more[starts->count++] = *start;
	return 0;
}

static int is_plain(const char *name)
{
	return strcmp(name, "__kmpc_fork_call") == 0 || strcmp(name, "__kmpc_fork_call_if") == 0 ||
	       strcmp(name, "GOMP_parallel") == 0 ||
	       strncmp(name, "GOMP_parallel_loop_", strlen("GOMP_parallel_loop_")) == 0;
}

/* The function whose address is put into the register WHERE, or into any; NULL: none is. */
static const struct mal_function *loaded(const struct mal_image *image,
					 const struct mal_instruction *at, unsigned int where)
{
	const struct mal_operand *to = &at->operands[0], *from = &at->operands[1];
	uint64_t address = (uint64_t)from->number;
	const struct mal_function *function;

	if (to->kind != MAL_OPERAND_REGISTER || (where != MAL_NO_REGISTER && to->reg != where))
		return NULL;
	if (at->action == MAL_ACTION_LEA ? from->base != MAL_NO_REGISTER
					 : at->action != MAL_ACTION_MOVE || !image->fixed ||
						   from->kind != MAL_OPERAND_NUMBER)
		return NULL;
	function = mal_image_executable(image, address) ? mal_image_function(image, address) : NULL;
	return function && function->start == address ? function : NULL;
}

/* Add the functions whose address is put into WHERE. Returns how many, or -1. */
static int add_loaded(struct reading *reading, struct mal_start *start, unsigned int where,
		      struct mal_error *err)
{
	int found = 0;

	for (size_t i = 0; i < reading->count; i++) {
		const struct mal_function *function =
			loaded(reading->image, &reading->text[i], where);

		if (!function)
			continue;
		start->entry = function->start;
		found++;
		if (add_start(reading->starts, start, err) < 0)
			return -1;
	}
	return found;
}

/*
 * One call for several regions: all whose address is put into the register for it, or if there are
 * none, into any, as one of these is moved there.
 */
static int add_candidates(struct reading *reading, struct mal_start *start, unsigned int where,
			  struct mal_error *err)
{
	int found = add_loaded(reading, start, where, err);

	if (!found)
		found = add_loaded(reading, start, MAL_NO_REGISTER, err);
	reading->starts->unknown |= !found;
	return found < 0 ? -1 : 0;
}

static int note_call(struct reading *reading, const char *name, struct trace *trace,
		     int through_slot, struct mal_error *err)
{
	int gnu = strncmp(name, "GOMP_", strlen("GOMP_")) == 0;
	unsigned int where = gnu ? MAL_RDI : MAL_RDX;
	struct mal_start start = {
		.entry = trace->value[where],
		.clause = trace->clause || (gnu && !is_condition(trace, MAL_RDX)),
		.other = !is_plain(name),
	};

	trace->clause = 0;
	if (!reading->final)
		return 0;
	if (trace->kind[where] != ADDRESS || !mal_image_executable(reading->image, start.entry)) {
		/* A stub is no call. */
		return through_slot ? 0 : add_candidates(reading, &start, where, err);
	}
	return add_start(reading->starts, &start, err);
}

static struct join *join_at(const struct reading *reading, uint64_t address)
{
	return (struct join *)mal_find_address(reading->joins, reading->join_count,
					       sizeof(*reading->joins), address);
}

/* One more way leads to JOIN. */
static void meet(struct reading *reading, struct join *join, const struct trace *trace)
{
	struct trace *known = &join->trace, before = *known;

	if (!join->reached) {
		*known = *trace;
		join->reached = reading->changed = 1;
		return;
	}
	for (unsigned int reg = 0; reg < 16; reg++) {
		if (known->kind[reg] == trace->kind[reg] && known->value[reg] == trace->value[reg])
			continue;
		known->kind[reg] =
			is_condition(known, reg) && is_condition(trace, reg) ? TRUTH : UNKNOWN;
		known->value[reg] = 0;
	}
	known->clause |= trace->clause;
	if (memcmp(&before, known, sizeof(before)) != 0)
		reading->changed = 1;
}

/* Without memory -1. */
static int decode(struct reading *reading)
{
	for (uint64_t address = reading->function->start; address < reading->function->end;) {
		struct mal_instruction *more =
			mal_room(reading->text, reading->count, sizeof(*more));

		if (!more)
			return -1;
		reading->text = more;
		if (!mal_decode(reading->image, address, &more[reading->count]))
			return 0;
		address += more[reading->count++].length;
	}
	return 0;
}

/* Whether AT leads to code of the function. */
static int leads(const struct reading *reading, const struct mal_instruction *at)
{
	return (at->flow == MAL_FLOW_JUMP || at->flow == MAL_FLOW_BRANCH) &&
	       at->target >= reading->function->start && at->target < reading->function->end;
}

/* Sorted by address, each once. */
static void sort_joins(struct reading *reading)
{
	size_t kept = 0;

	mal_sort_by_address(reading->joins, reading->join_count, sizeof(*reading->joins));
	for (size_t i = 0; i < reading->join_count; i++)
		if (!kept || reading->joins[kept - 1].address != reading->joins[i].address)
			reading->joins[kept++].address = reading->joins[i].address;
	reading->join_count = kept;
}

/* Where ways may meet, and whether a size is asked for. Without memory -1; 1: too large. */
static int find_joins(struct reading *reading)
{
	size_t jumps = 0;

	for (size_t i = 0; i < reading->count; i++) {
		const struct mal_instruction *at = &reading->text[i];
		const struct mal_slot *slot =
			at->flow == MAL_FLOW_CALL ? mal_call_slot(reading->image, at) : NULL;

		reading->clauses |= slot && mal_slot_external(slot)->kind == MAL_EXTERNAL_CLAUSE;
		jumps += leads(reading, at) != 0;
	}
	reading->joins = calloc(jumps + 1, sizeof(*reading->joins));
	if (!reading->joins)
		return -1;
	for (size_t i = 0; i < reading->count; i++)
		if (leads(reading, &reading->text[i]))
			reading->joins[reading->join_count++].address = reading->text[i].target;
	sort_joins(reading);
	return reading->join_count > JOINS;
}

/* One call or jump: what it starts, where it leads. Returns whether what is next follows. */
static int step_flow(struct reading *reading, const struct mal_instruction *at, struct trace *trace,
		     int *result, struct mal_error *err)
{
	const struct mal_slot *slot = NULL;
	struct join *join;

	if (at->flow == MAL_FLOW_CALL || at->flow == MAL_FLOW_JUMP)
		slot = mal_call_slot(reading->image, at);
	if (slot && mal_slot_external(slot)->kind == MAL_EXTERNAL_CLAUSE)
		trace->clause = 1;
	if (slot && mal_slot_external(slot)->kind == MAL_EXTERNAL_FORK)
		*result = note_call(reading, slot->symbol, trace,
				    at->flow == MAL_FLOW_JUMP && !at->target, err);
	/* A compiler knows what its own functions leave alone. */
	if (at->flow == MAL_FLOW_CALL)
		forget(trace, MAL_BIT(MAL_RAX));
	join = at->flow == MAL_FLOW_JUMP || at->flow == MAL_FLOW_BRANCH
		       ? join_at(reading, at->target)
		       : NULL;
	if (join)
		meet(reading, join, trace);
	return at->flow == MAL_FLOW_NEXT || at->flow == MAL_FLOW_CALL ||
	       at->flow == MAL_FLOW_BRANCH;
}

static int read_once(struct reading *reading, struct mal_error *err)
{
	struct trace trace = {0};
	int goes_on = 1, result = 0;
	struct join *next = reading->joins, *end = next + reading->join_count;

	for (size_t i = 0; i < reading->count && result == 0; i++) {
		const struct mal_instruction *at = &reading->text[i];
		struct join *join = NULL;

		while (next < end && next->address < at->address)
			next++;
		if (next < end && next->address == at->address)
			join = next;
		if (!goes_on && !(join && join->reached)) {
			if (!reading->all)
				continue;
			/* By a way that is not seen, as that of a switch: nothing is known. */
			trace = (struct trace){.clause = reading->clauses};
		}
		if (join && (goes_on || !join->reached))
			meet(reading, join, &trace);
		if (join)
			trace = join->trace;
		if (at->flow == MAL_FLOW_NEXT) {
			step(&trace, at);
			/* Padding is not reached. */
			goes_on |= at->action != MAL_ACTION_NONE;
		} else {
			goes_on = step_flow(reading, at, &trace, &result, err);
		}
	}
	return result;
}

static int read_function(const struct mal_image *image, const struct mal_function *function,
			 struct mal_starts *starts, struct mal_error *err)
{
	struct reading reading = {.image = image, .function = function, .starts = starts};
	int result = decode(&reading) < 0 ? -1 : find_joins(&reading);

	if (result == 0) {
		unsigned int passes = 0;

		do {
			/* First by the ways that are seen. */
			reading.all |= !reading.changed && passes > 0;
			reading.changed = 0;
			read_once(&reading, err);
		} while (++passes < PASSES && (reading.changed || !reading.all));
		reading.final = !reading.changed;
		starts->unknown |= !reading.final;
		result = reading.final ? read_once(&reading, err) : 0;
	} else if (result > 0) {
		/* Too large: its regions stay unknown, and bound. */
		starts->unknown = 1;
		result = 0;
	} else {
		result = mal_fail(err, "out of memory");
	}
	free(reading.joins);
	free(reading.text);
	return result;
}

/* Whether a call, or a jump, that starts a region may begin at CODE: 8 bytes at ADDRESS. */
static int may_start(const struct mal_image *image, uint64_t address, const uint8_t *code)
{
	const struct mal_slot *slot = NULL;
	int32_t distance;

	memcpy(&distance, code + 1, sizeof(distance));
	if (code[0] == 0xe8 || code[0] == 0xe9) {
		slot = mal_image_stub(image, address + 5 + (uint64_t)(int64_t)distance);
	} else if (code[0] == 0xff && (code[1] == 0x15 || code[1] == 0x25)) {
		memcpy(&distance, code + 2, sizeof(distance));
		slot = mal_image_slot(image, address + 6 + (uint64_t)(int64_t)distance);
	}
	return slot && slot->kind == MAL_SLOT_SYMBOL &&
	       mal_slot_external(slot)->kind == MAL_EXTERNAL_FORK;
}

static int search_segment(const struct mal_image *image, const struct mal_image_segment *segment,
			  struct mal_starts *starts, struct mal_error *err)
{
	const uint8_t *bytes = image->bytes + segment->offset;
	uint64_t skip = 0;

	for (uint64_t at = 0; at + 8 <= segment->stored; at++) {
		const struct mal_function *function;

		if ((bytes[at] != 0xe8 && bytes[at] != 0xe9 && bytes[at] != 0xff) || at < skip ||
		    !may_start(image, segment->address + at, bytes + at))
			continue;
		function = mal_image_function(image, segment->address + at);
		if (!function)
			continue;
		if (read_function(image, function, starts, err) < 0)
			return -1;
		skip = function->end - segment->address;
	}
	return 0;
}

int mal_find_regions(struct mal_program *program, struct mal_starts *starts, struct mal_error *err)
{
	const struct mal_image *image = program->image;

	*starts = (struct mal_starts){0};
	for (size_t i = 0; i < image->segment_count; i++)
		if (image->segments[i].executable &&
		    search_segment(image, &image->segments[i], starts, err) < 0)
			return -1;
	mal_sort_by_address(starts->starts, starts->count, sizeof(*starts->starts));
	return 0;
}
