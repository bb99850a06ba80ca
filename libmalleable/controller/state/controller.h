/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* controller.h: the controller of one step on one node, and what is known of one window. */
#ifndef MAL_CONTROLLER_STATE_CONTROLLER_H
#define MAL_CONTROLLER_STATE_CONTROLLER_H

#include <stdbool.h>

#include "libmalleable/core/arguments.h"
#include "libmalleable/core/file_claim.h"
#include "libmalleable/core/segment.h"
#include "policies/decide/decision.h"
#include "policies/interface/choice.h"
#include "policies/interface/policy.h"

/* Files that users name. */
enum mal_file { MAL_FILE_REPORT, MAL_FILE_TRACE, MAL_FILE_HOSTFILE, MAL_FILES };

/* What is known of a step when its controller starts, and does not change any more. */
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

/* What is known of a rank. */
struct mal_rank_view {
	bool known; /* it registered */
	bool running;
	bool left; /* it runs no more; whether it is gone is not known yet */
	int32_t pid;
	struct mal_cpumask home;
};

/*
 * One window, read once when its round ends. Ranks go on meanwhile, and CPUs change hands: all who
 * judge a window read this, and not the segment again.
 */
struct mal_window {
	double at_s;			  /* since the step started */
	double elapsed_s;		  /* of the rank with the longest */
	unsigned int owner[MAL_MAX_CPUS]; /* by CPU of the step; no rank's number: nobody */
	uint16_t counts[MAL_MAX_RANKS];	  /* of these, by rank; samples have the same */
	struct mal_sample samples[MAL_MAX_RANKS];
};

/* The policy that decides, orders from outside, and what came of them so far. */
struct mal_deciding {
	const struct mal_policy *policy; /* malleable set may change it; NULL: none yet */
	void *policy_state;
	const char *rejected; /* why; then the step is only observed. NULL: it was not */
	bool binds;	      /* threads may be bound, and CPUs change hands */
	struct mal_orders orders;
	uint32_t plans; /* so far: the number of the last one */
	/*
	 * What the policy measured, by its last plan: the time of a phase with moves (lending) over
	 * that without. 0: not compared.
	 */
	double move_times, lend_times;
};

/*
 * All modules may read all of this. Beside each part stands the module that alone writes it. What
 * only one module reads is a struct that this module alone knows.
 */
struct mal_controller {
	const struct mal_step_facts *step;
	/* Set by the thread of watch.h, which wakes the controller's loop. */
	_Atomic bool asked;  /* somebody has a request */
	_Atomic bool ending; /* the step is over */
	/* ranks.h */
	struct mal_rank_view ranks[MAL_MAX_RANKS];
	/* The command line of the first rank that came: words, each ended by a null byte. */
	struct {
		size_t length;	      /* 0: not known */
		char words[4096 + 1]; /* the user's, cut; the last byte stays 0 */
	} command;
	/* planning.h */
	struct mal_deciding deciding;
	/* admin_switch.h */
	struct {
		bool off_now, ever_off;
		uint64_t looked; /* tick */
	} off_switch;
	/* What the ranks did in the last window, all 0 before the first (load/totals.h). */
	struct {
		bool measured; /* any window so far was one that counts in the totals */
		struct mal_sample samples[MAL_MAX_RANKS];
	} last_window;
	/* Which CPUs the ranks may have. */
	struct mal_allocation *allocation; /* cpus/allocation.h */
	struct mal_leaving *leaving;	   /* cpus/leaving.h */
	struct mal_settling *settling;	   /* cpus/idle.h */
	struct mal_agent_link *agent;	   /* cpus/share.h */
	struct mal_pool *pool;		   /* cpus/pool.h; NULL without pool=job */
	/* What the ranks do. */
	struct mal_sampling *sampling;		     /* load/sampling.h */
	struct mal_totalling *totalling;	     /* load/totals.h */
	struct mal_plausibility_state *plausibility; /* load/plausibility.h */
	struct mal_history *history;		     /* load/history.h */
	struct mal_recording *recording;	     /* load/recording.h; NULL: none */
	struct mal_alternatives *alternatives;	     /* load/alternatives.h; NULL: none */
	/* What goes to the report of a step over several nodes; NULL: this is the only one. */
	struct mal_summaries *summaries; /* report/summaries.h */
	struct mal_imbalance *imbalance; /* report/imbalance.h */
	struct mal_overdue *overdue;	 /* overdue.h */
};

#endif
