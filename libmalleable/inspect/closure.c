/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * closure.c: follows calls. The whole of each function is read, whether it is reached or not, so
 * that what exceptions run is seen too.
 */
#include "libmalleable/inspect/closure.h"

#include <stdlib.h>
#include <string.h>

#include "libmalleable/inspect/escapes.h"
#include "libmalleable/inspect/names.h"
#include "libmalleable/inspect/waits.h"

#ifdef HAVE_ZYDIS

enum { MEMBERS = 4096 };
static const uint64_t instructions_most = 4000000;

/* Registers that a call of another library may write. */
static const uint64_t volatile_registers = MAL_BIT(MAL_RAX) | MAL_BIT(MAL_RCX) | MAL_BIT(MAL_RDX) |
					   MAL_BIT(MAL_RSI) | MAL_BIT(MAL_RDI) | MAL_BIT(MAL_R8) |
					   MAL_BIT(MAL_R9) | MAL_BIT(MAL_R10) | MAL_BIT(MAL_R11) |
					   (((uint64_t)1 << 43) - 1) << MAL_XMM0;

struct search {
	struct mal_program *program;
	struct mal_reach *reach;
	uint64_t *members;
	size_t count;
};

static void bind(struct mal_reach *reach, const char *reason, const char *symbol)
{
	if (reach->reason)
		return;
	reach->reason = reason;
	reach->symbol = symbol;
}

static void visit(struct search *search, uint64_t entry)
{
	const struct mal_function *function = mal_image_function(search->program->image, entry);

	if (!function) {
		bind(search->reach, "code without unwind information", "?");
		return;
	}
	for (size_t i = 0; i < search->count; i++)
		if (search->members[i] == function->start)
			return;
	if (search->count == MEMBERS)
		bind(search->reach, "too large", NULL);
	else
		search->members[search->count++] = function->start;
}

static void visit_external(struct search *search, const char *name)
{
	struct mal_reach *reach = search->reach;
	const struct mal_external *external = mal_external(name);

	reach->writes |= volatile_registers;
	switch (external->kind) {
	case MAL_EXTERNAL_UNKNOWN: bind(reach, "unknown function", name); break;
	case MAL_EXTERNAL_IDENTITY:
	case MAL_EXTERNAL_THREAD:
	case MAL_EXTERNAL_THREADS: bind(reach, "identity", name); break;
	case MAL_EXTERNAL_CALLBACK: reach->indirect = 1; break;
	case MAL_EXTERNAL_PURE:
	case MAL_EXTERNAL_OUT:
	case MAL_EXTERNAL_ALLOCATE:
	case MAL_EXTERNAL_RELEASE:
	case MAL_EXTERNAL_READ:
	case MAL_EXTERNAL_EFFECT:
	case MAL_EXTERNAL_END:
	case MAL_EXTERNAL_PROTECT: break;
	default: reach->constructs = 1;
	}
}

static void visit_slot(struct search *search, const struct mal_slot *slot, const char *owner)
{
	if (slot->kind == MAL_SLOT_TLS)
		bind(search->reach, "thread-local storage", owner);
	else if (slot->kind == MAL_SLOT_ADDRESS &&
		 mal_image_function(search->program->image, slot->value))
		visit(search, slot->value);
}

static void visit_call(struct search *search, const struct mal_instruction *instruction)
{
	const struct mal_image *image = search->program->image;
	const char *name = mal_call_name(image, instruction);
	uint64_t target = mal_call_target(image, instruction);

	if (name)
		visit_external(search, name);
	else if (target)
		visit(search, target);
	else
		search->reach->indirect = 1;
}

/* Addresses of functions and of thread-local variables that INSTRUCTION makes. */
static void visit_references(struct search *search, const struct mal_instruction *instruction,
			     const char *owner)
{
	const struct mal_image *image = search->program->image;

	for (unsigned int i = 0; i < instruction->operand_count; i++) {
		const struct mal_operand *operand = &instruction->operands[i];
		uint64_t number = (uint64_t)operand->number;
		const struct mal_slot *slot;

		if (operand->kind == MAL_OPERAND_NUMBER && image->fixed) {
			const struct mal_function *function = mal_image_function(image, number);

			if (function && function->start == number)
				visit(search, number);
			continue;
		}
		if (operand->kind != MAL_OPERAND_MEMORY || operand->base != MAL_NO_REGISTER ||
		    operand->index != MAL_NO_REGISTER)
			continue;
		slot = mal_image_slot(image, number);
		if (slot)
			visit_slot(search, slot, owner);
		if (slot && slot->kind == MAL_SLOT_SYMBOL && slot->function)
			visit_external(search, slot->symbol);
		if (instruction->mnemonic != ZYDIS_MNEMONIC_LEA ||
		    !mal_image_executable(image, number))
			continue;
		slot = mal_image_stub(image, number);
		if (slot && slot->kind == MAL_SLOT_SYMBOL)
			visit_external(search, slot->symbol);
		else
			visit(search, number);
	}
}

