/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* classify.c: classifies the regions of a file, one by one. */
#include "libmalleable/inspect/classify.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libmalleable/inspect/find.h"
#include "libmalleable/inspect/program.h"

/* With the name of a C++ function. */
enum { REASON_LONGEST = 1280 };

/* What is found of one region. */
struct findings {
	struct mal_finding bound, alone, sums;
	int indirect;
};

static void classify(struct mal_program *program, const struct mal_start *start,
		     struct findings *findings)
{
	struct mal_finding *finding = &findings->bound;
	const struct mal_reach *reach = mal_closure(program, start->entry);
	const struct mal_callee *callee = NULL;
	uint64_t pointer;

	*findings = (struct findings){0};
	if (start->other)
		mal_note(finding, 0, "sections, teams or another kind of region", NULL);
	else if (start->clause)
		mal_note(finding, 0, "a num_threads clause", NULL);
	else if (!reach)
		mal_note(finding, 0, "out of memory", NULL);
	else if (reach->reason)
		mal_note(finding, reach->where, reach->reason, reach->symbol);
	if (finding->reason[0])
		return;
	findings->indirect = (reach->does & MAL_DOES_INDIRECT) != 0;
	/* REACH is not valid once more functions are looked at. */
	pointer = reach->pointer;
	if (findings->indirect && mal_taken_tells(program)) {
		mal_note(finding, pointer, "calls through a pointer, and a function that can tell",
			 NULL);
		return;
	}
	callee = mal_callee(program, start->entry);
	if (!callee) {
		mal_note(finding, 0, "out of memory", NULL);
		return;
	}
	*finding = callee->finding.reason[0] ? callee->finding : callee->replicated;
	findings->alone = callee->alone;
	findings->sums = callee->sums;
	if (callee->store_count && !callee->alone.reason[0])
		mal_note(&findings->alone, callee->stores_at, MAL_ONE_ADDRESS, NULL);
}

static int name(const struct mal_program *program, struct mal_verdict *verdict)
{
	const struct mal_function *function = mal_image_function(program->image, verdict->address);

	verdict->name = function && function->name ? strdup(function->name) : NULL;
	return function && function->name && !verdict->name ? -1 : 0;
}

/* FINDING as text with its place, to be freed; *TO is NULL where there is none. */
static int tell(const struct mal_program *program, const struct mal_start *start,
		const struct mal_finding *finding, char **to)
{
	const struct mal_function *there = mal_image_function(program->image, finding->where);
	char text[REASON_LONGEST];

	if (!finding->reason[0])
		return 0;
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
	*to = strdup(text);
	return *to ? 0 : -1;
}

static int keep(struct mal_inspection *inspection, struct mal_verdict *verdict,
		const struct mal_program *program, const struct mal_start *start,
		const struct findings *findings)
{
	*verdict = (struct mal_verdict){.address = start->entry,
					.free = !findings->bound.reason[0],
					.clause = start->clause,
					.where = findings->bound.where};
	if (name(program, verdict) < 0 ||
	    tell(program, start, &findings->bound, &verdict->reason) < 0)
		return -1;
	inspection->bound += !verdict->free;
	if (!verdict->free)
		return 0;
	verdict->indirect = findings->indirect;
	return tell(program, start, &findings->alone, &verdict->alone) < 0
		       ? -1
		       : tell(program, start, &findings->sums, &verdict->sums);
}

static int classify_one(struct mal_program *program, struct mal_inspection *inspection,
			size_t index)
{
	const struct mal_start *start = &program->starts->starts[index];
	struct mal_verdict *verdict = &inspection->verdicts[index];
	struct findings findings;

	classify(program, start, &findings);
	if (keep(inspection, verdict, program, start, &findings) < 0)
		return -1;
	if (program->by->found)
		program->by->found(start->entry, program->by->data);
	return 0;
}

static int copy(const char *text, char **to)
{
	*to = text ? strdup(text) : NULL;
	return text && !*to ? -1 : 0;
}

/* Region INDEX was classified earlier. */
static int take(struct mal_program *program, struct mal_inspection *inspection, size_t index,
		const struct mal_verdict *known)
{
	struct mal_verdict *verdict = &inspection->verdicts[index];

	*verdict = *known;
	verdict->reason = verdict->alone = verdict->sums = NULL;
	inspection->bound += !verdict->free;
	/* It was found out then that no function whose address is taken can tell. */
	if (verdict->indirect)
		program->taken_tells = 1;
	return name(program, verdict) < 0 || copy(known->reason, &verdict->reason) < 0 ||
			       copy(known->alone, &verdict->alone) < 0 ||
			       copy(known->sums, &verdict->sums) < 0
		       ? -1
		       : 0;
}

static int take_known(struct mal_program *program, struct mal_inspection *inspection)
{
	const struct mal_verdict *known;

	for (size_t i = 0; program->by->known && i < inspection->count; i++) {
		known = mal_inspection_find(program->by->known, program->starts->starts[i].entry);
		if (known && take(program, inspection, i, known) < 0)
			return -1;
	}
	return 0;
}

/* The number of the region that is to be next, or COUNT. */
static size_t next(const struct mal_program *program, const struct mal_inspection *inspection)
{
	const struct mal_inspect_by *by = program->by;
	const struct mal_start *all = program->starts->starts, *start = NULL;
	uint64_t address = by->next ? by->next(by->data) : 0;

	if (address)
		start = mal_find_address(all, inspection->count, sizeof(*all), address);
	return start && !inspection->verdicts[start - all].address ? (size_t)(start - all)
								   : inspection->count;
}

static int classify_all(struct mal_program *program, struct mal_inspection *inspection)
{
	const struct mal_starts *starts = program->starts;
	size_t asked;

	inspection->unknown = starts->unknown;
	inspection->verdicts = calloc(starts->count + 1, sizeof(*inspection->verdicts));
	if (!inspection->verdicts)
		return -1;
	inspection->count = starts->count;
	if (take_known(program, inspection) < 0)
		return -1;
	for (size_t i = 0; i < starts->count; i++) {
		while ((asked = next(program, inspection)) < starts->count)
			if (classify_one(program, inspection, asked) < 0)
				return -1;
		if (!inspection->verdicts[i].address && classify_one(program, inspection, i) < 0)
			return -1;
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
	struct mal_program program = {.image = image, .by = by, .starts = &starts};
	int result = mal_find_regions(&program, &starts, err);

	if (result == 0 && classify_all(&program, inspection) < 0)
		result = mal_fail(err, "out of memory");
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
