/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* names.c: finds functions of other libraries by their names. */
#include "libmalleable/inspect/names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int is_in(const char *names, const char *name)
{
	char word[80];

	if (snprintf(word, sizeof(word), " %s ", name) < (int)sizeof(word) && strstr(names, word))
		return 1;
	for (const char *star = strchr(names, '*'); star; star = strchr(star + 1, '*')) {
		const char *begin = star;

		while (begin[-1] != ' ')
			begin--;
		if (strncmp(name, begin, (size_t)(star - begin)) == 0)
			return 1;
	}
	return 0;
}

const struct mal_external *mal_external(const char *name)
{
	static const struct mal_external other = {MAL_EXTERNAL_OTHER, MAL_ANY_ARGUMENTS, NULL, ""};

	for (size_t i = 0; i < mal_external_count; i++)
		if (is_in(mal_external_table[i].names, name))
			return &mal_external_table[i];
	return &other;
}

uint64_t mal_external_arguments(const struct mal_external *external)
{
	static const uint8_t order[] = {MAL_RDI, MAL_RSI, MAL_RDX, MAL_RCX, MAL_R8, MAL_R9};
	uint64_t some = 0;

	for (unsigned int i = 0; i < external->integers; i++)
		some |= MAL_BIT(order[i]);
	if (external->integers == MAL_ANY_ARGUMENTS)
		some |= (uint64_t)0xff << MAL_XMM0;
	else if (external->kind == MAL_EXTERNAL_PURE && external->integers % 3 == 0)
		some |= (uint64_t)7 << MAL_XMM0;
	return some;
}

const struct mal_external *mal_slot_external(const struct mal_slot *slot)
{
	struct mal_slot *known = (struct mal_slot *)slot;

	if (!known->external)
		known->external = mal_external(slot->symbol ? slot->symbol : "?");
	return known->external;
}

static const struct mal_slot *slot_of(const struct mal_image *image,
				      const struct mal_instruction *instruction)
{
	if (instruction->target)
		return mal_image_stub(image, instruction->target);
	return instruction->slot ? mal_image_slot(image, instruction->slot) : NULL;
}

const struct mal_slot *mal_call_slot(const struct mal_image *image,
				     const struct mal_instruction *instruction)
{
	const struct mal_slot *slot = slot_of(image, instruction);

	return slot && slot->kind != MAL_SLOT_ADDRESS ? slot : NULL;
}

uint64_t mal_call_target(const struct mal_image *image, const struct mal_instruction *instruction)
{
	const struct mal_slot *slot = slot_of(image, instruction);

	if (slot)
		return slot->kind == MAL_SLOT_ADDRESS ? slot->value : 0;
	return instruction->target;
}
