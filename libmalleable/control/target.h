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
 * Find the steps that WANTED names, into TARGETS, which has room for all STEPS: those of which it
 * has the whole name, with or without a rank, or if there are none, those of which it has all but
 * the PID. Returns how many.
 */
size_t mal_targets_find(const struct mal_steps *steps, const char *wanted,
			struct mal_target *targets);

/* COUNT, one or more, targets have one name. Returns 0, or -1 with ERR, which lists the names. */
int mal_targets_are_one(const struct mal_target *targets, size_t count, const char *wanted,
			struct mal_error *err);

/* No step is called WANTED. Writes that, and whether other users have steps, to ERR. */
void mal_target_missing(const struct mal_steps *steps, const char *wanted, struct mal_error *err);
