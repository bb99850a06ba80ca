/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* classify.c: what decides before the values of a region are looked at. */
#include "libmalleable/inspect/classify.h"

int mal_classify(struct mal_program *program, const struct mal_start *start,
		 struct mal_finding *finding)
{
	*finding = (struct mal_finding){0};
	if (start->clause)
		finding->reason = "a number of threads is asked for";
	else if (start->other)
		finding->reason = "a kind of region that is not understood";
	else
		finding->reason = "not understood";
	(void)program;
	return 0;
}
