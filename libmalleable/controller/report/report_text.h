/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * report_text.h: what the user is told at the end of a step, as text and as JSON.
 *
 * Invariant: A line that does not fit is left out as a whole (t/unit/test_report.c:
 * each_node_has_one_line).
 */
#pragma once

#include <stdio.h>

#include "libmalleable/controller/load/busy_cpus.h"
#include "libmalleable/controller/load/region_totals.h"
#include "libmalleable/controller/load/whole.h"
#include "libmalleable/controller/state/controller.h"
#include "libmalleable/core/counters.h"
#include "libmalleable/core/outcome.h"

/* Everything that the report says; made once, printed twice. */
struct mal_report {
	double elapsed_s;	   /* of the step */
	unsigned int ranks;	   /* that registered */
	struct mal_counters count; /* of all ranks together */
	struct mal_whole whole;
	struct mal_region_totals regions;
	struct mal_busy_cpus busy;
	double overhead_s;    /* our code in the ranks, all together */
	double overhead_part; /* of the ranks' time */
	double controller_cpu_s;
};

/* Sum up. False if no rank ever came: there is nothing to report. */
bool mal_report_make(const struct mal_controller *controller, struct mal_report *report);

/*
 * Write the text into TEXT, of SIZE bytes: lines that do not fit are left out. Returns its length;
 * it is not terminated.
 */
size_t mal_report_text(const struct mal_controller *controller, const struct mal_report *report,
		       char *text, size_t size);

/* Why no rank connected. */
enum mal_nothing mal_report_why_nothing(const struct mal_controller *controller);

/* The same where no rank connected: one line on what may have kept ranks away, or nothing. */
size_t mal_report_nothing(const struct mal_controller *controller, char *text, size_t size);

/*
 * The same in one line, for a step over several nodes, whose lines make one report. ALONE: they do
 * not come together, and this line tells so.
 */
size_t mal_report_line(const struct mal_controller *controller, const struct mal_report *report,
		       bool alone, char *text, size_t size);

/*
 * Write the report to FILE as one JSON object; NULL: no rank ever came. Returns 0, or -1: out of
 * memory, or it cannot be written.
 */
int mal_report_json(const struct mal_controller *controller, const struct mal_report *report,
		    FILE *file);
