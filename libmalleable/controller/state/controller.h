/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * controller.h: the controller of one step on one node, and what is known of one window.
 *
 * Invariant: Each part of struct mal_controller has one module that writes it (t/t0002-walls.t:
 * the controller's parts are constant elsewhere).
 */
#pragma once

#include <stdbool.h>

#include "libmalleable/core/arguments.h"
#include "libmalleable/core/file_claim.h"
#include "libmalleable/core/others.h"
#include "libmalleable/core/segment.h"
#include "policies/decide/decision.h"
#include "policies/decide/rejection.h"
#include "policies/decide/simulation.h"
#include "policies/decide/windows.h"
#include "policies/interface/choice.h"
#include "policies/interface/policy.h"
#include "policies/model/efficiency.h"

/* Files that users name. */
enum mal_file { MAL_FILE_REPORT, MAL_FILE_TRACE, MAL_FILES };

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
	char rejection[MAL_REJECTION_TEXT]; /* that text */
	bool binds;			    /* threads may be bound, and CPUs change hands */
	struct mal_orders orders;
	uint32_t plans; /* so far: the number of the last one */
	/*
	 * What the policy measured, by its last plan: the time of a phase with moves (lending) over
	 * that without. 0: not compared.
	 */
	double move_times, lend_times;
};

/*
 * The CPUs of the allocation: which of them are idle, the step's for as long as nobody else needs
 * them, and their places.
 */
struct mal_allocation {
	struct mal_cpumask idle;
	/* Places of the CPUs of the step, in order; all are 0 until they were read. */
	bool read;
	unsigned int core[MAL_MAX_CPUS], l3[MAL_MAX_CPUS], numa[MAL_MAX_CPUS],
		package[MAL_MAX_CPUS];
};

/* What the windows add up to. */
struct mal_totals {
	unsigned int windows;
	double elapsed_s;		      /* as it was */
	double off_s;			      /* predicted without balancing, at least */
	double unsure_s;		      /* it may be so much more */
	double ideal_s;			      /* predicted with perfect balance */
	struct mal_cpu_seconds cpus;	      /* where their time went */
	double balance_before, balance_after; /* load balance, weighted by elapsed time */
	uint64_t shared;		      /* borrows and grants until the last window */
	bool was_shared;		      /* a rank had another's CPU as it ended */
};

/* What the windows of a rank add up to. */
struct mal_rank_totals {
	double work_s, barrier_s, serial_s, mpi_s;
	/*
	 * In windows in which nobody shared: CPU seconds of its regions, of unmanaged ranks also
	 * while they compute nothing, and work in them.
	 */
	double alone_s, alone_work_s;
};

/* How long CPUs were busy since the machine started. */
struct mal_busy {
	double all_s;	 /* 0: not known */
	double stolen_s; /* of that, for other guests of a virtual machine's host */
};

/* How long others used the ranks' CPUs; all 0: the count has not begun. Times of all CPUs, in s. */
struct mal_others {
	double at_s;			  /* when the CPUs were read last; 0: they are to be read */
	struct mal_busy busy;		  /* how long they had been busy */
	double ranks_s;			  /* what the ranks used since */
	double counted_s;		  /* for how long it was counted */
	double others_s, all_s, stolen_s; /* what others used of all CPU time in it, and the host */
};

/* How long threads of a rank waited for a CPU (load/run_queue.h); all 0: not read yet. */
struct mal_waits {
	double since_s;
	size_t count, room;
	struct mal_wait {
		int32_t tid;
		bool seen;	    /* it has not ended, when they were read last */
		uint64_t before_ns; /* until it was read first */
	} *list;
};

/* Windows in which what the ranks measured is not what they did. */
struct mal_plausibility {
	unsigned int stopped;	   /* thrown away: ranks computed far longer than they had CPUs */
	unsigned int outside_team; /* nothing was moved: a rank worked in other threads */
	unsigned int rank;	   /* the last such */
	double outside_team_s, seen_s; /* what it did so and measured, in all of these */
	bool now;		       /* the last window was one */
	struct mal_others_parts parts; /* that others had so far */
	struct mal_others others;
	struct mal_waits waits[MAL_MAX_RANKS];
	struct mal_cpumask cpus;   /* for which they are counted */
	double computed_s, lost_s; /* for which ranks computed, and without a CPU of that */
	double usual_lost_s[MAL_MAX_RANKS]; /* moving average */
	/* In the other windows, by rank: how long it waited outside MPI, and all of them took. */
	double waits_s[MAL_MAX_RANKS], elapsed_s[MAL_MAX_RANKS];
};

/* The command line of the first rank that came: words, each ended by a null byte. */
struct mal_command {
	size_t length;	      /* 0: not known */
	char words[4096 + 1]; /* the user's, cut; the last byte stays 0 */
};

/* The administrator's. */
struct mal_off_switch {
	bool off_now, ever_off;
	uint64_t looked; /* tick */
};

/* CPUs that ranks are to leave. */
struct mal_leaving {
	struct mal_cpumask cpus; /* nobody's, but threads of ranks may be there still */
	struct mal_cpumask kept; /* that ranks were told to leave and did not, at any time */
};

/* After CPUs were taken away. */
struct mal_settling {
	uint64_t until; /* ticks; 0: nothing was taken away */
	uint64_t looked;
};

