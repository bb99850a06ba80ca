/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* locations.c: registers and slots of the stack at a block, and what is in them. */
#include "libmalleable/inspect/changes.h"

uint64_t mal_slot_key(const struct mal_stack_slot *slot)
{
	return (uint64_t)1 << 62 | (uint64_t)slot->base << 32 | (uint32_t)slot->offset;
}

struct mal_location *mal_location(struct mal_analysis *analysis, uint32_t block, uint64_t key)
{
	uint64_t at = (key ^ key >> 29 ^ (uint64_t)block << 40) * 0x9e3779b97f4a7c15u >> 40;

	for (;; at++) {
		struct mal_location *location = &analysis->locations[at % MAL_LOCATIONS];

		if (location->used && location->key == key && location->block == block)
			return location;
		if (location->used)
			continue;
		if (analysis->location_count > MAL_LOCATIONS / 2) {
			analysis->values.full = 1;
			return NULL;
		}
		analysis->location_count++;
		*location = (struct mal_location){.key = key, .block = block, .used = 1};
		return location;
	}
}

uint32_t mal_location_role(const struct mal_analysis *analysis, const struct mal_location *location)
{
	return 1000 + (uint32_t)(location - analysis->locations);
}

mal_value mal_location_symbol(struct mal_analysis *analysis, const struct mal_location *location,
			      enum mal_symbol_class class)
{
	struct mal_symbol symbol = {
		.class = class,
		.role = mal_location_role(analysis, location),
		.block = location->block,
		.extra = class == MAL_CARRIED ? location->block : 0,
	};

	return mal_of_symbol(&analysis->values, mal_symbol(&analysis->values, &symbol));
}

uint32_t mal_carried_in(const struct mal_analysis *analysis, mal_value value)
{
	const struct mal_form *form = &analysis->values.forms[value];
	uint32_t found = 0;

	if (form->kind != MAL_LINEAR)
		return 0;
	for (unsigned int i = 0; i < form->count; i++) {
		const struct mal_term *term = &form->terms[i];
		enum mal_symbol_class class = analysis->values.symbols[term->symbol].class;

		if (class == MAL_CLEAN)
			continue;
		if (class != MAL_CARRIED || found || term->times != 1 || term->factor)
			return 0;
		found = term->symbol;
	}
	return found;
}
