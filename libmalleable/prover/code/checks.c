/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* checks.c: what may be done with a value, and what binds the region where it may not. */
#include "libmalleable/prover/code/analysis.h"

void mal_mark_bound(struct mal_analysis *analysis, const char *reason, const char *symbol)
{
	if (analysis->final)
		mal_note(analysis->reason, analysis->at ? analysis->at->address : 0, reason,
			 symbol);
}

void mal_bind_block(struct mal_analysis *analysis, uint32_t block, const char *reason)
{
	analysis->at = mal_flow_last(&analysis->graph, block);
	mal_mark_bound(analysis, reason, NULL);
}

mal_value mal_fresh(struct mal_analysis *analysis, unsigned int which, uint32_t flags)
{
	return mal_symbol(&analysis->values, analysis->at->address * 8 + which, flags);
}

void mal_effect(struct mal_analysis *analysis, unsigned int effect)
{
	analysis->facts[analysis->block].effects |= (uint8_t)effect;
}

struct mal_block_facts *mal_stepped_by(const struct mal_analysis *analysis, mal_value value)
{
	const struct mal_node *node = mal_node(&analysis->values, value);
	const mal_value parts[] = {node->a, node->b, node->c};
	struct mal_block_facts *found = NULL;
	uint32_t block = (uint32_t)(node->key >> 40) & 0x3fffff;

	if ((node->kind == MAL_STEP || node->kind == MAL_SYMBOL) && node->key >> 62 == 1 &&
	    block < analysis->graph.block_count && analysis->facts[block].header)
		found = &analysis->facts[block];
	for (size_t i = 0; i < 3 && !found && node->kind != MAL_SYMBOL; i++)
		found = parts[i] ? mal_stepped_by(analysis, parts[i]) : NULL;
	return found;
}

void mal_check_pace(struct mal_analysis *analysis, mal_value value)
{
	struct mal_block_facts *loop;
	int counts = 0;
	int64_t pace;

	if (!analysis->final || analysis->without)
		return;
	loop = mal_stepped_by(analysis, value);
	if (!loop)
		return;
	pace = mal_pace(&analysis->values, value, &counts);
	if (!pace)
		return;
	if (!loop->paces[counts])
		loop->paces[counts] = pace;
	if (pace == MAL_NO_PACE || loop->paces[counts] != pace ||
	    (loop->paces[0] && loop->paces[1] && loop->paces[0] != loop->paces[1] &&
	     loop->paces[0] != -loop->paces[1]))
		mal_mark_bound(analysis, "another pace than that of a thread's iterations", NULL);
}

void mal_check_history(struct mal_analysis *analysis, mal_value value)
{
	uint32_t flags = mal_node(&analysis->values, value)->flags;

	if (analysis->values.inner && flags & (MAL_COUNTED | MAL_HISTORY))
		mal_mark_bound(analysis,
			       flags & MAL_COUNTED ? "how many iterations a thread has had, stored"
						   : "a value carried between iterations, stored",
			       NULL);
}

/* Whether VALUE is made of the bounds that LLVM's runtime gives, as no loop steps it. */
static bool is_bare(const struct mal_values *values, mal_value value)
{
	const struct mal_node *node = mal_node(values, value);

	return node->kind == MAL_LOW || node->kind == MAL_HIGH ||
	       ((node->kind == MAL_ADD || node->kind == MAL_MULTIPLY) &&
		(is_bare(values, node->a) || is_bare(values, node->b)));
}

void mal_check_first(struct mal_analysis *analysis, mal_value address)
{
	if (!analysis->state->few && is_bare(&analysis->values, address))
		mal_effect(analysis, MAL_EFFECT_BOUND);
}

