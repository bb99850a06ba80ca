/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* facts.h: what is known of a step when its controller starts, and does not change any more. */
#ifndef MAL_CONTROLLER_STATE_FACTS_H
#define MAL_CONTROLLER_STATE_FACTS_H

#include "libmalleable/core/arguments.h"
#include "libmalleable/core/file_claim.h"
#include "libmalleable/core/segment.h"
#include "policies/interface/choice.h"

/* Files that users name. */
enum mal_file { MAL_FILE_REPORT, MAL_FILE_TRACE, MAL_FILE_HOSTFILE, MAL_FILES };

struct mal_step_facts {
	struct mal_arguments arguments;	 /* its texts outlive the controller */
	char files[MAL_FILES][4096];	 /* names of the user's files, which the arguments name */
	bool derived[MAL_FILES];	 /* a part of the name was added */
	struct mal_choice choice;	 /* of the policy, as the step was started */
	uint64_t started;		 /* ticks */
	struct mal_file_claimant writer; /* of the user's files */
	struct mal_segment segment; /* where it is mapped; what is in it changes all the time */
	/* CPUs that ranks may ever use here: the step's, with grow=job the job's. */
	struct mal_cpumask allocation;
	/* The same in order. Elsewhere a CPU's number in this list stands for it. */
	unsigned int cpu_count;
	unsigned int cpu[MAL_MAX_CPUS];
};

#endif
