/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* page.h: what malleable report says of a trace, as parts of a page of HTML (html.h). */
#ifndef MAL_CMD_PAGE_H
#define MAL_CMD_PAGE_H

#include <stdio.h>

#include "libmalleable/cmd/compare.h"
#include "libmalleable/cmd/series.h"

/* What the comparison of several traces has of each. */
struct mal_page_row {
	char name[256]; /* of the file */
	char step[64], node[64], policy[64];
	unsigned int ranks, cpus;
	double recorded_s, off_s, ideal_s;
	struct mal_efficiencies part;
};

/* Fill ROW from a trace that was read from file NAME, and what came of CONTEST. */
void mal_page_row(struct mal_page_row *row, const char *name, const struct mal_trace *trace,
		  const struct mal_series *series, const struct mal_comparison *comparison);

/* A table of COUNT traces. */
void mal_page_compare(FILE *out, const struct mal_page_row *rows, size_t count);

/* All of one trace: its tables and its pictures. */
void mal_page_trace(FILE *out, const struct mal_page_row *row, const struct mal_trace *trace,
		    const struct mal_series *series, const struct mal_comparison *comparison);

#endif
