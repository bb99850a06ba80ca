/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * taken.c: functions whose address is taken: in data, by relocations, or in code. Bytes of code
 * that only look like an address count too; that errs on the safe side.
 */
#include "libmalleable/inspect/taken.h"

#include <stdlib.h>
#include <string.h>

#include "libmalleable/inspect/names.h"

struct taking {
	struct mal_program *program;
	const struct mal_starts *starts;
	/* One bit for each function. */
	uint8_t *seen;
};

static int is_start(const struct mal_starts *starts, uint64_t entry)
{
	return mal_find_address(starts->starts, starts->count, sizeof(*starts->starts), entry) !=
	       NULL;
}

/* In a program with a fixed address a function of another library is its stub. */
static void note_stub(struct mal_program *program, uint64_t address)
{
	const struct mal_slot *slot = NULL;

	if (program->image->fixed && mal_image_executable(program->image, address))
		slot = mal_image_stub(program->image, address);
	if (slot && slot->kind == MAL_SLOT_SYMBOL && mal_external_observes(slot->symbol))
		program->stub_taken = 1;
}

static void take(struct taking *taking, uint64_t address)
{
	const struct mal_image *image = taking->program->image;
	const struct mal_function *function = mal_image_function(image, address);
	size_t number;

	note_stub(taking->program, address);
	if (!function || function->start != address || is_start(taking->starts, address))
		return;
	number = (size_t)(function - image->functions);
	taking->seen[number / 8] |= (uint8_t)(1 << number % 8);
}

static int in_arrays(const struct mal_image *image, uint64_t address)
{
	for (size_t i = 0; i < 3; i++)
		if (address >= image->arrays[i] &&
		    address - image->arrays[i] < image->array_sizes[i])
			return 1;
	return 0;
}

static void take_data(struct taking *taking)
{
	const struct mal_image *image = taking->program->image;

	for (size_t i = 0; i < image->slot_count; i++) {
		const struct mal_slot *slot = &image->slots[i];

		if (slot->kind == MAL_SLOT_ADDRESS && !slot->linkage &&
		    !in_arrays(image, slot->address))
			take(taking, slot->value);
	}
	if (!image->fixed)
		return;
	for (size_t i = 0; i < image->segment_count; i++) {
		const struct mal_image_segment *segment = &image->segments[i];

		for (uint64_t at = 0; !segment->executable && at + 8 <= segment->stored; at += 8) {
			uint64_t word;

			memcpy(&word, image->bytes + segment->offset + at, sizeof(word));
			if (!in_arrays(image, segment->address + at))
				take(taking, word);
		}
	}
}

static void take_code(struct taking *taking, const struct mal_image_segment *segment)
{
	const struct mal_image *image = taking->program->image;
	const struct mal_function *first = mal_image_function(image, image->entry);
	const uint8_t *bytes = image->bytes + segment->offset;

	for (uint64_t at = 0; at + 8 <= segment->stored; at++) {
		uint64_t address = segment->address + at;
		int32_t number;

		/* What the first function calls is main(), in no region. */
		if (first && address >= first->start && address < first->end)
			continue;
		if ((bytes[at] & 0xf8) == 0x48 && bytes[at + 1] == 0x8d &&
		    (bytes[at + 2] & 0xc7) == 0x05) {
			memcpy(&number, bytes + at + 3, sizeof(number));
			take(taking, address + 7 + (uint64_t)(int64_t)number);
		}
		if (image->fixed) {
			memcpy(&number, bytes + at, sizeof(number));
			take(taking, (uint32_t)number);
		}
	}
}

int mal_find_taken(struct mal_program *program, const struct mal_starts *starts,
		   struct mal_error *err)
{
	const struct mal_image *image = program->image;
	struct taking taking = {.program = program, .starts = starts};

	taking.seen = calloc(image->function_count / 8 + 1, 1);
	program->taken = calloc(image->function_count + 1, sizeof(*program->taken));
	if (!taking.seen || !program->taken) {
		free(taking.seen);
		return mal_fail(err, "out of memory");
	}
	take_data(&taking);
	for (size_t i = 0; i < image->segment_count; i++)
		if (image->segments[i].executable)
			take_code(&taking, &image->segments[i]);
	for (size_t i = 0; i < image->function_count; i++)
		if (taking.seen[i / 8] >> i % 8 & 1)
			program->taken[program->taken_count++] = image->functions[i].start;
	free(taking.seen);
	return 0;
}
