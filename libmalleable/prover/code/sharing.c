/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * sharing.c: what the threads of a team may do to each other in a region that is free. One that
 * stores to an address which is the same in all iterations may be right with one thread alone; so
 * may one that calls what is not thread-safe. One that combines rounded numbers of several threads
 * sums. What one thread alone does, or one at a time, is neither.
 */
#include <stdlib.h>
#include <string.h>

#include "libmalleable/prover/code/actions.h"
#include "libmalleable/prover/code/analysis.h"

static const char not_safe[] = "calls what is not known to be thread-safe";

/* What is further apart, in iterations, may be two arrays that are next to each other. */
enum { FEW = 128 };

/* Whether it is looked at what is done here. */
static bool looks(const struct mal_analysis *analysis)
{
	return analysis->final && !analysis->without && !analysis->state->chosen;
}

static void note(struct mal_analysis *analysis, struct mal_reason *to, const char *text,
		 const char *symbol)
{
	mal_note(to, analysis->at->address, text, symbol);
}

/* A store through arguments, as far as the function itself knows. */
static void add_store(struct mal_analysis *analysis, uint32_t given)
{
	struct mal_callee *callee = analysis->callee;

	for (uint32_t i = 0; i < callee->store_count; i++)
		if (callee->stores[i] == given)
			return;
	if (callee->store_count == MAL_STORES) {
		note(analysis, &callee->alone, "too many stores", NULL);
		return;
	}
	callee->stores[callee->store_count++] = given;
	callee->stores_at = analysis->at->address;
}

/* What is at an address with FLAGS is written. */
static void store(struct mal_analysis *analysis, uint32_t flags, const char *reason,
		  const char *symbol)
{
	if (flags & (MAL_VARIES | MAL_NEW))
		return;
	if (flags & (MAL_ALL_GIVEN | MAL_ALL_WITHIN))
		add_store(analysis, flags & (MAL_ALL_GIVEN | MAL_ALL_WITHIN));
	else
		note(analysis, &analysis->callee->alone, reason, symbol);
}

static bool is_item(const struct mal_analysis *analysis, mal_value address)
{
	uint32_t flags = mal_flags(&analysis->values, address);

	return !mal_node(&analysis->values, address)->class && flags & MAL_VARIES &&
	       !(flags & MAL_NEW);
}

void mal_share_load(struct mal_analysis *analysis, mal_value address)
{
	if (looks(analysis) && is_item(analysis, address) && analysis->item_count < MAL_ITEMS)
		analysis->items[analysis->item_count++] = address;
}

/* Whether the same place was read before, by what another iteration may lead to as well. */
static bool adds_to_item(const struct mal_analysis *analysis, mal_value address)
{
	if (!is_item(analysis, address))
		return 0;
	for (uint32_t i = 0; i < analysis->item_count; i++)
		if (analysis->items[i] == address)
			return 1;
	return analysis->item_count == MAL_ITEMS;
}

void mal_share_store(struct mal_analysis *analysis, mal_value address)
{
	if (!looks(analysis) || analysis->state->held)
		return;
	store(analysis, mal_flags(&analysis->values, address), MAL_ONE_ADDRESS, NULL);
	if (adds_to_item(analysis, address))
		note(analysis, &analysis->callee->alone,
		     "changes what several iterations may lead to", NULL);
}

/* By how much ADDRESS differs from one iteration to the next; 0 where that is not known. */
static int64_t stride(const struct mal_values *values, mal_value address)
{
	const struct mal_node *node = mal_node(values, address);
	int64_t number, left, right;

	if (node->kind == MAL_STEP)
		return mal_is_number(values, node->b, &number) ? number : 0;
	if (node->kind == MAL_MULTIPLY && mal_is_number(values, node->b, &number))
		return stride(values, node->a) * number;
	if (node->kind == MAL_MULTIPLY && mal_is_number(values, node->a, &number))
		return stride(values, node->b) * number;
	if (node->kind != MAL_ADD)
		return 0;
	left = stride(values, node->a);
	right = stride(values, node->b);
	return (left || !mal_node(values, node->a)->class) &&
			       (right || !mal_node(values, node->b)->class)
		       ? left + right
		       : 0;
}

