/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* trace.c: a trace, and what malleable replay does first with it. */
#include "libmalleable/trace/trace.h"
#include "t/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct mal_trace trace;
	struct mal_error err;

	fuzz_begin(data, size);
	if (mal_trace_read(&trace, "trace", &err) == 0 && trace.window_count &&
	    trace.rank_count < 16)
		mal_trace_change_cpus(&trace, 8, &err);
	mal_trace_destroy(&trace);
	return 0;
}
