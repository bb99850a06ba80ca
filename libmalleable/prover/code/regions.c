/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * regions.c: finds calls that start a region, and which function they give. The bytes of the code
 * are searched for such calls first; the functions that have one are then gone through, with what
 * their registers hold, until that holds on all ways.
 */
#include "libmalleable/prover/code/program.h"

#include <Zydis/Zydis.h>
#include <stdlib.h>
#include <string.h>

#include "libmalleable/prover/code/actions.h"
#include "libmalleable/prover/code/find.h"
#include "libmalleable/prover/code/flow.h"

/* What the registers hold, as far as it is seen from instruction to instruction. */
struct trace {
	enum { UNKNOWN, ADDRESS, TRUTH } kind[16];
	uint64_t value[16];
	/* A size of the team was asked for, on some way. */
	int clause;
	/* Some way leads here. */
	int reached;
};

/* A function that starts regions. */
struct scan {
	const struct mal_image *image;
	struct mal_region_functions *regions;
	struct mal_error *err;
	const struct mal_function *function;
	struct mal_flow_graph graph;
	/* Where each block begins. */
	struct trace *traces;
};

/* A size of the team that is no more than a condition. */
static bool is_condition(const struct trace *trace, unsigned int reg)
{
	return trace->kind[reg] == TRUTH || (trace->kind[reg] == ADDRESS && trace->value[reg] <= 1);
}

static void forget(struct trace *trace, uint64_t registers)
{
	for (unsigned int i = 0; i < 16; i++)
		if (registers & MAL_BIT(i))
			trace->kind[i] = UNKNOWN;
}

static void set(struct trace *trace, unsigned int reg, int kind, uint64_t value)
{
	trace->kind[reg] = kind;
	trace->value[reg] = value;
}

static void step(struct trace *trace, const struct mal_instruction *at)
{
	const struct mal_operand *to = &at->operands[0], *from = &at->operands[1];
	bool moves = at->mnemonic == ZYDIS_MNEMONIC_MOV || at->mnemonic == ZYDIS_MNEMONIC_MOVZX;
	bool inverts = at->mnemonic == ZYDIS_MNEMONIC_XOR && from->kind == MAL_OPERAND_NUMBER &&
		       from->number == 1;
	struct trace before = *trace;

	forget(trace, at->writes);
	if (to->kind != MAL_OPERAND_REGISTER || to->reg >= 16 || !to->written)
		return;
	if (at->action == MAL_ACTION_SET)
		trace->kind[to->reg] = TRUTH;
	else if (moves && from->kind == MAL_OPERAND_REGISTER && from->reg < 16)
		set(trace, to->reg, before.kind[from->reg], before.value[from->reg]);
	else if (moves ? from->kind == MAL_OPERAND_NUMBER
		       : at->action == MAL_ACTION_LEA && from->base == MAL_NO_REGISTER &&
				 from->index == MAL_NO_REGISTER)
		set(trace, to->reg, ADDRESS, (uint64_t)from->number);
	else if (at->mnemonic == ZYDIS_MNEMONIC_XOR && mal_is_of_one(at))
		set(trace, to->reg, ADDRESS, 0);
	else if (inverts)
		set(trace, to->reg, before.kind[to->reg], before.value[to->reg] ^ 1);
}

static int add_region(struct scan *scan, const struct mal_region_function *region)
{
	struct mal_region_functions *regions = scan->regions;

	for (size_t i = 0; i < regions->count; i++)
		if (regions->list[i].entry == region->entry) {
			regions->list[i].clause |= region->clause;
			regions->list[i].other |= region->other;
			return 0;
		}
	if (regions->count == MAL_REGIONS)
		return mal_fail(scan->err, "too large: more than %d regions", MAL_REGIONS);
	if (!mal_grow(&regions->list, regions->count, sizeof(*region)))
		return mal_fail(scan->err, "out of memory");
	regions->list[regions->count++] = *region;
	return 0;
}

static bool is_plain(const char *name)
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
static int add_loaded(struct scan *scan, struct mal_region_function *region, unsigned int where)
{
	int found = 0;

	for (size_t i = 0; i < scan->graph.instruction_count; i++) {
		const struct mal_function *function =
			loaded(scan->image, &scan->graph.instructions[i], where);

		if (!function)
			continue;
		region->entry = function->start;
		found++;
		if (add_region(scan, region) < 0)
			return -1;
	}
	return found;
}

/*
 * One call for several regions: all whose address is put into the register for it, or if there are
 * none, into any, as one of these is moved there.
 */
static int add_candidates(struct scan *scan, struct mal_region_function *region, unsigned int where)
{
	int found = add_loaded(scan, region, where);

	if (!found)
		found = add_loaded(scan, region, MAL_NO_REGISTER);
	scan->regions->unknown |= !found;
	return found < 0 ? -1 : 0;
}

/* AT calls, or jumps to, NAME, which starts a region. */
static int note_call(struct scan *scan, const struct mal_instruction *at, const char *name,
		     const struct trace *trace)
{
	int gnu = strncmp(name, "GOMP_", strlen("GOMP_")) == 0;
	unsigned int where = gnu ? MAL_RDI : MAL_RDX;
	struct mal_region_function region = {
		.entry = trace->value[where],
		.clause = trace->clause || (gnu && !is_condition(trace, MAL_RDX)),
		.other = !is_plain(name),
	};

	if (trace->kind[where] == ADDRESS && mal_image_executable(scan->image, region.entry))
		return add_region(scan, &region);
	/* A stub is no call. */
	return at->flow == MAL_FLOW_TAIL && !at->target ? 0 : add_candidates(scan, &region, where);
}