/* PLACE without the number that is added to its base. */
static void split(const struct mal_analysis *analysis, struct mal_place *place, mal_value base)
{
	const struct mal_node *node = mal_node(&analysis->values, base);

	place->base = base;
	if (node->kind == MAL_NUMBER)
		place->base = 0;
	else if (node->kind != MAL_ADD || mal_node(&analysis->values, node->b)->kind != MAL_NUMBER)
		return;
	else
		place->base = node->a;
	place->offset +=
		node->kind == MAL_ADD ? mal_node(&analysis->values, node->b)->key : node->key;
}

/* Fills in PLACE, at ADDRESS; how far it moves from one iteration to the next, or 0. */
static int64_t find_place(const struct mal_analysis *analysis, const struct mal_operand *operand,
			  mal_value address, struct mal_place *place)
{
	const mal_value *registers = analysis->state->registers;
	const struct mal_node *node = mal_node(&analysis->values, address);
	int64_t by;

	if (node->kind != MAL_SHARE) {
		split(analysis, place, address);
		by = stride(&analysis->values, place->base);
		return by < 0 ? -by : by;
	}
	if (operand->index == MAL_NO_REGISTER)
		return 0;
	place->index = registers[operand->index];
	place->offset = operand->number;
	node = mal_node(&analysis->values, place->index);
	if (node->kind != MAL_SHARE || node->flags & MAL_SCALED)
		return 0;
	if (operand->base != MAL_NO_REGISTER) {
		if (mal_node(&analysis->values, registers[operand->base])->class)
			return 0;
		split(analysis, place, registers[operand->base]);
	}
	return operand->scale;
}

void mal_share_place(struct mal_analysis *analysis, const struct mal_operand *operand,
		     mal_value address, int stores)
{
	struct mal_place place = {.stored = (uint8_t)stores, .at = analysis->at};

	if (!looks(analysis) || !mal_node(&analysis->values, address)->class ||
	    analysis->state->held)
		return;
	place.stride = find_place(analysis, operand, address, &place);
	if (!place.stride)
		return;
	if (analysis->place_count == MAL_ITEMS)
		note(analysis, &analysis->callee->alone, "too many places", NULL);
	else
		analysis->places[analysis->place_count++] = place;
}

/* How far A and B are apart, or -1 where that is not known. */
static int64_t apart(const struct mal_place *a, const struct mal_place *b)
{
	if (a->base != b->base || a->index != b->index || a->stride != b->stride)
		return -1;
	return a->offset > b->offset ? a->offset - b->offset : b->offset - a->offset;
}

/* A turn of several iterations stores again what it loads, if its stride is not known. */
static bool is_stored(const struct mal_analysis *analysis, const struct mal_place *place)
{
	for (uint32_t i = 0; i < analysis->place_count && place->index; i++)
		if (analysis->places[i].stored && apart(place, &analysis->places[i]) == 0)
			return 1;
	return 0;
}

void mal_share_places(struct mal_analysis *analysis)
{
	for (uint32_t i = 0; i < analysis->place_count; i++) {
		const struct mal_place *place = &analysis->places[i];

		for (uint32_t j = 0; j < analysis->place_count && !is_stored(analysis, place); j++)
			if (analysis->places[j].stored &&
			    apart(place, &analysis->places[j]) >= place->stride &&
			    apart(place, &analysis->places[j]) < FEW * place->stride) {
				analysis->at = place->at;
				note(analysis, &analysis->callee->alone,
				     "uses what another iteration stores", NULL);
			}
	}
}

