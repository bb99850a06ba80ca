/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * sites.c: from what is proved of regions to the calls that start them. A call counts for a region
 * only if it starts that one whichever way leads to it; what is not sure is left out.
 */
#include "libmalleable/inspect/sites.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libmalleable/base/clock.h"
#include "libmalleable/inspect/classify.h"
#include "libmalleable/inspect/constants.h"
#include "libmalleable/inspect/jumps.h"
#include "libmalleable/inspect/names.h"
#include "libmalleable/inspect/read.h"
#include "libmalleable/inspect/regions.h"
#include "libmalleable/inspect/walk.h"

#ifdef HAVE_ZYDIS

enum { SITES = 20000 };

struct search {
	struct mal_program *program;
	const struct mal_image *image;
	const struct mal_starts *starts;
	/* Of each start. */
	struct mal_site *verdicts;
	struct mal_sites *sites;
	struct mal_jumps jumps;
	/* Calls of the function that is looked at that were met on its ways. */
	size_t met;
	uint64_t deadline_ns;
};

static int is_fork(const char *name)
{
	return name && mal_external(name)->kind == MAL_EXTERNAL_FORK;
}

/* Whether INSTRUCTION is the jump of a stub, by which calls of other libraries go. */
static int is_stub(const struct mal_image *image, const struct mal_instruction *instruction)
{
	const struct mal_slot *slot =
		instruction->slot ? mal_image_slot(image, instruction->slot) : NULL;

	return instruction->flow == MAL_FLOW_JUMP && slot && slot->linkage;
}

/* What is known of the region of FUNCTION, NULL for nothing. */
static const struct mal_site *verdict_on(const struct search *search, uint64_t function)
{
	const struct mal_start *start =
		mal_find_address(search->starts->starts, search->starts->count,
				 sizeof(*search->starts->starts), function);

	return start ? &search->verdicts[start - search->starts->starts] : NULL;
}

static void note_call(void *data, const struct mal_instruction *call,
		      const struct mal_constants *constants)
{
	struct search *search = data;
	struct mal_sites *sites = search->sites;
	const char *name = mal_call_name(search->image, call);
	const struct mal_site *verdict = NULL;
	unsigned int where;

	if (!is_fork(name))
		return;
	if (is_stub(search->image, call))
		return;
	search->met++;
	where = strncmp(name, "GOMP_", strlen("GOMP_")) == 0 ? MAL_RDI : MAL_RDX;
	if (call->flow == MAL_FLOW_CALL && constants->known & MAL_BIT(where))
		verdict = verdict_on(search, constants->value[where]);
	if (!verdict || sites->count == SITES) {
		sites->unknown++;
		return;
	}
	sites->sites[sites->count] = *verdict;
	sites->sites[sites->count++].address = call->address + call->length;
}

/* How many calls in FUNCTION may start a region, whether a way leads there or not. */
static size_t count_calls(const struct search *search, const struct mal_function *function)
{
	size_t count = 0;
	uint64_t at = function->start;
	struct mal_instruction instruction;

	for (; at < function->end && mal_decode(search->image, at, &instruction);
	     at += instruction.length)
		count += (instruction.flow == MAL_FLOW_CALL || instruction.flow == MAL_FLOW_JUMP) &&
			 !is_stub(search->image, &instruction) &&
			 is_fork(mal_call_name(search->image, &instruction));
	return count;
}

static int look_at(struct search *search, const struct mal_function *function)
{
	size_t calls = count_calls(search, function), count = 0;
	struct mal_flow_graph graph;
	uint64_t *entries = NULL;
	int result = 0;

	if (mal_now_ns() >= search->deadline_ns) {
		search->sites->unknown += calls;
		return 0;
	}
	if (mal_flow_build(search->image, function->start, &graph) < 0)
		return -1;
	search->met = 0;
	/* Loops with two entries are trouble for others alone: the blocks have an order. */
	if (graph.order_count)
		result = mal_jumps_into(&search->jumps, search->image, function, &graph, &entries,
					&count);
	if (result == 0 && graph.order_count)
		result = mal_each_call(&graph, entries, count, note_call, search);
	if (calls > search->met)
		search->sites->unknown += calls - search->met;
	free(entries);
	mal_flow_free(&graph);
	return result;
}

