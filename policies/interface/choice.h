/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* choice.h: check a user's --balance against the policies that exist and that the site allows. */
#ifndef MAL_POLICIES_INTERFACE_CHOICE_H
#define MAL_POLICIES_INTERFACE_CHOICE_H

#include "libmalleable/base/error.h"
#include "libmalleable/core/spec.h"
#include "policies/interface/policy.h"

#define MAL_CHOICE_PARAMS 16

struct mal_choice {
	const struct mal_policy *policy;
	double values[MAL_CHOICE_PARAMS]; /* of its parameters */
	char mode[8];			  /* auto, team or cpuset */
	unsigned int max_threads;	  /* 0: not given */
	bool pages_follow;		  /* memory follows its rank to other NUMA nodes */
	bool grow_job;	/* the step may use CPUs that its job's other steps leave idle */
	bool pool_job;	/* balance with the job's other such steps; implies grow_job */
	bool events;	/* ranks announce changes of their CPUs as PMIx events */
	bool keep_gomp; /* programs built for GCC's libgomp stay on it */
};

/*
 * Check TEXT (see mal_spec_parse) and fill CHOICE. ALLOWED is the site's list of policy names,
 * separated by commas; NULL allows all, and off is always allowed. FALLBACK is the policy for a
 * text that names none. Returns 0, or -1 with ERR: one line that says what is wrong and what is
 * allowed.
 */
int mal_choose(const char *text, const char *allowed, const char *fallback,
	       struct mal_choice *choice, struct mal_error *err);

/* How ranks treat their teams: the choice's mode, or observe if nothing may be changed. */
const char *mal_choice_mode(const struct mal_choice *choice);

#endif
