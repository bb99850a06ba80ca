/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* cursor.h: bytes of an image that are read one after the other, as tables of frames are. */
#ifndef MAL_INSPECT_CURSOR_H
#define MAL_INSPECT_CURSOR_H

#include "libmalleable/inspect/image.h"

/* FAILED once something was not stored, or was no number; what is read then means nothing. */
struct mal_cursor {
	const struct mal_image *image;
	uint64_t at;
	int failed;
};

uint8_t mal_cursor_byte(struct mal_cursor *cursor);
uint32_t mal_cursor_word(struct mal_cursor *cursor);

/* A number in LEB128, without sign (DWARF 5, sect. 7.6). */
uint64_t mal_cursor_leb(struct mal_cursor *cursor);

#endif
