/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * inspect.c: files that are inspected for parallel regions: a user's bytes. A verdict has a reason
 * where it is bound, and none where it is free; verdicts are sorted.
 */
#include <stdlib.h>

#include "libmalleable/prover/code/classify.h"
#include "t/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct mal_verdicts verdicts;
	struct mal_error err;

	if (mal_inspect(data, size, NULL, &verdicts, &err) < 0)
		return 0;
	for (size_t i = 0; i < verdicts.count; i++) {
		const struct mal_verdict *verdict = &verdicts.list[i];

		if (verdict->free == (verdict->reason != NULL))
			abort();
		if (!verdict->free && (verdict->alone || verdict->sums))
			abort();
		if (i > 0 && verdict[-1].address >= verdict->address)
			abort();
		if (mal_verdict_find(&verdicts, verdict->address) != verdict)
			abort();
	}
	mal_verdicts_free(&verdicts);
	return 0;
}
