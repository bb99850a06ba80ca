/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* names.c: finds functions of other libraries by their names. */
#include "libmalleable/inspect/names.h"

#include <stdlib.h>
#include <string.h>

static int by_name(const void *key, const void *row)
{
	return strcmp(key, ((const struct mal_external *)row)->name);
}

const struct mal_external *mal_external(const char *name)
{
	static const struct mal_external unknown = {"", MAL_EXTERNAL_UNKNOWN, MAL_ANY_ARGUMENTS,
						    MAL_ANY_ARGUMENTS};
	const struct mal_external *found;

	found = bsearch(name, mal_external_table, mal_external_count, sizeof(*mal_external_table),
			by_name);
	if (found)
		return found;
	for (size_t i = 0; i < mal_external_beginning_count; i++)
		if (strncmp(name, mal_external_beginnings[i].name,
			    strlen(mal_external_beginnings[i].name)) == 0)
			return &mal_external_beginnings[i];
	return &unknown;
}

int mal_external_observes(const char *name)
{
	enum mal_external_kind kind = mal_external(name)->kind;

	return kind == MAL_EXTERNAL_UNKNOWN || kind == MAL_EXTERNAL_IDENTITY ||
	       kind == MAL_EXTERNAL_THREAD || kind == MAL_EXTERNAL_THREADS ||
	       kind == MAL_EXTERNAL_GLOBAL_THREAD;
}

static const struct mal_slot *slot_of(const struct mal_image *image,
				      const struct mal_instruction *instruction)
{
	if (instruction->target)
		return mal_image_stub(image, instruction->target);
	return instruction->slot ? mal_image_slot(image, instruction->slot) : NULL;
}

const char *mal_call_name(const struct mal_image *image, const struct mal_instruction *instruction)
{
	const struct mal_slot *slot = slot_of(image, instruction);

	if (!slot || slot->kind == MAL_SLOT_ADDRESS)
		return NULL;
	return slot->kind == MAL_SLOT_SYMBOL ? slot->symbol : "?";
}

uint64_t mal_call_target(const struct mal_image *image, const struct mal_instruction *instruction)
{
	const struct mal_slot *slot = slot_of(image, instruction);

	if (slot)
		return slot->kind == MAL_SLOT_ADDRESS ? slot->value : 0;
	return instruction->target;
}

int mal_call_ends(const struct mal_image *image, const struct mal_instruction *instruction)
{
	const char *name = mal_call_name(image, instruction);

	return name && mal_external(name)->kind == MAL_EXTERNAL_END;
}
