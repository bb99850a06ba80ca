/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* facts.h: what is known of a step when its controller starts, and does not change any more. */
#ifndef MAL_CONTROLLER_STATE_FACTS_H
#define MAL_CONTROLLER_STATE_FACTS_H

#include "libmalleable/core/segment.h"
#include "policies/interface/choice.h"

struct mal_step_facts {
	const char *name, *node;    /* for reports */
	struct mal_choice choice;   /* as the step was started */
	const char *libdir;	    /* of loadable policies */
	const char *allowed;	    /* policies that may be set, NULL: all */
	uint64_t started;	    /* ticks */
	unsigned int nodes;	    /* the step is over so many; 0 and 1: this is the only one */
	const char *hostfile;	    /* where a better placement on them goes, NULL: nowhere */
	struct mal_segment segment; /* where it is mapped; what is in it changes all the time */
	int segment_fd;		    /* for ranks that lost theirs */
	int listening;		    /* socket for requests, -1: none */
	const char *socket;	    /* its name, NULL: it has none */
	unsigned int min_cpus;	    /* every rank keeps so many, where there are enough; 0: one */
	const char *off_file;	    /* the administrator's switch, NULL: none */
	/* CPUs that ranks may ever use here: the step's, with grow=job the job's. */
	struct mal_cpumask allocation;
	/* The same in order. Elsewhere a CPU's number in this list stands for it. */
	unsigned int cpu_count;
	unsigned int cpu[MAL_MAX_CPUS];
};

#endif