bool mal_check_value(struct mal_analysis *analysis, mal_value value, const char *as)
{
	const struct mal_node *node = mal_node(&analysis->values, value);
	struct mal_reason reason = {.as = as, .where = analysis->at ? analysis->at->address : 0};

	mal_check_pace(analysis, value);
	if (node->class == MAL_UNKNOWN)
		reason.text = node->text;
	else if (node->class == MAL_IDENTITY)
		reason.text = node->kind == MAL_CHOSEN
				      ? "what chooses one thread"
				      : "a thread's number, or how many there are,";
	else if (mal_is_of_bounds(&analysis->values, value))
		reason.text = "the bounds of a thread's iterations";
	else if (!node->class && node->flags & MAL_PLACE &&
		 (analysis->values.inner || (analysis->at && analysis->at->lock)))
		reason.text = "read at the bounds of a thread's iterations,";
	else if (analysis->without && (node->class || node->flags & MAL_ITEM))
		reason.text = "outside a loop, a thread's own iterations";
	else
		return true;
	if (analysis->final && !analysis->reason->text)
		*analysis->reason = reason;
	return false;
}

/* Whether VALUE is where a thread's iterations of BYTES begin; BACKWARDS: where they end. */
static bool is_first(struct mal_values *values, mal_value value, int64_t bytes, bool backwards)
{
	const struct mal_node *node = mal_shape_of(values, value);

	return mal_node(values, value)->class == MAL_IDENTITY && node->shape == MAL_SHAPE_BLOCK &&
	       node->start == (backwards ? -bytes : bytes) &&
	       node->length == (backwards ? -bytes : 0);
}

/* Whether LENGTH is just that of a thread's iterations: how much each has, or 0. */
static int64_t length_of_each(struct mal_values *values, mal_value length)
{
	const struct mal_node *node = mal_shape_of(values, length);

	return mal_node(values, length)->class == MAL_IDENTITY && node->shape == MAL_SHAPE_BLOCK &&
			       !node->start && !node->rest && node->bare
		       ? node->length
		       : 0;
}

void mal_check_length(struct mal_analysis *analysis, mal_value length, unsigned int bytes,
		      mal_value to, mal_value from)
{
	struct mal_values *values = &analysis->values;
	int64_t each;
	bool same = false;

	if (!mal_is_share(values, length)) {
		mal_check_value(analysis, length, "as a length");
		return;
	}
	if (mal_node(values, length)->class && mal_node(values, to)->class == MAL_CLEAN)
		mal_mark_bound(analysis, "as much as a thread's iterations need in one place",
			       NULL);
	if (!mal_is_of_bounds(values, length))
		return;
	each = length_of_each(values, length) * bytes;
	for (int backwards = 0; each && backwards < 2; backwards++)
		same |= is_first(values, to, each, backwards) &&
			(!from || is_first(values, from, each, backwards));
	if (!same)
		mal_mark_bound(analysis, "other bytes than those of a thread's iterations", NULL);
}

void mal_check_address(struct mal_analysis *analysis, mal_value address, int store)
{
	const struct mal_node *node = mal_node(&analysis->values, address);

	mal_check_pace(analysis, address);
	mal_effect(analysis, node->class ? MAL_EFFECT_ITEM : 0);
	if (node->class == MAL_IDENTITY) {
		if (!mal_is_share(&analysis->values, address) ||
		    (mal_shape_of(&analysis->values, address)->shape == MAL_SHAPE_BLOCK &&
		     mal_shape_of(&analysis->values, address)->start == 0))
			mal_check_value(analysis, address, "as an address");
		else if (store && !analysis->state->few)
			mal_effect(analysis, MAL_EFFECT_BOUND);
	} else if (node->class == MAL_UNKNOWN) {
		mal_check_value(analysis, address, "as an address");
	} else if (store && (mal_is_off(&analysis->values, address) ||
			     (analysis->values.inner && mal_is_edge(&analysis->values, address)))) {
		mal_check_value(analysis, address, "as an address");
	} else if ((node->class == MAL_CLEAN && node->flags & MAL_CARRIED) ||
		   (node->flags & MAL_HISTORY && analysis->values.inner)) {
		mal_mark_bound(analysis, "a value carried between iterations as an address", NULL);
	}
	if (analysis->without && store && node->class)
		mal_check_value(analysis, address, "as an address");
}
