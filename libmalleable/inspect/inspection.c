/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* inspection.c: what was found, also in processes that have no decoder of instructions. */
#include <stdlib.h>

#include "libmalleable/inspect/classify.h"
#include "libmalleable/inspect/find.h"

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
		free(inspection->verdicts[i].alone);
		free(inspection->verdicts[i].sums);
	}
	free(inspection->verdicts);
	*inspection = (struct mal_inspection){0};
}
