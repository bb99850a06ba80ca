/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * nodes.c: descriptions of other nodes, one per line, and what is made of them: text and
 * JSON.
 */
#include <stdlib.h>

#include "libmalleable/controller/report/imbalance.h"
#include "libmalleable/controller/report/summaries.h"
#include "t/fuzz/fuzz.h"
#include "t/fuzz/step.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct mal_controller *controller = fuzz_step_open("lewi");
	struct mal_error err;
	char text[3072], *line;

	fuzz_begin(data, size);
	line = fuzz_line();
	free(mal_summaries_describe(controller, line));
	free(line);
	free(mal_summaries_describe(controller, "n1"));
	while (fuzz_left) {
		line = fuzz_line();
		mal_summaries_add(controller, line, &err);
		free(line);
	}
	if (mal_summaries_part(controller) == MAL_NODES_ALL)
		mal_imbalance_text(controller, text, sizeof(text));
	json_decref(mal_imbalance_json(controller));
	fuzz_step_close(controller);
	return 0;
}
