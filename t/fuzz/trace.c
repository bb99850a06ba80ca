/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* trace.c: a trace, and what malleable replay does first with it. */
#include "libmalleable/trace/trace.h"
#include "t/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct mal_trace trace;
	struct mal_error err;
	FILE *file;

	fuzz_begin(data, size);
	file = fopen("trace", "r");
	if (!file)
		return 0;
	if (mal_trace_read_file(&trace, file, "trace", &err) == 0 && trace.rank_count < 16) {
		for (size_t i = 0; i < trace.window_count; i++)
			mal_trace_samples(&trace, &trace.windows[i]);
		mal_trace_change_cpus(&trace, 8, &err);
	}
	mal_trace_destroy(&trace);
	fclose(file);
	return 0;
}
