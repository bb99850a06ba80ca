/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* choice.h: check a user's --balance against the policies that exist and that the site allows. */
#pragma once

#include "libmalleable/base/error.h"
#include "libmalleable/core/settings.h"
#include "libmalleable/core/spec.h"
#include "policies/interface/policy.h"

#define MAL_CHOICE_PARAMS 16

struct mal_choice {
	const struct mal_policy *policy;
	double values[MAL_CHOICE_PARAMS]; /* of its parameters */
	struct mal_keys keys;
};

/*
 * Check TEXT (see mal_spec_parse) and fill CHOICE. Keys for all policies are in the table of
 * settings (core/settings.h). ALLOWED is the site's list of policy names,
 * separated by commas; NULL allows all, and off is always allowed. FALLBACK is the policy for a
 * text that names none. Returns 0, or -1 with ERR: one line that says what is wrong and what is
 * allowed.
 */
int mal_choose(const char *text, const char *allowed, const char *fallback,
	       struct mal_choice *choice, struct mal_error *err);

/* The same for a text that was parsed before. */
int mal_choose_spec(const struct mal_spec *spec, const char *allowed, const char *fallback,
		    struct mal_choice *choice, struct mal_error *err);

/* How ranks treat their teams: the choice's mode, or observe if nothing may be changed. */
const char *mal_choice_mode(const struct mal_choice *choice);

/*
 * What may change bits of results, strict or keep: the choice's word, strict where nobody ASKED for
 * balancing. NULL: free, or who asked did not choose.
 */
const char *mal_choice_bits(const struct mal_choice *choice, bool asked);
