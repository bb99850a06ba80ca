/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * step_report.h: what the controller tells and writes as its step ends. For its main thread.
 *
 * Invariant: A record goes over the pipe even where no rank connected: silence means that we were
 * killed (t/unit/test_malleabled.c: without_ranks_one_line_says_so).
 */
#pragma once

#include "libmalleable/controller/state/controller.h"

/*
 * Send the record and the report to our parent, end the recording, and write the JSON to the
 * user's file and for the site. What fails is told over the same pipe. Where no rank ever came
 * there is nothing to write.
 */
void mal_ending_report(struct mal_controller *controller);

/* Send why there was no step to serve: ERR. */
void mal_ending_fail(int report_fd, const struct mal_error *err);
