/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* cursor.c: bytes of an image that are read one after the other. */
#include "libmalleable/inspect/cursor.h"

uint8_t mal_cursor_byte(struct mal_cursor *cursor)
{
	uint8_t byte = 0;

	if (!mal_image_copy(cursor->image, cursor->at++, &byte, 1))
		cursor->failed = 1;
	return byte;
}

uint32_t mal_cursor_word(struct mal_cursor *cursor)
{
	uint32_t word = 0;

	if (!mal_image_copy(cursor->image, cursor->at, &word, sizeof(word)))
		cursor->failed = 1;
	cursor->at += sizeof(word);
	return word;
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