void mal_share_value(struct mal_analysis *analysis, mal_value address, mal_value value)
{
	if (looks(analysis) && !analysis->state->held && analysis->facts[analysis->block].shared &&
	    mal_node(&analysis->values, value)->flags & MAL_RECURS &&
	    !(mal_flags(&analysis->values, address) & MAL_NEW))
		note(analysis, &analysis->callee->alone,
		     "stores what is carried from iteration to iteration", NULL);
}

void mal_share_atomic(struct mal_analysis *analysis, mal_value value)
{
	const struct mal_node *node = mal_node(&analysis->values, value);

	if (looks(analysis) && analysis->at->action == MAL_ACTION_COMPARE_EXCHANGE &&
	    node->flags & MAL_ROUNDS)
		note(analysis, &analysis->callee->sums,
		     "an atomic operation on floating-point numbers", NULL);
}

void mal_share_rounding(struct mal_analysis *analysis)
{
	if (looks(analysis) && analysis->state->held)
		note(analysis, &analysis->callee->sums, "a reduction of floating-point numbers",
		     NULL);
}

/* Whether memory at VALUE is written by nobody, or VALUE is no address. */
static bool is_harmless(const struct mal_analysis *analysis, mal_value value)
{
	const struct mal_node *node = mal_node(&analysis->values, value);

	return node->kind == MAL_LOST ||
	       (node->kind == MAL_NUMBER &&
		((uint64_t)node->key < 4096 ||
		 mal_image_constant(analysis->image, (uint64_t)node->key)));
}

void mal_share_external(struct mal_analysis *analysis, const struct mal_external *external,
			const char *name)
{
	enum mal_external_stores stores = mal_external_stores(external, name);
	uint64_t some = mal_external_arguments(external);

	if (!looks(analysis))
		return;
	if (external->kind == MAL_EXTERNAL_OTHER ? strncmp(name, "__atomic_", 9) == 0
						 : external->kind == MAL_EXTERNAL_CALLBACK)
		note(analysis, &analysis->callee->sums, "an operation that is not understood",
		     name);
	if (strncmp(name, "_ZGV", 4) == 0)
		note(analysis, &analysis->callee->sums, "other functions in vectors", name);
	if (stores == MAL_STORES_ANYWHERE)
		note(analysis, &analysis->callee->alone, not_safe, name);
	for (unsigned int i = 0; i < 6 && stores != MAL_STORES_NOTHING; i++) {
		mal_value value = analysis->state->registers[mal_arguments[i]];

		if (some & MAL_BIT(mal_arguments[i]) && (i == 0 || stores == MAL_STORES_GIVEN) &&
		    !is_harmless(analysis, value))
			store(analysis, mal_flags(&analysis->values, value), not_safe, name);
	}
}

/* One store of a function by what it is given here: the flags of where that is. */
static uint32_t flags_of(const struct mal_analysis *analysis, uint32_t given)
{
	uint32_t result = 0;

	for (unsigned int i = 0; i < 6; i++) {
		uint32_t flags =
			mal_flags(&analysis->values, analysis->state->registers[mal_arguments[i]]);

		if (given & (uint32_t)MAL_GIVEN << i)
			result |= flags & MAL_MUST;
		if (given & (uint32_t)MAL_WITHIN << i)
			result |= (flags & MAL_ITEM ? 0 : flags & MAL_VARIES) |
				  ((flags | flags >> 6) & MAL_ALL_GIVEN) << 6;
	}
	return result;
}

void mal_share_callee(struct mal_analysis *analysis, uint64_t target)
{
	const char *name = mal_image_name(analysis->image, target);
	const struct mal_callee *callee;
	struct mal_callee *mine = analysis->callee;

	if (!looks(analysis))
		return;
	callee = mal_callee(analysis->program, target);
	if (!callee) {
		note(analysis, &mine->alone, "calls that are nested too deeply", name);
		note(analysis, &mine->sums, "calls that are nested too deeply", name);
		return;
	}
	if (!mine->alone.text)
		mine->alone = callee->alone;
	if (!mine->sums.text)
		mine->sums = callee->sums;
	if (analysis->state->held)
		note(analysis, &mine->sums, "a reduction by a function", name);
	for (uint32_t i = 0; i < callee->store_count && !analysis->state->held; i++)
		store(analysis, flags_of(analysis, callee->stores[i]), MAL_ONE_ADDRESS, name);
}

