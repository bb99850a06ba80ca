/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * pool.c: what the plugin says about a pool, in the first line, and what the pool's other
 * controllers answer.
 */
#include <stdlib.h>

#include "libmalleable/controller/cpus/pool.c"
#include "t/fuzz/fuzz.h"
#include "t/fuzz/step.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct mal_controller *controller = fuzz_step_open("lewi");
	static struct gathered gathered;
	unsigned int wanted[PEERS_MAX];
	struct mal_error err;
	struct peer peer;
	char *text;

	fuzz_begin(data, size);
	text = fuzz_line();
	mal_pool_set(controller, text, &err);
	free(text);
	free(mal_pool_describe(controller));
	gathered.count = gathered.cpus = 0;
	text = fuzz_text();
	if (parse_answer(text, 0, &peer, &gathered) && gathered.count)
		mal_pool_divide(gathered.ranks, gathered.count, 1, wanted);
	free(text);
	fuzz_step_close(controller);
	return 0;
}
