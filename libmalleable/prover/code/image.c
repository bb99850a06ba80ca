/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* image.c: what lies at an address of an image. */
#include "libmalleable/prover/code/image.h"

#include <stdlib.h>
#include <string.h>

#include "libmalleable/prover/code/find.h"

static const struct mal_image_segment *segment_of(const struct mal_image *image, uint64_t address)
{
	for (size_t i = 0; i < image->segment_count; i++)
		if (address >= image->segments[i].address &&
		    address - image->segments[i].address < image->segments[i].size)
			return &image->segments[i];
	return NULL;
}

const uint8_t *mal_image_at(const struct mal_image *image, uint64_t address, uint64_t *left)
{
	const struct mal_image_segment *segment = segment_of(image, address);
	uint64_t behind = segment ? address - segment->address : 0;

	*left = segment && behind < segment->stored ? segment->stored - behind : 0;
	return *left ? image->bytes + segment->offset + behind : NULL;
}

bool mal_image_copy(const struct mal_image *image, uint64_t address, void *to, size_t size)
{
	uint64_t left;
	const uint8_t *from = mal_image_at(image, address, &left);

	if (!from || left < size)
		return 0;
	memcpy(to, from, size);
	return 1;
}

/* A number of SIZE bytes, 4 at most. */
static uint32_t take(struct mal_cursor *cursor, size_t size)
{
	uint32_t number = 0;

	cursor->failed |= !mal_image_copy(cursor->image, cursor->at, &number, size);
	cursor->at += size;
	return number;
}

uint8_t mal_cursor_byte(struct mal_cursor *cursor)
{
	return (uint8_t)take(cursor, 1);
}

uint32_t mal_cursor_word(struct mal_cursor *cursor)
{
	return take(cursor, sizeof(uint32_t));
}

uint64_t mal_cursor_leb(struct mal_cursor *cursor)
{
	uint64_t value = 0;

	for (unsigned int shift = 0; shift < 64 && !cursor->failed; shift += 7) {
		uint8_t byte = mal_cursor_byte(cursor);

		value |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return value;
	}
	cursor->failed = 1;
	return 0;
}

bool mal_image_executable(const struct mal_image *image, uint64_t address)
{
	const struct mal_image_segment *segment = segment_of(image, address);

	return segment && segment->executable;
}

bool mal_image_constant(const struct mal_image *image, uint64_t address)
{
	const struct mal_image_segment *segment = segment_of(image, address);

	return segment && !segment->writable;
}

const struct mal_slot *mal_image_slot(const struct mal_image *image, uint64_t address)
{
	return mal_find_address(image->slots, image->slot_count, sizeof(*image->slots), address);
}

const struct mal_slot *mal_image_stub(const struct mal_image *image, uint64_t address)
{
	static const uint8_t landing[] = {0xf3, 0x0f, 0x1e, 0xfa};
	uint8_t code[16];
	size_t at = 0;
	int32_t distance;

	if (!mal_image_executable(image, address) ||
	    !mal_image_copy(image, address, code, sizeof(code)))
		return NULL;
	if (memcmp(code, landing, sizeof(landing)) == 0)
		at = sizeof(landing);
	if (code[at] == 0xf2)
		at++;
	if (code[at] != 0xff || code[at + 1] != 0x25)
		return NULL;
	memcpy(&distance, code + at + 2, sizeof(distance));
	return mal_image_slot(image, address + at + 6 + (uint64_t)(int64_t)distance);
}

const struct mal_function *mal_image_function(const struct mal_image *image, uint64_t address)
{
	const struct mal_function *function = mal_find_before(
		image->functions, image->function_count, sizeof(*image->functions), address);

	return function && address < function->end ? function : NULL;
}

const char *mal_image_name(const struct mal_image *image, uint64_t address)
{
	const struct mal_function *function = mal_image_function(image, address);

	return function ? function->name : NULL;
}

void mal_image_free(struct mal_image *image)
{
	free(image->slots);
	free(image->functions);
	image->slots = NULL;
	image->functions = NULL;
	image->slot_count = image->function_count = 0;
}
