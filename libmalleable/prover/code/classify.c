/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* classify.c: classifies the regions of a file, one by one. */
#include "libmalleable/prover/code/classify.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libmalleable/prover/code/find.h"
#include "libmalleable/prover/code/program.h"

/* With the name of a C++ function; and how many questions are answered but for the worst. */
enum { REASON_LONGEST = 1280, QUESTIONS = 512 };

/* What is found of one region. */
struct found {
	struct mal_reason bound, alone, sums;
	bool indirect;
};

bool mal_other_tells(const struct mal_program *program, const char *symbol)
{
	struct mal_verdicts *verdicts = program->verdicts;
	struct mal_question *more;

	for (size_t i = 0; i < verdicts->question_count; i++)
		if (strcmp(verdicts->questions[i].symbol, symbol) == 0)
			return verdicts->questions[i].observes_team;
	if (!program->options->observes_team || verdicts->question_count == QUESTIONS ||
	    !mal_grow(&verdicts->questions, verdicts->question_count, sizeof(*more)))
		return true;
	more = &verdicts->questions[verdicts->question_count];
	*more = (struct mal_question){.symbol = strdup(symbol)};
	if (!more->symbol)
		return true;
	verdicts->question_count++;
	more->observes_team = program->options->observes_team(symbol, program->options->data);
	return more->observes_team;
}

static void classify(struct mal_program *program, const struct mal_region_function *region,
		     struct found *found)
{
	struct mal_reason *bound = &found->bound;
	const struct mal_reach *reach = mal_closure(program, region->entry);
	const struct mal_callee *callee;

	*found = (struct found){0};
	if (region->other)
		mal_note(bound, 0, "sections, teams or another kind of region", NULL);
	else if (region->clause)
		mal_note(bound, 0, "a num_threads clause", NULL);
	else
		*bound = reach->bound;
	if (bound->text)
		return;
	found->indirect = (reach->does & MAL_DOES_INDIRECT) != 0;
	if (found->indirect && mal_indirect_observes(program)) {
		mal_note(bound, reach->pointer,
			 "calls through a pointer that may read the thread number", NULL);
		return;
	}
	callee = mal_callee(program, region->entry);
	if (!callee) {
		mal_note(bound, 0, "out of memory", NULL);
		return;
	}
	*bound = callee->bound.text ? callee->bound : callee->replicated;
	found->alone = callee->alone;
	found->sums = callee->sums;
	if (callee->store_count)
		mal_note(&found->alone, callee->stores_at, MAL_ONE_ADDRESS, NULL);
}

static int copy(const char *text, char **to)
{
	*to = text ? strdup(text) : NULL;
	return text && !*to ? -1 : 0;
}

static int name(const struct mal_program *program, struct mal_verdict *verdict)
{
	return copy(mal_image_name(program->image, verdict->address), &verdict->name);
}

/* REASON as text with its place, to be freed; *TO stays NULL where there is none. */
static int tell(const struct mal_program *program, const struct mal_region_function *region,
		const struct mal_reason *reason, char **to)
{
	const struct mal_function *there = mal_image_function(program->image, reason->where);
	unsigned long long at = reason->where - (there ? there->start : 0);
	char text[REASON_LONGEST], place[REASON_LONGEST / 2] = "";

	if (!reason->text)
		return 0;
	if (there && there->start == region->entry)
		snprintf(place, sizeof(place), ", at +%#llx", at);
	else if (there && there->name)
		snprintf(place, sizeof(place), ", in %s+%#llx", there->name, at);
	else if (reason->where)
		snprintf(place, sizeof(place), ", at %#llx", (unsigned long long)reason->where);
	snprintf(text, sizeof(text), "%s%s%s%s%s%s", reason->text, reason->as ? " " : "",
		 reason->as ? reason->as : "", reason->symbol ? ": " : "",
		 reason->symbol ? reason->symbol : "", place);
	return copy(text, to);
}

static int classify_one(struct mal_program *program, size_t index)
{
	const struct mal_region_function *region = &program->regions->list[index];
	struct mal_verdict *verdict = &program->verdicts->list[index];
	struct found found;

	classify(program, region, &found);
	*verdict = (struct mal_verdict){
		.address = region->entry, .free = !found.bound.text, .where = found.bound.where};
	if (name(program, verdict) < 0 || tell(program, region, &found.bound, &verdict->reason) < 0)
		return -1;
	verdict->indirect = verdict->free && found.indirect;
	if (verdict->free && (tell(program, region, &found.alone, &verdict->alone) < 0 ||
			      tell(program, region, &found.sums, &verdict->sums) < 0))
		return -1;
	if (program->options->found)
		program->options->found(region->entry, program->options->data);
	return 0;
}

