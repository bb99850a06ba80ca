/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* closure.c: follows calls: what a function does with all that it reaches. */
#include <stdlib.h>
#include <string.h>

#include "libmalleable/base/clock.h"
#include "libmalleable/inspect/classify.h"
#include "libmalleable/inspect/program.h"

enum { MEMBERS = 8192 };
int mal_is_late(const struct mal_program *program)
{
	return program->by->deadline_ns && mal_now_ns() >= program->by->deadline_ns;
}

static void add_local(struct mal_reach *reach, const struct mal_local *local, int late)
{
	if (!local || late) {
		reach->reason = reach->reason ? reach->reason : late ? "too late" : "too large";
		return;
	}
	reach->does |= local->does;
	reach->writes |= local->writes;
	if (local->does & MAL_DOES_INDIRECT)
		reach->pointer = local->pointer;
	if (local->reason && !reach->reason) {
		reach->reason = local->reason;
		reach->symbol = local->symbol;
		reach->where = local->where;
	}
}

static void find_reach(struct mal_program *program, struct mal_reach *reach)
{
	uint64_t members[MEMBERS];
	uint32_t count = 0;
	uint8_t *seen = calloc(program->image->function_count / 8 + 1, 1);

	if (!seen) {
		reach->reason = "out of memory";
		return;
	}
	members[count++] = reach->entry;
	reach->given = 0;
	for (uint32_t i = 0; i < count; i++) {
		const struct mal_local *local = mal_local_at(program, members[i]);

		add_local(reach, local, mal_is_late(program));
		reach->given = local && local->given ? local->given : reach->given;
		for (uint32_t j = 0; local && j < local->call_count; j++) {
			const struct mal_function *function =
				mal_image_function(program->image, local->calls[j]);
			size_t place = (size_t)(function - program->image->functions);

			if (seen[place / 8] >> place % 8 & 1)
				continue;
			seen[place / 8] |= (uint8_t)(1 << place % 8);
			if (count < MEMBERS)
				members[count++] = local->calls[j];
			else
				reach->reason = "too large";
		}
	}
	if (reach->does & MAL_DOES_INDIRECT)
		reach->writes |= MAL_VOLATILE;
	free(seen);
}

const struct mal_reach *mal_closure(struct mal_program *program, uint64_t entry)
{
	struct mal_reach reach = {.entry = entry}, *more;

	for (size_t i = 0; i < program->reach_count; i++)
		if (program->reaches[i].entry == entry)
			return &program->reaches[i];
	find_reach(program, &reach);
	/* What compares must not tell threads apart by what it returns. */
	if (reach.given) {
		struct mal_reach compares = {.entry = reach.given};

		find_reach(program, &compares);
		if (compares.does & (MAL_DOES_ASK | MAL_DOES_RUNTIME) && !reach.reason)
			reach.reason = "a function that compares asks for a thread's number";
	}
	more = realloc(program->reaches, (program->reach_count + 1) * sizeof(*more));
	if (!more)
		return NULL;
	program->reaches = more;
	more[program->reach_count] = reach;
	return &more[program->reach_count++];
}

int mal_taken_tells(struct mal_program *program)
{
	if (program->taken_tells)
		return program->taken_tells == 2;
	program->taken_tells = 2;
	if (mal_find_taken(program) < 0 || program->stub_taken)
		return 1;
	for (size_t i = 0; i < program->taken_count; i++) {
		const struct mal_reach *reach = mal_closure(program, program->taken[i]);

		/* MPI binds where it is called, but tells no thread apart. */
		if (!reach || (reach->reason && strcmp(reach->reason, MAL_CALL_OF_MPI) != 0) ||
		    reach->does & (MAL_DOES_ASK | MAL_DOES_RUNTIME))
			return 1;
	}
	program->taken_tells = 1;
	return 0;
}

void mal_program_free(struct mal_program *program)
{
	for (size_t i = 0; i < program->local_count; i++)
		free(program->locals[i].calls);
	for (size_t i = 0; i < program->callee_count; i++)
		free(program->callees[i]);
	free(program->callees);
	free(program->locals);
	free(program->local_of);
	free(program->reaches);
	free(program->taken);
}
