/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* frames.c: where functions begin and end, by the table of .eh_frame_hdr and its FDEs. */
#include <stdlib.h>
#include <string.h>

#include "libmalleable/inspect/find.h"
#include "libmalleable/inspect/image_reader.h"

enum { PCREL_SDATA4 = 0x1b, DATAREL_SDATA4 = 0x3b, UDATA4 = 0x03 };

static uint64_t relative(uint64_t base, uint32_t distance)
{
	return base + (uint64_t)(int64_t)(int32_t)distance;
}

/* Of a CIE: whether its FDEs are of the one kind that compilers write, and have an LSDA. */
static int read_cie(const struct mal_image *image, uint64_t cie, int *lsda)
{
	struct mal_cursor cursor = {.image = image, .at = cie + 8};
	char letters[8] = "";
	size_t count = 0;
	uint8_t pointers = 0;

	if (mal_cursor_byte(&cursor) != 1)
		return 0;
	for (char letter; (letter = (char)mal_cursor_byte(&cursor)) && !cursor.failed;) {
		if (count == sizeof(letters) - 1)
			return 0;
		letters[count++] = letter;
	}
	mal_cursor_leb(&cursor);
	mal_cursor_leb(&cursor);
	mal_cursor_leb(&cursor);
	if (letters[0] != 'z')
		return 0;
	mal_cursor_leb(&cursor);
	*lsda = 0;
	for (size_t i = 1; i < count; i++) {
		if (letters[i] == 'R') {
			pointers = mal_cursor_byte(&cursor);
		} else if (letters[i] == 'L') {
			*lsda = 1;
			if (mal_cursor_byte(&cursor) != PCREL_SDATA4)
				return 0;
		} else if (letters[i] == 'P') {
			uint8_t kind = mal_cursor_byte(&cursor) & 0x0f;

			cursor.at += kind == 0x0c || kind == 0x04 || kind == 0 ? 8 : 4;
		} else if (letters[i] != 'S') {
			return 0;
		}
	}
	return !cursor.failed && pointers == PCREL_SDATA4;
}

static int read_fde(const struct mal_image *image, uint64_t fde, struct mal_function *function)
{
	struct mal_cursor cursor = {.image = image, .at = fde};
	uint32_t length = mal_cursor_word(&cursor), back = mal_cursor_word(&cursor);
	uint64_t at = cursor.at;
	int lsda;

	if (cursor.failed || length == 0 || length == UINT32_MAX || back == 0 ||
	    !read_cie(image, fde + 4 - back, &lsda))
		return 0;
	function->start = relative(at, mal_cursor_word(&cursor));
	function->end = function->start + mal_cursor_word(&cursor);
	mal_cursor_leb(&cursor);
	function->handlers = 0;
	if (lsda) {
		uint32_t distance;

		at = cursor.at;
		distance = mal_cursor_word(&cursor);
		if (distance)
			function->handlers = relative(at, distance);
	}
	return !cursor.failed && function->end > function->start &&
	       mal_image_executable(image, function->start) &&
	       mal_image_executable(image, function->end - 1);
}

/* Functions do not overlap: the second of two that do is left out. */
static void tidy(struct mal_image *image)
{
	size_t kept = 0;

	mal_sort_by_address(image->functions, image->function_count, sizeof(*image->functions));
	for (size_t i = 0; i < image->function_count; i++)
		if (kept == 0 || image->functions[i].start >= image->functions[kept - 1].end)
			image->functions[kept++] = image->functions[i];
	image->function_count = kept;
}

int mal_image_read_functions(struct mal_image *image, const struct mal_image_parts *parts,
			     struct mal_error *err)
{
	struct mal_cursor cursor = {.image = image, .at = parts->frames};
	uint32_t count;

	if (!parts->frames)
		return 0;
	if (mal_cursor_byte(&cursor) != 1 || mal_cursor_byte(&cursor) != PCREL_SDATA4 ||
	    mal_cursor_byte(&cursor) != UDATA4 || mal_cursor_byte(&cursor) != DATAREL_SDATA4)
		return 0;
	mal_cursor_word(&cursor);
	count = mal_cursor_word(&cursor);
	if (cursor.failed || count == 0)
		return 0;
	if (count > MAL_IMAGE_FUNCTIONS || count > image->size / 8)
		return mal_fail(err, "too large: %u functions", count);
	image->functions = calloc(count, sizeof(*image->functions));
	if (!image->functions)
		return mal_fail(err, "out of memory");
	for (uint32_t i = 0; i < count; i++) {
		uint64_t fde;

		mal_cursor_word(&cursor);
		fde = relative(parts->frames, mal_cursor_word(&cursor));
		if (cursor.failed)
			break;
		if (read_fde(image, fde, &image->functions[image->function_count]))
			image->function_count++;
	}
	tidy(image);
	return 0;
}
