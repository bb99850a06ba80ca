/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* synthetic.h: traces of synthetic steps. */
#pragma once

#include <stdint.h>

#include "libmalleable/trace/trace.h"

struct mal_generation {
	const char *kind; /* one of mal_generate_kinds */
	unsigned int ranks;
	unsigned int cpus; /* of each rank */
	unsigned int windows;
	uint64_t seed;
};

/* "steady, drift, ..." */
extern const char mal_generate_kinds[];

/*
 * Generate TRACE: windows of about 0.1 s if they were balanced, with 1 % serial time, 2 %
 * communication, five regions, and loads measured with an error of half a percent. The same seed
 * gives the same trace. Returns 0, or -1 with ERR.
 */
int mal_generate(const struct mal_generation *wanted, struct mal_trace *trace,
		 struct mal_error *err);
