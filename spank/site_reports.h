/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* site_reports.h: the reports that steps leave in report_dir=. */
#pragma once

#include <sys/types.h>

/* Room for a report, for a controller. Returns a descriptor, or -1: none is wanted. */
int balance_site_report_make(void);

/*
 * In slurmstepd, as root, within balance_deadline_left(): store what is in FD as the report of STEP
 * of USER and GROUP on NODE. A failure is logged. FD is closed, and becomes -1.
 */
void balance_site_report_store(int *fd, const char *step, const char *node, uid_t user,
			       gid_t group);