/* One more way leads to where KNOWN holds. Returns whether less is known then. */
static bool meet(struct trace *known, const struct trace *trace)
{
	struct trace before = *known;

	if (!known->reached) {
		*known = *trace;
		return 1;
	}
	for (unsigned int reg = 0; reg < 16; reg++) {
		if (known->kind[reg] == trace->kind[reg] && known->value[reg] == trace->value[reg])
			continue;
		known->kind[reg] =
			is_condition(known, reg) && is_condition(trace, reg) ? TRUTH : UNKNOWN;
		known->value[reg] = 0;
	}
	known->clause |= trace->clause;
	return memcmp(&before, known, sizeof(before)) != 0;
}

/* From the beginning of BLOCK to its end; FINAL: regions of the function itself are noted. */
static int read_block(struct scan *scan, uint32_t block, int final, struct trace *trace)
{
	const struct mal_block *here = &scan->graph.blocks[block];
	int result = 0;

	*trace = scan->traces[block];
	for (uint32_t i = 0; i < here->count && result == 0; i++) {
		const struct mal_instruction *at = &scan->graph.instructions[here->first + i];
		const struct mal_slot *slot = mal_call_slot(scan->image, at);
		enum mal_external_kind kind;

		if (at->flow == MAL_FLOW_NEXT) {
			step(trace, at);
			continue;
		}
		kind = slot ? mal_slot_external(slot)->kind : MAL_EXTERNAL_OTHER;
		if (kind == MAL_EXTERNAL_CLAUSE)
			trace->clause = 1;
		if (kind == MAL_EXTERNAL_FORK) {
			if (final && at->address >= scan->function->start &&
			    at->address < scan->function->end)
				result = note_call(scan, at, slot->symbol, trace);
			trace->clause = 0;
		}
		/* A compiler knows what its own functions leave alone. */
		if (at->flow == MAL_FLOW_CALL)
			forget(trace, MAL_BIT(MAL_RAX));
	}
	return result;
}

static int read_blocks(struct scan *scan)
{
	const struct mal_flow_graph *graph = &scan->graph;
	struct trace trace;
	int changed = 1;

	scan->traces[graph->order[0]].reached = 1;
	while (changed) {
		changed = 0;
		for (uint32_t i = 0; i < graph->order_count; i++) {
			const struct mal_block *block = &graph->blocks[graph->order[i]];

			if (!scan->traces[graph->order[i]].reached)
				continue;
			read_block(scan, graph->order[i], 0, &trace);
			for (uint32_t j = 0; j < block->next_count; j++)
				changed |= meet(&scan->traces[block->next[j]], &trace);
		}
	}
	for (uint32_t i = 0; i < graph->order_count; i++)
		if (read_block(scan, graph->order[i], 1, &trace) < 0)
			return -1;
	return 0;
}

static void close_scan(struct scan *scan)
{
	free(scan->traces);
	mal_flow_free(&scan->graph);
	scan->traces = NULL;
}

static int read_function(struct scan *scan, const struct mal_function *function)
{
	close_scan(scan);
	scan->function = function;
	if (mal_flow_build(scan->image, function->start, &scan->graph) < 0)
		return mal_fail(scan->err, "out of memory");
	/* Its regions stay unknown, and bound. */
	if (scan->graph.trouble)
		return 0;
	scan->traces = calloc((size_t)scan->graph.block_count + 1, sizeof(*scan->traces));
	return scan->traces ? read_blocks(scan) : mal_fail(scan->err, "out of memory");
}

/* Whether a call, or a jump, that starts a region may begin at CODE: 8 bytes at ADDRESS. */
static bool may_start(const struct mal_image *image, uint64_t address, const uint8_t *code)
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

/* Whether it is the linker's table of stubs, which begins with a push through memory. */
static bool is_linkage(const struct mal_image *image, const struct mal_function *function)
{
	uint8_t code[2];

	return mal_image_copy(image, function->start, code, sizeof(code)) && code[0] == 0xff &&
	       code[1] == 0x35;
}

static int search_segment(struct scan *scan, const struct mal_image_segment *segment)
{
	const struct mal_image *image = scan->image;
	const uint8_t *bytes = image->bytes + segment->offset;

	for (uint64_t at = 0; at + 8 <= segment->stored; at++) {
		uint64_t address = segment->address + at;
		const struct mal_function *function;

		if ((bytes[at] != 0xe8 && bytes[at] != 0xe9 && bytes[at] != 0xff) ||
		    !may_start(image, address, bytes + at))
			continue;
		function = mal_image_function(image, address);
		if (!function)
			continue;
		if (is_linkage(image, function))
			continue;
		if (function != scan->function && read_function(scan, function) < 0)
			return -1;
		/* By an exception, or by a way that is not seen; a stub is no call. */
		if (scan->graph.trouble || (mal_flow_find(&scan->graph, address) < 0 &&
					    !(bytes[at] == 0xff && bytes[at + 1] == 0x25)))
			scan->regions->unknown = 1;
	}
	return 0;
}

int mal_find_regions(struct mal_program *program, struct mal_region_functions *regions,
		     struct mal_error *err)
{
	const struct mal_image *image = program->image;
	struct scan scan = {.image = image, .regions = regions, .err = err};
	int result = 0;

	for (size_t i = 0; i < image->segment_count && result == 0; i++)
		if (image->segments[i].executable)
			result = search_segment(&scan, &image->segments[i]);
	close_scan(&scan);
	mal_sort_by_address(regions->list, regions->count, sizeof(*regions->list));
	return result;
}
