/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* target.h: the steps that a user's word means (core/step_word.h). */
#pragma once

#include "libmalleable/control/steps.h"

/* A step that the word may mean. */
struct mal_target {
	const struct mal_controller_process *controller;
	char name[MAL_STEP_NAME];
	const char *rank; /* in the word; empty: none */
};

/*
 * Find the steps that WANTED names, into *TARGETS, to be freed in any case: those of which it has
 * the whole name, with or without a rank, or if there are none, those of which it has all but the
 * PID. Returns how many, all of one name; or an enum malleable_control_error with ERR.
 */
int mal_targets_find(const struct mal_steps *steps, const char *wanted, struct mal_target **targets,
		     struct mal_error *err);