/* Classify the regions, one verdict for each start. */
static int classify_all(struct search *search)
{
	for (size_t i = 0; i < search->starts->count; i++) {
		const struct mal_start *start = &search->starts->starts[i];
		const struct mal_function *function =
			mal_image_function(search->image, start->entry);
		struct mal_site *verdict = &search->verdicts[i];
		struct mal_finding finding = {.reason = "too large: there was no time"};
		const struct mal_reach *reach;
		char name[48];

		if (mal_now_ns() < search->deadline_ns &&
		    mal_classify(search->program, start, &finding) < 0)
			return -1;
		if (!finding.reason) {
			/* Only gcc's partition, or a copy of it, asks and is free all the same. */
			reach = mal_closure(search->program, start->entry);
			if (!reach)
				return -1;
			verdict->proof = reach->reason ? MAL_PROOF_OPEN : MAL_PROOF_FREE;
		}
		if (function && function->name)
			snprintf(name, sizeof(name), "%s", function->name);
		else
			snprintf(name, sizeof(name), "%#llx", (unsigned long long)start->entry);
		snprintf(verdict->text, sizeof(verdict->text), "%s%s%.*s", name,
			 finding.reason ? ": " : "", 44, finding.reason ? finding.reason : "");
	}
	return 0;
}

static int by_address(const void *left, const void *right)
{
	const struct mal_site *a = left, *b = right;

	return (a->address > b->address) - (a->address < b->address);
}

/* Parts of two functions may share a call: it starts what both say, or is not known. */
static void merge(struct mal_sites *sites)
{
	size_t kept = 0;

	if (sites->count)
		qsort(sites->sites, sites->count, sizeof(*sites->sites), by_address);
	for (size_t i = 0; i < sites->count; i++) {
		struct mal_site *last = kept ? &sites->sites[kept - 1] : NULL;

		if (!last || last->address != sites->sites[i].address)
			sites->sites[kept++] = sites->sites[i];
		else if (strcmp(last->text, sites->sites[i].text) != 0)
			last->proof = MAL_PROOF_BOUND;
	}
	sites->count = kept;
}

static int find_sites(struct search *search, struct mal_error *err)
{
	const struct mal_function **hosts = NULL;
	size_t count = 0;
	int result = -1;

	search->verdicts = calloc(search->starts->count + 1, sizeof(*search->verdicts));
	search->sites->sites = calloc(SITES, sizeof(*search->sites->sites));
	if (search->verdicts && search->sites->sites && classify_all(search) == 0 &&
	    mal_jumps_hosts(search->image, &hosts, &count) == 0 &&
	    mal_jumps_find(&search->jumps, search->image, hosts, count) == 0) {
		result = 0;
		for (size_t i = 0; i < count && result == 0; i++)
			result = look_at(search, hosts[i]);
		merge(search->sites);
	}
	free(search->verdicts);
	free(search->jumps.jumps);
	free(hosts);
	return result == 0 ? 0 : mal_fail(err, "out of memory");
}

static const char *trouble_with(const struct mal_image *image)
{
	if (image->other_machine)
		return "not for x86_64";
	return image->dynamic ? NULL : "statically linked";
}

int mal_inspect_sites(const uint8_t *bytes, size_t size, uint64_t deadline_ns,
		      struct mal_sites *sites, struct mal_error *err)
{
	struct mal_image image;
	struct mal_program *program = calloc(1, sizeof(*program));
	struct mal_starts starts = {0};
	struct search search = {.program = program,
				.image = &image,
				.starts = &starts,
				.sites = sites,
				.deadline_ns = deadline_ns};
	int result = 0;

	*sites = (struct mal_sites){0};
	if (!program)
		return mal_fail(err, "out of memory");
	program->image = &image;
	program->deadline_ns = deadline_ns;
	if (mal_image_read(&image, bytes, size, err) < 0) {
		free(program);
		return -1;
	}
	sites->trouble = trouble_with(&image);
	if (!sites->trouble) {
		result = mal_find_regions(program, &starts, err);
		if (result == 0)
			result = find_sites(&search, err);
	}
	free(starts.starts);
	mal_program_free(program);
	free(program);
	mal_image_free(&image);
	if (result < 0)
		mal_sites_free(sites);
	return result;
}

#else

int mal_inspect_sites(const uint8_t *bytes, size_t size, uint64_t deadline_ns,
		      struct mal_sites *sites, struct mal_error *err)
{
	(void)bytes;
	(void)size;
	(void)deadline_ns;
	(void)err;
	*sites = (struct mal_sites){.trouble = "built without Zydis"};
	return 0;
}

#endif

void mal_sites_free(struct mal_sites *sites)
{
	free(sites->sites);
	*sites = (struct mal_sites){0};
}