static void visit_instruction(struct search *search, const struct mal_instruction *instruction,
			      const struct mal_function *function)
{
	struct mal_reach *reach = search->reach;

	if (instruction->thread_local_ & 1)
		bind(reach, "thread-local storage", function->name);
	if (instruction->system)
		bind(reach, "a system instruction", function->name);
	reach->writes |= instruction->writes;
	switch (instruction->flow) {
	case MAL_FLOW_CALL: visit_call(search, instruction); return;
	case MAL_FLOW_JUMP:
		if (instruction->target >= function->start && instruction->target < function->end)
			return;
		/* A switch stays in the function, or leads to what this finds elsewhere. */
		if (!instruction->target && !instruction->slot &&
		    instruction->operands[0].kind == MAL_OPERAND_REGISTER) {
			reach->indirect = 1;
			return;
		}
		visit_call(search, instruction);
		return;
	case MAL_FLOW_BRANCH:
		if (instruction->target < function->start || instruction->target >= function->end)
			visit_call(search, instruction);
		return;
	default: visit_references(search, instruction, function->name);
	}
}

/* The instructions of one function. */
struct text {
	struct mal_instruction *instructions;
	size_t count, room;
};

static int append(struct text *text, const struct mal_instruction *instruction)
{
	if (text->count == text->room) {
		size_t room = text->room ? 2 * text->room : 256;
		struct mal_instruction *more =
			realloc(text->instructions, room * sizeof(*instruction));

		if (!more)
			return -1;
		text->instructions = more;
		text->room = room;
	}
	text->instructions[text->count++] = *instruction;
	return 0;
}

static void read_function(struct search *search, uint64_t start)
{
	struct mal_program *program = search->program;
	const struct mal_function *function = mal_image_function(program->image, start);
	uint64_t at = function->start;
	struct mal_escape escape = {0};
	struct text text = {0};

	while (at < function->end && !search->reach->reason) {
		struct mal_instruction instruction;

		if (program->instructions++ > instructions_most) {
			bind(search->reach, "too large", NULL);
			break;
		}
		if (!mal_decode(program->image, at, &instruction)) {
			bind(search->reach, "an instruction that cannot be decoded",
			     function->name);
			break;
		}
		visit_instruction(search, &instruction, function);
		if (append(&text, &instruction) < 0)
			bind(search->reach, "too large", NULL);
		if (mal_escapes(&escape, &instruction))
			bind(search->reach, "an address of private memory", function->name);
		at += instruction.length;
	}
	if (!search->reach->reason && mal_waits(program->image, text.instructions, text.count))
		bind(search->reach, "a wait for another thread", function->name);
	free(text.instructions);
}

static void find_reach(struct search *search, uint64_t entry)
{
	visit(search, entry);
	for (size_t i = 0; i < search->count && !search->reach->reason; i++)
		read_function(search, search->members[i]);
}

const struct mal_reach *mal_closure(struct mal_program *program, uint64_t entry)
{
	uint64_t members[MEMBERS];
	struct search search = {.program = program, .members = members};
	struct mal_reach *more;

	for (size_t i = 0; i < program->reach_count; i++)
		if (program->reaches[i].entry == entry)
			return &program->reaches[i];
	more = realloc(program->reaches, (program->reach_count + 1) * sizeof(*more));
	if (!more)
		return NULL;
	program->reaches = more;
	search.reach = &more[program->reach_count++];
	*search.reach = (struct mal_reach){.entry = entry};
	find_reach(&search, entry);
	if (search.reach->indirect)
		search.reach->writes |= volatile_registers;
	return search.reach;
}

/* Names at which programs take the addresses of functions that cannot be followed. */
static int is_loader(const char *name)
{
	return strcmp(name, "dlsym") == 0 || strcmp(name, "dlvsym") == 0;
}

static int slots_harmless(const struct mal_image *image)
{
	for (size_t i = 0; i < image->slot_count; i++) {
		const struct mal_slot *slot = &image->slots[i];

		if (slot->kind == MAL_SLOT_RESOLVER)
			return 0;
		if (slot->kind != MAL_SLOT_SYMBOL)
			continue;
		if (is_loader(slot->symbol))
			return 0;
		if (slot->linkage || !slot->function)
			continue;
		if (mal_external_observes(slot->symbol))
			return 0;
	}
	return 1;
}

int mal_indirect_harmless(struct mal_program *program)
{
	if (program->indirect)
		return program->indirect == 1;
	program->indirect = 2;
	if (!program->image->program || program->image->other_libraries || program->stub_taken ||
	    !slots_harmless(program->image))
		return 0;
	for (size_t i = 0; i < program->taken_count; i++) {
		const struct mal_reach *reach = mal_closure(program, program->taken[i]);

		if (!reach)
			return -1;
		if (reach->reason || reach->constructs)
			return 0;
	}
	program->indirect = 1;
	return 1;
}

#else

const struct mal_reach *mal_closure(struct mal_program *program, uint64_t entry)
{
	(void)program;
	(void)entry;
	return NULL;
}

int mal_indirect_harmless(struct mal_program *program)
{
	(void)program;
	return 0;
}

#endif

void mal_program_free(struct mal_program *program)
{
	free(program->reaches);
	free(program->taken);
}