void mal_share_indirect(struct mal_analysis *analysis)
{
	if (!looks(analysis))
		return;
	note(analysis, &analysis->callee->alone, "calls through a pointer", NULL);
	mal_indirect_observes(analysis->program);
	if (mal_taken_does(analysis->program) & MAL_DOES_COMBINE)
		note(analysis, &analysis->callee->sums, "calls through a pointer", NULL);
}

/* Whether what runs first sets the processor to flush small numbers: -ffast-math links that. */
static bool is_fast(struct mal_program *program)
{
	const struct mal_image *image = program->image;

	if (program->fast)
		return program->fast == 2;
	program->fast = 1;
	for (uint64_t at = 0; at < image->array_sizes[1] && at < 4096; at += 8) {
		const struct mal_slot *slot = mal_image_slot(image, image->arrays[1] + at);
		const struct mal_local *local;
		uint64_t word = 0;

		mal_image_copy(image, image->arrays[1] + at, &word, sizeof(word));
		local = mal_local_at(program, slot ? slot->value : word);
		if (local && local->bound.text && strcmp(local->bound.text, MAL_SYSTEM) == 0)
			program->fast = 2;
	}
	return program->fast == 2;
}

/*
 * Marks in the set the blocks of loops within those of iterations. In one that the runtime gives in
 * pieces, these are a loop too.
 */
static int find_inner(const struct mal_analysis *analysis)
{
	uint8_t *inner = analysis->set;
	uint32_t count = analysis->graph.block_count, *loop = calloc((size_t)count + 1, 4);
	int found = loop ? 0 : -1, pieces = 0;

	for (uint32_t i = 0; loop && i < count; i++) {
		inner[i] = analysis->facts[i].shared && !analysis->facts[i].header;
		pieces |= analysis->facts[i].shared &&
			  analysis->facts[i].effects & MAL_EFFECT_RUNTIME;
	}
	for (int depth = 0; found == 0 && depth <= pieces; depth++) {
		found = mal_flow_loops(&analysis->graph, inner, loop) < 0 ? -1 : 0;
		for (uint32_t i = 0; i < count; i++) {
			const struct mal_block *block = &analysis->graph.blocks[i];
			int first = 0;

			for (uint32_t j = 0; j < block->before_count; j++)
				first |= loop[block->before[j]] != loop[i];
			inner[i] = loop[i] && !(depth < pieces && first);
		}
	}
	free(loop);
	return found;
}

int mal_share_vectors(struct mal_analysis *analysis)
{
	const struct mal_flow_graph *graph = &analysis->graph;
	uint32_t seen = 0, all = 0;

	if (find_inner(analysis) < 0)
		return -1;
	for (uint32_t i = 0; i < graph->block_count; i++) {
		const struct mal_block_facts *facts = &analysis->facts[i];
		int shared = facts->shared ? !analysis->set[i] : facts->effects & MAL_EFFECT_ITEM;

		for (uint32_t j = 0; facts->end && facts->end->live && j < graph->blocks[i].count;
		     j++) {
			analysis->at = &graph->instructions[graph->blocks[i].first + j];
			all |= analysis->at->rounds;
			seen |= shared ? analysis->at->rounds : 0;
		}
	}
	if (seen & MAL_ROUNDS_ONE && seen & MAL_ROUNDS_VECTOR &&
	    (all & MAL_ROUNDS_FUSED || is_fast(analysis->program)))
		note(analysis, &analysis->callee->sums,
		     "vectors and the rest of a loop that may be rounded otherwise", NULL);
	return 0;
}
