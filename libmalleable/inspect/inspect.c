/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* inspect.c: classifies the regions of a file, one by one. */
#include "libmalleable/inspect/inspect.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libmalleable/inspect/program.h"
#include "libmalleable/inspect/read.h"

/* With the name of a C++ function. */
enum { REASON_LONGEST = 1280 };

static void bind(struct mal_finding *finding, uint64_t where, const char *reason,
		 const char *symbol)
{
	snprintf(finding->reason, sizeof(finding->reason), symbol ? "%s: %s" : "%s", reason,
		 symbol);
	finding->where = where;
}

static void classify(struct mal_program *program, const struct mal_start *start,
		     struct mal_finding *finding, int *indirect)
{
	const struct mal_reach *reach = mal_closure(program, start->entry);
	const struct mal_callee *callee = NULL;
	uint64_t pointer;

	*finding = (struct mal_finding){0};
	if (start->other)
		bind(finding, 0, "sections, teams or another kind of region", NULL);
	else if (start->clause)
		bind(finding, 0, "a num_threads clause", NULL);
	else if (!reach)
		bind(finding, 0, "out of memory", NULL);
	else if (reach->reason)
		bind(finding, reach->where, reach->reason, reach->symbol);
	if (finding->reason[0])
		return;
	*indirect = (reach->does & MAL_DOES_INDIRECT) != 0;
	/* REACH is not valid once more functions are looked at. */
	pointer = reach->pointer;
	if (*indirect && mal_taken_tells(program)) {
		bind(finding, pointer, "calls through a pointer, and a function that can tell",
		     NULL);
		return;
	}
	callee = mal_callee(program, start->entry);
	if (!callee)
		bind(finding, 0, "out of memory", NULL);
	else
		*finding = callee->finding.reason[0] ? callee->finding : callee->replicated;
}

static int keep(struct mal_inspection *inspection, const struct mal_program *program,
		const struct mal_start *start, const struct mal_finding *finding)
{
	struct mal_verdict *verdict = &inspection->verdicts[inspection->count++];
	const struct mal_function *function = mal_image_function(program->image, start->entry);
	const struct mal_function *there = mal_image_function(program->image, finding->where);
	char text[REASON_LONGEST];

	*verdict = (struct mal_verdict){.address = start->entry,
					.free = !finding->reason[0],
					.clause = start->clause,
					.where = finding->where};
	if (function && function->name) {
		verdict->name = strdup(function->name);
		if (!verdict->name)
			return -1;
	}
	if (verdict->free)
		return 0;
	inspection->bound++;
	if (there && there->start == start->entry)
		snprintf(text, sizeof(text), "%s, at +%#llx", finding->reason,
			 (unsigned long long)(finding->where - there->start));
	else if (there && there->name)
		snprintf(text, sizeof(text), "%s, in %s+%#llx", finding->reason, there->name,
			 (unsigned long long)(finding->where - there->start));
	else if (finding->where)
		snprintf(text, sizeof(text), "%s, at %#llx", finding->reason,
			 (unsigned long long)finding->where);
	else
		snprintf(text, sizeof(text), "%s", finding->reason);
	verdict->reason = strdup(text);
	return verdict->reason ? 0 : -1;
}

static int classify_all(struct mal_program *program, struct mal_inspection *inspection,
			struct mal_error *err)
{
	const struct mal_starts *starts = program->starts;

	inspection->unknown = starts->unknown;
	inspection->verdicts = calloc(starts->count + 1, sizeof(*inspection->verdicts));
	if (!inspection->verdicts)
		return mal_fail(err, "out of memory");
	for (size_t i = 0; i < starts->count; i++) {
		struct mal_finding finding;
		int indirect = 0;

		classify(program, &starts->starts[i], &finding, &indirect);
		if (keep(inspection, program, &starts->starts[i], &finding) < 0)
			return mal_fail(err, "out of memory");
		inspection->verdicts[i].indirect = indirect && inspection->verdicts[i].free;
	}
	return 0;
}

/* Of the whole object: whether anything in it can tell. */
static void judge_object(const struct mal_program *program, struct mal_inspection *inspection)
{
	const struct mal_image *image = program->image;

	inspection->thread_local_ = image->thread_local_;
	for (size_t i = 0; i < image->slot_count && !inspection->asks; i++) {
		enum mal_external_kind kind;

		if (image->slots[i].kind != MAL_SLOT_SYMBOL || !image->slots[i].function)
			continue;
		kind = mal_slot_external(&image->slots[i])->kind;
		inspection->asks = kind == MAL_EXTERNAL_ASKS || kind >= MAL_EXTERNAL_THREAD;
	}
	inspection->taken_tells = program->taken_tells
					  ? program->taken_tells == 2
					  : inspection->asks || inspection->thread_local_;
}

static const char *trouble_with(const struct mal_image *image)
{
	if (image->other_machine)
		return "not for x86_64";
	if (!image->dynamic)
		return "statically linked";
	return NULL;
}

static int inspect(const struct mal_image *image, const struct mal_inspect_by *by,
		   struct mal_inspection *inspection, struct mal_error *err)
{
	struct mal_starts starts = {0};
	struct mal_program program = {
		.image = image, .by = by, .starts = &starts, .find_callee = mal_callee};
	int result = mal_find_regions(&program, &starts, err);

	if (result == 0)
		result = classify_all(&program, inspection, err);
	judge_object(&program, inspection);
	free(starts.starts);
	mal_program_free(&program);
	return result;
}

int mal_inspect(const uint8_t *bytes, size_t size, const struct mal_inspect_by *by,
		struct mal_inspection *inspection, struct mal_error *err)
{
	static const struct mal_inspect_by nothing;
	struct mal_image image;
	int result = 0;

	*inspection = (struct mal_inspection){.asks = 1, .thread_local_ = 1, .taken_tells = 1};
	if (mal_image_read(&image, bytes, size, err) < 0)
		return -1;
	inspection->trouble = trouble_with(&image);
	if (!inspection->trouble) {
		inspection->asks = 0;
		result = inspect(&image, by ? by : &nothing, inspection, err);
	}
	mal_image_free(&image);
	if (result < 0)
		mal_inspection_free(inspection);
	return result;
}
