/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* overdue.c: what to do where a window lasts very much longer than the last one. */
#include "libmalleable/controller/overdue.h"

#include <math.h>
#include <string.h>

#include "libmalleable/base/clock.h"
#include "libmalleable/controller/cpus/owners.h"
#include "libmalleable/controller/planning.h"

/* A move is taken back where a window lasts so many times as long as the last, and this long. */
#define TIMES 4
#define LEAST_S 0.5

void mal_overdue_begin(struct mal_controller *controller, const struct mal_window *window,
		       bool moves)
{
	controller->overdue_own.due =
		mal_ticks() + mal_s_to_ticks(fmax(window ? TIMES * window->elapsed_s : 0, LEAST_S));
	controller->overdue_own.plan = moves ? controller->deciding.plans : 0;
	controller->overdue_own.back = 0;
}

void mal_overdue_look(struct mal_controller *controller)
{
	if (!controller->overdue.plan || mal_ticks() < controller->overdue.due)
		return;
	/* Orders or the administrator's switch may have come after it. */
	if (controller->overdue.plan == controller->deciding.plans) {
		mal_read_owners(controller, controller->overdue_own.moved);
		mal_plan_take_back(controller, controller->overdue.before);
		controller->overdue_own.back = controller->deciding.plans;
		controller->overdue_own.taken_back = mal_ticks();
	}
	controller->overdue_own.plan = 0;
}

/*
 * Whether a move was taken back in WINDOW. One that does not count may have ended since, and orders
 * may have come, or CPUs been withdrawn.
 */
static bool is_of_move(const struct mal_controller *controller, const struct mal_window *window)
{
	unsigned int ranks = controller->step->segment.rank_count;

	if (!controller->overdue.back || controller->overdue.back != controller->deciding.plans ||
	    window->elapsed_s < mal_ticks_to_s(mal_ticks() - controller->overdue.taken_back))
		return false;
	for (unsigned int i = 0; i < controller->step->cpu_count; i++)
		if ((controller->overdue.moved[i] < ranks) != (window->owner[i] < ranks))
			return false;
	return true;
}

void mal_overdue_end(struct mal_controller *controller, struct mal_window *window)
{
	memcpy(controller->overdue_own.before, window->owner, sizeof(controller->overdue.before));
	if (is_of_move(controller, window))
		mal_window_set_owners(controller, window, controller->overdue.moved);
}
