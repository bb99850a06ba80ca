/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* controller.h: the parts of a controller, by name. */
#ifndef MAL_CONTROLLER_STATE_CONTROLLER_H
#define MAL_CONTROLLER_STATE_CONTROLLER_H

#include <stdbool.h>

#include "libmalleable/controller/state/facts.h"
#include "libmalleable/core/segment.h"

/*
 * Each part is a struct that one file knows, the one of the header that is named beside it; others
 * ask that file. parts.h makes and ends them all.
 */
struct mal_controller {
	const struct mal_step_facts *step;
	/* Set by the thread of watch.h, which wakes the controller's loop. */
	_Atomic bool asked;  /* somebody has a request */
	_Atomic bool ending; /* the step is over */
	/* What all look at. */
	struct mal_places *places;     /* topology.h */
	struct mal_ranks *ranks;       /* ranks.h */
	struct mal_last *last;	       /* last.h */
	struct mal_off *off;	       /* off.h */
	struct mal_command *command;   /* command.h */
	struct mal_deciding *deciding; /* deciding.h */
	/* Which CPUs the ranks may have. */
	struct mal_allocation *allocation; /* cpus/allocation.h */
	struct mal_leaving *leaving;	   /* cpus/leaving.h */
	struct mal_settling *settling;	   /* cpus/idle.h */
	struct mal_agent_link *agent;	   /* share.h; NULL: there is none */
	struct mal_pool *pool;		   /* cpus/pool.h; NULL without pool=job */
	/* What the ranks do. */
	struct mal_sampling *sampling;	       /* load/sampling.h */
	struct mal_totalling *totalling;       /* load/totals.h */
	struct mal_doubting *doubting;	       /* load/doubt.h */
	struct mal_history *history;	       /* load/history.h */
	struct mal_recording *recording;       /* load/recording.h; NULL: none */
	struct mal_alternatives *alternatives; /* load/alternatives.h; NULL: none */
	/* What goes to the report of a step over several nodes; NULL: this is the only one. */
	struct mal_summaries *summaries; /* report/summaries.h */
	struct mal_imbalance *imbalance; /* report/imbalance.h */
	struct mal_overdue *overdue;	 /* overdue.h */
};

#endif
