/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* charts.h: pictures of a trace, as SVG inside a page (html.h). */
#ifndef MAL_CMD_CHARTS_H
#define MAL_CMD_CHARTS_H

#include <stdio.h>

#include "libmalleable/cmd/series.h"

/*
 * A lane for each row of SERIES, with VALUES, rows of columns from 0 to SERIES->max, as colours,
 * and as numbers where there is room. CLASS names the figure, TITLE and NOTE explain it.
 */
void mal_chart_lanes(FILE *out, const struct mal_series *series, const double *values,
		     unsigned int rank_count, const char *class, const char *title,
		     const char *note);

/* Efficiencies over time, as lines. */
void mal_chart_efficiencies(FILE *out, const struct mal_series *series);

#endif
