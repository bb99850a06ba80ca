/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * outcome.c: a controller's report at a step's end, a record and a text, for logs and the user.
 */
#include <stdlib.h>

#include "spank/step_log.c"
#include "t/fuzz/fuzz.h"
#include "t/fuzz/spank.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct balance_outcome outcome = {
		.job = 1, .user = 1000, .step = "1.0", .node = "n1", .policy = "auto"};
	/* As in slurmstepd: a larger buffer, all 0 before. */
	char *said;

	if (size >= 4096)
		return 0;
	said = calloc(1, 4096);
	if (!said)
		abort();
	fuzz_begin(data, size);
	fuzz_take(said, size);
	balance_config.log = MAL_LOG_SLURMD;
	balance_outcome_report(&outcome, said, 4096);
	free(said);
	return 0;
}
