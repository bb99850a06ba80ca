/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * pool.c: what the plugin says about a pool, in the first line, and what the pool's other
 * controllers answer.
 */
#include <stdlib.h>

#include "libmalleable/controller/cpus/pool.h"
#include "t/fuzz/fuzz.h"
#include "t/fuzz/step.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct mal_controller *controller = fuzz_step_open("lewi");
	static struct mal_pool_ranks ranks;
	unsigned int wanted[1];
	struct mal_pool_cpus cpus;
	struct mal_error err;
	char *text;

	fuzz_begin(data, size);
	text = fuzz_line();
	mal_pool_set(controller, text, &err);
	free(text);
	free(mal_pool_describe(controller));
	ranks.count = ranks.cpus = 0;
	text = fuzz_text();
	if (mal_pool_parse(text, 0, &cpus, &ranks) && ranks.count)
		mal_pool_divide(ranks.ranks, ranks.count, 1, wanted);
	free(text);
	fuzz_step_close(controller);
	return 0;
}
