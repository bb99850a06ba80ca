/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* verdicts.c: the verdicts on an object, also in processes that have no decoder of instructions. */
#include <stdlib.h>

#include "libmalleable/prover/code/classify.h"
#include "libmalleable/prover/code/find.h"

const struct mal_verdict *mal_verdict_find(const struct mal_verdicts *verdicts, uint64_t address)
{
	return mal_find_address(verdicts->list, verdicts->count, sizeof(*verdicts->list), address);
}

void mal_verdicts_free(struct mal_verdicts *verdicts)
{
	for (size_t i = 0; i < verdicts->count; i++) {
		free(verdicts->list[i].name);
		free(verdicts->list[i].reason);
		free(verdicts->list[i].alone);
		free(verdicts->list[i].sums);
	}
	for (size_t i = 0; i < verdicts->question_count; i++)
		free(verdicts->questions[i].symbol);
	free(verdicts->list);
	free(verdicts->questions);
	*verdicts = (struct mal_verdicts){0};
}
