/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* parts.c: makes the parts of a controller, and ends them. */
#include "libmalleable/controller/parts.h"

#include "libmalleable/controller/cpus/allocation.h"
#include "libmalleable/controller/cpus/idle.h"
#include "libmalleable/controller/cpus/leaving.h"
#include "libmalleable/controller/cpus/pool.h"
#include "libmalleable/controller/load/alternatives.h"
#include "libmalleable/controller/load/doubt.h"
#include "libmalleable/controller/load/history.h"
#include "libmalleable/controller/load/sampling.h"
#include "libmalleable/controller/load/totals.h"
#include "libmalleable/controller/overdue.h"
#include "libmalleable/controller/report/imbalance.h"
#include "libmalleable/controller/report/summaries.h"
#include "libmalleable/controller/share.h"
#include "libmalleable/controller/state/command.h"
#include "libmalleable/controller/state/deciding.h"
#include "libmalleable/controller/state/last.h"
#include "libmalleable/controller/state/off.h"
#include "libmalleable/controller/state/ranks.h"
#include "libmalleable/controller/state/topology.h"
#include "policies/interface/registry.h"

/* Was there memory for all parts? */
static bool is_complete(const struct mal_controller *controller)
{
	return controller->command && controller->places && controller->ranks && controller->last &&
	       controller->off && controller->deciding && controller->allocation &&
	       controller->leaving && controller->settling && controller->sampling &&
	       controller->totalling && controller->doubting && controller->history &&
	       controller->overdue &&
	       (controller->step->arguments.nodes < 2 ||
		(controller->summaries && controller->imbalance));
}

int mal_controller_open(struct mal_controller *controller, const struct mal_step_facts *step,
			const struct mal_cpumask *idle, struct mal_error *err)
{
	unsigned int ranks = step->segment.rank_count;

	*controller = (struct mal_controller){
		.step = step,
		.places = mal_topology_create(),
		.ranks = mal_ranks_create(ranks),
		.last = mal_last_create(ranks),
		.off = mal_off_create(step->arguments.off_file),
		.command = mal_command_create(),
		.deciding = mal_deciding_create(step),
		.allocation = mal_allocation_create(step, idle),
		.leaving = mal_leaving_create(),
		.settling = mal_settling_create(),
		.sampling = mal_sampling_create(ranks),
		.totalling = mal_totalling_create(ranks),
		.doubting = mal_doubting_create(ranks),
		.history = mal_history_create(),
		.overdue = mal_overdue_create(),
		.summaries = step->arguments.nodes > 1 ? mal_summaries_create(step->arguments.nodes)
						       : NULL,
		.imbalance = step->arguments.nodes > 1 ? mal_imbalance_create(step) : NULL,
	};
	if (!is_complete(controller))
		return mal_fail(err, "out of memory");
	if (mal_deciding_use(controller, step->choice.policy, step->choice.values, err) < 0)
		return -1;
	/* Without memory for them nothing is predicted. */
	if (!mal_policy_acts(mal_deciding_policy(controller)))
		controller->alternatives = mal_alternatives_create(ranks);
	return 0;
}

void mal_controller_close(struct mal_controller *controller)
{
	/* They point into the places. */
	mal_alternatives_destroy(controller->alternatives);
	mal_topology_destroy(controller->places);
	mal_ranks_destroy(controller->ranks);
	mal_last_destroy(controller->last);
	mal_off_destroy(controller->off);
	mal_command_destroy(controller->command);
	mal_deciding_destroy(controller->deciding);
	mal_allocation_destroy(controller->allocation);
	mal_leaving_destroy(controller->leaving);
	mal_settling_destroy(controller->settling);
	mal_share_close(controller);
	mal_pool_clear(controller);
	mal_sampling_destroy(controller->sampling);
	mal_totalling_destroy(controller->totalling);
	mal_doubting_destroy(controller->doubting);
	mal_history_destroy(controller->history);
	mal_overdue_destroy(controller->overdue);
	mal_summaries_destroy(controller->summaries);
	mal_imbalance_destroy(controller->imbalance);
}
