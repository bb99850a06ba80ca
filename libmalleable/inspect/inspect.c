/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* inspect.c: classifies the regions of a file, one by one. */
#include "libmalleable/inspect/inspect.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libmalleable/inspect/classify.h"
#include "libmalleable/inspect/read.h"
#include "libmalleable/inspect/regions.h"

static int keep(struct mal_inspection *inspection, const struct mal_image *image,
		const struct mal_start *start, const struct mal_finding *finding)
{
	struct mal_verdict *verdict = &inspection->verdicts[inspection->count++];
	const struct mal_function *function = mal_image_function(image, start->entry);
	char text[256];

	*verdict = (struct mal_verdict){.address = start->entry, .free = !finding->reason};
	if (function && function->name) {
		verdict->name = strdup(function->name);
		if (!verdict->name)
			return -1;
	}
	if (!finding->reason)
		return 0;
	if (finding->symbol)
		snprintf(text, sizeof(text), "%s: %s", finding->reason, finding->symbol);
	else if (finding->address)
		snprintf(text, sizeof(text), "%s, at %#llx", finding->reason,
			 (unsigned long long)finding->address);
	else
		snprintf(text, sizeof(text), "%s", finding->reason);
	verdict->reason = strdup(text);
	return verdict->reason ? 0 : -1;
}

static int classify_all(struct mal_program *program, const struct mal_starts *starts,
			struct mal_inspection *inspection, struct mal_error *err)
{
	inspection->verdicts = calloc(starts->count + 1, sizeof(*inspection->verdicts));
	if (!inspection->verdicts)
		return mal_fail(err, "out of memory");
	for (size_t i = 0; i < starts->count; i++) {
		struct mal_finding finding;

		if (mal_classify(program, &starts->starts[i], &finding) < 0 ||
		    keep(inspection, program->image, &starts->starts[i], &finding) < 0)
			return mal_fail(err, "out of memory");
	}
	return 0;
}

static const char *trouble_with(const struct mal_image *image)
{
#ifndef HAVE_ZYDIS
	(void)image;
	return "built without Zydis";
#else
	if (image->other_machine)
		return "not for x86_64";
	if (!image->dynamic)
		return "statically linked";
	return NULL;
#endif
}

int mal_inspect(const uint8_t *bytes, size_t size, struct mal_inspection *inspection,
		struct mal_error *err)
{
	struct mal_image image;
	struct mal_program program = {.image = &image};
	struct mal_starts starts = {0};
	int result = 0;

	*inspection = (struct mal_inspection){0};
	if (mal_image_read(&image, bytes, size, err) < 0)
		return -1;
	inspection->trouble = trouble_with(&image);
	if (!inspection->trouble) {
		result = mal_find_regions(&program, &starts, err);
		if (result == 0)
			result = classify_all(&program, &starts, inspection, err);
	}
	free(starts.starts);
	mal_program_free(&program);
	mal_image_free(&image);
	if (result < 0)
		mal_inspection_free(inspection);
	return result;
}

const struct mal_verdict *mal_inspection_find(const struct mal_inspection *inspection,
					      uint64_t address)
{
	return mal_find_address(inspection->verdicts, inspection->count,
				sizeof(*inspection->verdicts), address);
}

void mal_inspection_free(struct mal_inspection *inspection)
{
	for (size_t i = 0; i < inspection->count; i++) {
		free(inspection->verdicts[i].name);
		free(inspection->verdicts[i].reason);
	}
	free(inspection->verdicts);
	*inspection = (struct mal_inspection){0};
}
