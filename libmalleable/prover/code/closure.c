/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * closure.c: follows calls: what a function does with all that it reaches; and what a call through
 * a pointer may reach: functions whose address is taken, in data, by relocations, or in code. Bytes
 * of code that only look like an address count too; that errs on the safe side.
 */
#include <stdlib.h>
#include <string.h>

#include "libmalleable/prover/code/find.h"
#include "libmalleable/prover/code/program.h"

struct taking {
	struct mal_program *program;
	/* One bit for each function. */
	uint8_t *seen;
};

static bool asks(const struct mal_slot *slot)
{
	enum mal_external_kind kind;

	if (slot->kind != MAL_SLOT_SYMBOL || !slot->function)
		return slot->kind == MAL_SLOT_RESOLVER;
	kind = mal_slot_external(slot)->kind;
	/* MPI binds where it is called, but tells no thread apart. */
	return kind == MAL_EXTERNAL_ASKS ||
	       (kind == MAL_EXTERNAL_BINDS &&
		strcmp(mal_slot_external(slot)->reason, MAL_CALL_OF_MPI) != 0) ||
	       kind == MAL_EXTERNAL_THREAD || kind == MAL_EXTERNAL_THREADS ||
	       kind == MAL_EXTERNAL_GLOBAL_THREAD;
}

static bool finds(const char *symbol)
{
	return strcmp(symbol, "dlsym") == 0 || strcmp(symbol, "dlvsym") == 0;
}

static void take(struct taking *taking, uint64_t address)
{
	struct mal_program *program = taking->program;
	const struct mal_image *image = program->image;
	const struct mal_function *function;
	const struct mal_slot *slot = NULL;
	size_t number;

	/* In a program with a fixed address a function of another library is its stub. */
	if (image->fixed && mal_image_executable(image, address))
		slot = mal_image_stub(image, address);
	program->stub_taken |= slot && asks(slot);
	function = mal_image_function(image, address);
	if (!function || function->start != address ||
	    mal_find_address(program->regions->list, program->regions->count,
			     sizeof(*program->regions->list), address))
		return;
	number = (size_t)(function - image->functions);
	taking->seen[number / 8] |= (uint8_t)(1 << number % 8);
}

static bool in_arrays(const struct mal_image *image, uint64_t address)
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
		/* What is found by its name may be anything. */
		taking->program->stub_taken |=
			(!slot->linkage && asks(slot)) || (slot->symbol && finds(slot->symbol));
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
		/* lea, and mov of what a slot holds. */
		if ((bytes[at] & 0xf8) == 0x48 && (bytes[at + 1] & 0xf9) == 0x89 &&
		    (bytes[at + 2] & 0xc7) == 0x05) {
			const struct mal_slot *slot = NULL;

			memcpy(&number, bytes + at + 3, sizeof(number));
			if (bytes[at + 1] == 0x8b)
				slot = mal_image_slot(image,
						      address + 7 + (uint64_t)(int64_t)number);
			taking->program->stub_taken |= slot && asks(slot);
			if (bytes[at + 1] == 0x8d)
				take(taking, address + 7 + (uint64_t)(int64_t)number);
		}
		if (image->fixed) {
			memcpy(&number, bytes + at, sizeof(number));
			take(taking, (uint32_t)number);
		}
	}
}

static int find_taken(struct mal_program *program)
{
	const struct mal_image *image = program->image;
	struct taking taking = {.program = program};

	taking.seen = calloc(image->function_count / 8 + 1, 1);
	program->taken = calloc(image->function_count + 1, sizeof(*program->taken));
	if (!taking.seen || !program->taken) {
		free(taking.seen);
		return -1;
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

enum { MEMBERS = 8192 };

static void find_reach(struct mal_program *program, struct mal_local *local)
{
	struct mal_local *members[MEMBERS] = {local};
	struct mal_reach *reach = &local->all;
	uint32_t count = 1, closure = ++program->closures;

	for (uint32_t i = 0; i < count; i++) {
		const struct mal_local *member = members[i];

		reach->does |= member->does;
		reach->writes |= member->writes;
		if (member->does & MAL_DOES_INDIRECT)
			reach->pointer = member->pointer;
		if (!reach->bound.text)
			reach->bound = member->bound;
		for (uint32_t j = 0; j < member->call_count; j++) {
			struct mal_local *called = mal_local_at(program, member->calls[j]);

			if (called && called->closure == closure)
				continue;
			if (called && count < MEMBERS) {
				called->closure = closure;
				members[count++] = called;
			} else {
				mal_note(&reach->bound, 0, "too large", NULL);
			}
		}
	}
	if (reach->does & MAL_DOES_INDIRECT)
		reach->writes |= MAL_VOLATILE;
}

const struct mal_reach *mal_closure(struct mal_program *program, uint64_t entry)
{
	static const struct mal_reach unknown = {.bound = {.text = "too large"}};
	struct mal_local *local = mal_local_at(program, entry);

	if (!local)
		return &unknown;
	if (!local->closed)
		find_reach(program, local);
	local->closed = true;
	return &local->all;
}

bool mal_indirect_observes(struct mal_program *program)
{
	if (program->indirect_observes)
		return program->indirect_observes == 2;
	program->indirect_observes = 2;
	if (find_taken(program) < 0 || program->stub_taken)
		return 1;
	for (size_t i = 0; i < program->taken_count; i++) {
		const struct mal_reach *reach = mal_closure(program, program->taken[i]);

		/* MPI binds where it is called, but tells no thread apart. */
		if ((reach->bound.text && strcmp(reach->bound.text, MAL_CALL_OF_MPI) != 0) ||
		    reach->does & (MAL_DOES_ASK | MAL_DOES_RUNTIME))
			return 1;
	}
	program->indirect_observes = 1;
	return 0;
}

uint32_t mal_taken_does(struct mal_program *program)
{
	uint32_t does = 0;

	for (size_t i = 0; i < program->taken_count; i++)
		does |= mal_closure(program, program->taken[i])->does;
	return does;
}

void mal_program_free(struct mal_program *program)
{
	for (size_t i = 0; program->locals && i < program->image->function_count; i++) {
		if (program->locals[i])
			free(program->locals[i]->calls);
		free(program->locals[i]);
	}
	for (size_t i = 0; i < program->callee_count; i++)
		free(program->callees[i]);
	free(program->callees);
	free(program->locals);
	free(program->taken);
}