/* The region at INDEX had a verdict at an earlier start. */
static int take(struct mal_program *program, size_t index, const struct mal_verdict *earlier)
{
	struct mal_verdict *verdict = &program->verdicts->list[index];

	*verdict = *earlier;
	/* What functions whose address is taken do is of the others, too. */
	if (verdict->indirect)
		mal_indirect_observes(program);
	verdict->name = verdict->reason = verdict->alone = verdict->sums = NULL;
	return name(program, verdict) < 0 || copy(earlier->reason, &verdict->reason) < 0 ||
			       copy(earlier->alone, &verdict->alone) < 0 ||
			       copy(earlier->sums, &verdict->sums) < 0
		       ? -1
		       : 0;
}

/* What a start that ended too early has kept. */
static int take_earlier(struct mal_program *program, const struct mal_verdicts *earlier)
{
	for (size_t i = 0; i < earlier->question_count; i++)
		if (mal_other_tells(program, earlier->questions[i].symbol) !=
		    earlier->questions[i].observes_team)
			return 0;
	for (size_t i = 0; i < program->regions->count; i++) {
		const struct mal_verdict *verdict =
			mal_verdict_find(earlier, program->regions->list[i].entry);

		if (verdict && take(program, i, verdict) < 0)
			return -1;
	}
	return 0;
}

/* The number of the region that is to be next, or COUNT. */
static size_t next(const struct mal_program *program)
{
	const struct mal_inspect_options *options = program->options;
	const struct mal_region_function *all = program->regions->list, *region = NULL;
	size_t count = program->regions->count;
	uint64_t address = options->next ? options->next(options->data) : 0;

	if (address)
		region = mal_find_address(all, count, sizeof(*all), address);
	return region && !program->verdicts->list[region - all].address ? (size_t)(region - all)
									: count;
}

static int classify_all(struct mal_program *program)
{
	struct mal_verdicts *verdicts = program->verdicts;
	size_t count = program->regions->count, asked;

	verdicts->unknown = program->regions->unknown;
	verdicts->list = calloc(count + 1, sizeof(*verdicts->list));
	if (!verdicts->list)
		return -1;
	verdicts->count = count;
	if (program->options->earlier && take_earlier(program, program->options->earlier) < 0)
		return -1;
	for (size_t i = 0; i < count; i++) {
		while ((asked = next(program)) < count)
			if (classify_one(program, asked) < 0)
				return -1;
		if (!verdicts->list[i].address && classify_one(program, i) < 0)
			return -1;
	}
	/* If no region here calls by a pointer, that is not found out. */
	verdicts->indirect_observes = program->indirect_observes != 1;
	verdicts->part = false;
	return 0;
}

static const char *trouble_with(const struct mal_image *image)
{
	if (image->other_machine)
		return "not for x86_64";
	if (!image->dynamic)
		return "statically linked";
	return NULL;
}

static int inspect(const struct mal_image *image, const struct mal_inspect_options *options,
		   struct mal_verdicts *verdicts, struct mal_error *err)
{
	struct mal_region_functions regions = {0};
	struct mal_program program = {
		.image = image, .options = options, .regions = &regions, .verdicts = verdicts};
	int result = mal_find_regions(&program, &regions, err);

	if (result == 0 && classify_all(&program) < 0)
		result = mal_fail(err, "out of memory");
	free(regions.list);
	mal_program_free(&program);
	return result;
}

int mal_inspect(const uint8_t *bytes, size_t size, const struct mal_inspect_options *options,
		struct mal_verdicts *verdicts, struct mal_error *err)
{
	static const struct mal_inspect_options nothing;
	struct mal_image image;
	int result = 0;

	*verdicts = (struct mal_verdicts){.indirect_observes = true, .part = true};
	if (mal_image_read(&image, bytes, size, err) < 0)
		return -1;
	verdicts->trouble = trouble_with(&image);
	if (!verdicts->trouble)
		result = inspect(&image, options ? options : &nothing, verdicts, err);
	mal_image_free(&image);
	if (result < 0)
		mal_verdicts_free(verdicts);
	return result;
}
