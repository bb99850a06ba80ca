/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* parts.c: makes the parts of a controller, and ends them. */
#include "libmalleable/controller/parts.h"

#include "libmalleable/controller/cpus/allocation.h"
#include "libmalleable/controller/cpus/idle.h"
#include "libmalleable/controller/cpus/leaving.h"
#include "libmalleable/controller/cpus/pool.h"
#include "libmalleable/controller/cpus/share.h"
#include "libmalleable/controller/load/alternatives.h"
#include "libmalleable/controller/load/doubt.h"
#include "libmalleable/controller/load/history.h"
#include "libmalleable/controller/load/sampling.h"
#include "libmalleable/controller/load/totals.h"
#include "libmalleable/controller/overdue.h"
#include "libmalleable/controller/planning.h"
#include "libmalleable/controller/report/imbalance.h"
#include "libmalleable/controller/report/summaries.h"
#include "policies/interface/registry.h"

/* Was there memory for all parts? */
static bool is_complete(const struct mal_controller *controller)
{
	return controller->allocation && controller->leaving && controller->settling &&
	       controller->agent && controller->sampling && controller->totalling &&
	       controller->doubting && controller->history && controller->overdue &&
	       (controller->step->arguments.nodes < 2 ||
		(controller->summaries && controller->imbalance));
}

int mal_controller_open(struct mal_controller *controller, const struct mal_step_facts *step,
			const struct mal_cpumask *idle, struct mal_error *err)
{
	unsigned int ranks = step->segment.rank_count;

	*controller = (struct mal_controller){
		.step = step,
		.allocation = mal_allocation_create(step, idle),
		.leaving = mal_leaving_create(),
		.settling = mal_settling_create(),
		.agent = mal_agent_link_create(),
		.sampling = mal_sampling_create(ranks),
		.totalling = mal_totalling_create(ranks),
		.doubting = mal_doubting_create(ranks),
		.history = mal_history_create(),
		.overdue = mal_overdue_create(),
		.summaries = step->arguments.nodes > 1 ? mal_summaries_create(step->arguments.nodes)
						       : NULL,
		.imbalance = step->arguments.nodes > 1 ? mal_imbalance_create(step) : NULL,
	};
	if (mal_plan_open(controller) < 0 || !is_complete(controller))
		return mal_fail(err, "out of memory");
	if (mal_plan_set_policy(controller, step->choice.policy, step->choice.values, err) < 0)
		return -1;
	/* Without memory for them nothing is predicted. */
	if (!mal_policy_acts(controller->deciding.policy))
		controller->alternatives = mal_alternatives_create(ranks);
	return 0;
}

void mal_controller_close(struct mal_controller *controller)
{
	/* They point into the allocation. */
	mal_alternatives_destroy(controller->alternatives);
	mal_plan_close(controller);
	mal_allocation_destroy(controller->allocation);
	mal_leaving_destroy(controller->leaving);
	mal_settling_destroy(controller->settling);
	mal_agent_link_destroy(controller->agent);
	mal_pool_clear(controller);
	mal_sampling_destroy(controller->sampling);
	mal_totalling_destroy(controller->totalling);
	mal_doubting_destroy(controller->doubting);
	mal_history_destroy(controller->history);
	mal_overdue_destroy(controller->overdue);
	mal_summaries_destroy(controller->summaries);
	mal_imbalance_destroy(controller->imbalance);
}
