/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* choice.h: a user's --balance, checked against the policies that exist and that the site allows. */
#ifndef MAL_POLICIES_CHOICE_H
#define MAL_POLICIES_CHOICE_H

#include "libmalleable/core/error.h"
#include "libmalleable/core/spec.h"
#include "policies/policy.h"

#define MAL_CHOICE_PARAMS 16

struct mal_choice {
	const struct mal_policy *policy;
	double values[MAL_CHOICE_PARAMS]; /* of its parameters */
	char mode[8];			  /* auto, team or cpuset */
	unsigned int max_threads;	  /* 0: not given */
	bool pages_follow;		  /* memory goes to the NUMA nodes where its rank went */
	bool grow_job;			  /* the step may use what other steps of its job leave idle */
	bool pool_job;	/* its ranks are balanced against those of such other steps of its job; with grow_job */
	bool events;	/* its ranks tell changes of their CPUs as PMIx events */
	bool keep_gomp; /* programs built for GCC's libgomp stay on it */
};

/*
 * Check TEXT (see mal_spec_parse) and fill CHOICE. ALLOWED is the site's list of policy names separated by commas, NULL:
 * all; off is always allowed. FALLBACK is the policy for a text that names none. Returns 0, or -1 with ERR: one
 * line that says what is wrong and what is allowed.
 */
int mal_choose(const char *text, const char *allowed, const char *fallback, struct mal_choice *choice,
	       struct mal_error *err);

/* What the ranks are told to do with their teams: the choice's mode, or observe where nothing may be touched. */
const char *mal_choice_mode(const struct mal_choice *choice);

#endif
