/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* verdict.h: what balancing made of a step, in one line. */
#ifndef MAL_CONTROLLER_REPORT_VERDICT_H
#define MAL_CONTROLLER_REPORT_VERDICT_H

#include <stddef.h>

#include "libmalleable/controller/load/totals.h"

/* Enough for any verdict. */
#define MAL_VERDICT_SIZE 256

/*
 * Write it into LINE, of SIZE bytes, terminated, without a newline. It compares the time that the
 * windows took with the times that the model gives (policies/model/model.h): how many times as fast
 * the step was, and what part of the possible gain that is. Where there is no gain it says why, as
 * far as that is known, and what to try. TOTALS holds one window at least. Returns LINE.
 */
const char *mal_verdict(const struct mal_controller *controller, const struct mal_totals *totals,
			char *line, size_t size);

#endif