/* Rounds of samples, and what ends a phase for all. */
struct mal_sampling {
	struct mal_windows windows;
	enum mal_boundary_kind kind; /* that ends a phase */
	/* Ticks: a rank came, or they meet no more; and until a kind has ceased. */
	uint64_t since, weaker_kind_after;
	/* As the present round began: the furthest boundary, and the tick. */
	uint64_t began_at, began;
	uint64_t round;		    /* the number of the present one */
	enum mal_boundary_kind was; /* as the next window started */
	struct mal_previous {
		bool valid;
		struct mal_snapshot snapshot;
		/* By kind: the count when one was last seen to come, and that tick. */
		struct mal_passed {
			uint64_t count, tick;
		} passed[MAL_BOUNDARY_KINDS];
	} last[MAL_MAX_RANKS]; /* where their next window starts */
};

/* A window that lasts too long. */
struct mal_overdue {
	uint64_t due;	     /* tick at which the move is taken back */
	uint32_t plan;	     /* the one that moved CPUs as the window began; 0: none did */
	uint32_t back;	     /* the one that took it back; 0: none did */
	uint64_t taken_back; /* tick at which it did */
	/* By CPU of the step: owners before the move, and when it was taken back. */
	unsigned int before[MAL_MAX_CPUS], moved[MAL_MAX_CPUS];
};

/* Policies that are simulated. */
#define MAL_ALTERNATIVES 3
struct mal_alternatives {
	struct mal_simulation *list[MAL_ALTERNATIVES];
};

/* Who has connected. */
enum mal_client_kind {
	MAL_CLIENT_NONE, /* the place is free */
	MAL_CLIENT_ASKS, /* one request */
	MAL_CLIENT_READS,
	MAL_CLIENT_HOLDS,
};

struct mal_client {
	enum mal_client_kind kind;
	int fd;
	long since_ms;
	unsigned long lost;	   /* events that it did not read */
	bool holds[MAL_MAX_RANKS]; /* whose orders end with the connection */
};

#define MAL_CLIENTS 64
struct mal_clients {
	unsigned int next; /* to be looked at; behind them who connects, then all of them again */
	bool again;	   /* one that stays has sent a request, and may have sent more */
	unsigned int room; /* for so many there are descriptors */
	struct mal_client list[MAL_CLIENTS];
};

/* What those who read events were told last. */
struct mal_events {
	unsigned int owners[MAL_MAX_CPUS];
	bool running[MAL_MAX_RANKS];
	const struct mal_policy *policy;
	uint32_t plans;
	bool moving; /* CPUs were to go elsewhere */
};

/* A part: constant to all, but for the module beside it, as NAME_own. */
#define MAL_CONTROLLER_PART(type, name) \
	union { \
		const struct type name; \
		struct type name##_own; \
	}
/* The same for each rank, by number. */
#define MAL_CONTROLLER_PARTS(type, name) \
	union { \
		const struct type name[MAL_MAX_RANKS]; \
		struct type name##_own[MAL_MAX_RANKS]; \
	}

/*
 * All 0 at first. Beside each part stands the module that alone writes it; it is constant for the
 * others. What only that module knows, and not every step has, has its type there.
 */
struct mal_controller {
	const struct mal_step_facts *step;
	/* Set by the thread of watch.h, which wakes the controller's loop. */
	_Atomic bool asked;				 /* somebody has a request */
	_Atomic bool ending;				 /* the step is over */
	MAL_CONTROLLER_PARTS(mal_rank_view, ranks);	 /* ranks.h */
	MAL_CONTROLLER_PART(mal_command, command);	 /* ranks.h */
	MAL_CONTROLLER_PART(mal_deciding, deciding);	 /* planning.h */
	MAL_CONTROLLER_PART(mal_off_switch, off_switch); /* admin_switch.h */
	/* Which CPUs the ranks may have. */
	MAL_CONTROLLER_PART(mal_allocation, allocation); /* cpus/allocation.h */
	MAL_CONTROLLER_PART(mal_leaving, leaving);	 /* cpus/leaving.h */
	MAL_CONTROLLER_PART(mal_settling, settling);	 /* cpus/evict.h */
	struct mal_pool *pool;				 /* cpus/pool.h; NULL without pool=job */
	/* What the ranks do. */
	MAL_CONTROLLER_PART(mal_sampling, sampling);	    /* load/sampling.h */
	MAL_CONTROLLER_PART(mal_totals, totals);	    /* load/totals.h */
	MAL_CONTROLLER_PARTS(mal_rank_totals, rank_totals); /* load/totals.h */
	MAL_CONTROLLER_PARTS(mal_sample, last); /* load/totals.h; of the last window, else 0 */
	MAL_CONTROLLER_PART(mal_plausibility, plausibility); /* load/plausibility.h */
	struct mal_history *history;	 /* load/history.h; NULL: nothing is noted yet */
	struct mal_recording *recording; /* load/recording.h; NULL: there is none */
	MAL_CONTROLLER_PART(mal_alternatives, alternatives); /* load/alternatives.h */
	MAL_CONTROLLER_PART(mal_clients, clients);	     /* clients.h */
	MAL_CONTROLLER_PART(mal_events, events);	     /* event_lines.h */
	/* What goes to the report of a step over several nodes; NULL: this is the only one. */
	struct mal_summaries *summaries;	   /* report/summaries.h */
	MAL_CONTROLLER_PART(mal_overdue, overdue); /* overdue.h */
};
