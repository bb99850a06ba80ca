/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* classify.c: what decides before the values of a region are looked at. */
#include "libmalleable/inspect/classify.h"

#include "libmalleable/inspect/sweep.h"

#ifdef HAVE_ZYDIS

int mal_classify(struct mal_program *program, const struct mal_start *start,
		 struct mal_finding *finding)
{
	struct mal_sweep sweep = {
		.entry = start->entry,
		.reached = start->runtime == MAL_RUNTIME_LIBOMP ? MAL_REACHED_LIBOMP
								: MAL_REACHED_LIBGOMP,
		.finding = finding,
	};

	*finding = (struct mal_finding){0};
	if (start->clause) {
		finding->reason = "a number of threads is asked for";
		return 0;
	}
	if (start->other) {
		finding->reason = "a kind of region that is not understood";
		return 0;
	}
	if (!mal_image_function(program->image, start->entry)) {
		finding->reason = "code without unwind information";
		return 0;
	}
	return mal_sweep(program, &sweep);
}

#else

int mal_classify(struct mal_program *program, const struct mal_start *start,
		 struct mal_finding *finding)
{
	(void)program;
	(void)start;
	*finding = (struct mal_finding){.reason = "built without Zydis"};
	return 0;
}

#endif
