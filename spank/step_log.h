/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* step_log.h: report a balanced step's outcome to the user and the administrator. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct balance_outcome {
	uint32_t job;
	uid_t user;
	const char *step, *node, *policy;
	unsigned int ranks, cpus;
	bool silent;   /* print nothing for the user */
	bool expected; /* a rank should have come here, and the user hears if none did */
};

/*
 * REPORT, of SIZE bytes, is the controller's: a record (core/outcome.h), from which the lines for
 * logs are made, then the text for the user, padded with zeros. REPORT is changed.
 */
void balance_outcome_report(const struct balance_outcome *outcome, char *report, size_t size);
