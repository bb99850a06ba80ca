/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * step_report.h: what the controller tells and writes as its step ends. For its main thread.
 *
 * Invariant: A record goes over the pipe even where no rank came: silence means that we were killed
 * (t/unit/test_malleabled.c: nobody_came).
 */
#ifndef MAL_CONTROLLER_STEP_REPORT_H
#define MAL_CONTROLLER_STEP_REPORT_H

#include <stdio.h>

#include "libmalleable/controller/state/controller.h"

/*
 * Make the site's file for the JSON, as the user who is named in ARGUMENTS owns it: to be called
 * while this process may still write where root alone may. Returns NULL if none is asked for, or it
 * cannot be made.
 */
FILE *mal_ending_site_file(const struct mal_arguments *arguments);

/*
 * Send the record and the report to our parent, end the recording, and write the JSON to the
 * user's file and to SITE_REPORT, which may be NULL and is closed. What fails is told over the same
 * pipe.
 */
void mal_ending_report(struct mal_controller *controller, FILE *site_report);

#endif
