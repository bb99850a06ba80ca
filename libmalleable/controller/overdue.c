/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* overdue.c: what to do where a window lasts very much longer than the last one. */
#include "libmalleable/controller/overdue.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "libmalleable/base/clock.h"
#include "libmalleable/controller/cpus/owners.h"
#include "libmalleable/controller/load/sampling.h"
#include "libmalleable/controller/planning.h"
#include "libmalleable/controller/state/deciding.h"

/* Lending pauses where a window lasts so many times as long as usual, and this long at least. */
#define TIMES 8
#define LEAST_S 0.5
/* A move is taken back where it lasts so many times as long as the last one, and LEAST_S. */
#define TIMES_MOVED 4
/*
 * What is usual at first, and how fast it grows from window to window: what was long as ranks
 * harmed each other is not usual. At first it is so long that no pause hits the setup of data,
 * whose regions may take a second.
 */
#define FIRST_S 0.2
#define GROWS 2
/* A window of LEAST_S in which so many phases ended was planned for shorter ones. */
#define PHASES_MANY 8
/* Lending pauses for so long: ranks know how long regions take after 0.2 s. */
#define PAUSE_S 0.3
/* If the window goes on, lending pauses again when it has lasted so many times as long. */
#define AGAIN 4
/*
 * All pauses take so long, and this part of the time so far, at most: where some phases are just
 * longer than others, pauses help nothing.
 */
#define PAUSES_S 1.5
#define PAUSES_PART 0.01

struct mal_overdue {
	uint64_t began, due; /* ticks of the window's begin, and of the next pause or its end */
	uint64_t move_due;   /* tick at which the move is taken back */
	uint64_t phases_due; /* tick at which phases are looked at */
	double usual_s;	     /* of a window */
	double patience_s;   /* from its begin to the next pause */
	bool pauses;
	double paused_s;     /* so far, in sum */
	uint32_t plan;	     /* the one that moved CPUs as the window began; 0: none did */
	uint32_t back;	     /* the one that took it back; 0: none did */
	uint64_t taken_back; /* tick at which it did */
	/* By CPU of the step: owners before the move, and when it was taken back. */
	unsigned int before[MAL_MAX_CPUS], moved[MAL_MAX_CPUS];
};

struct mal_overdue *mal_overdue_create(void)
{
	struct mal_overdue *overdue = calloc(1, sizeof(*overdue));

	if (overdue)
		overdue->usual_s = FIRST_S;
	return overdue;
}

void mal_overdue_destroy(struct mal_overdue *overdue)
{
	free(overdue);
}

static void pause_lending(struct mal_controller *controller, bool pause)
{
	controller->overdue->pauses = pause;
	mal_deciding_pause_lending(controller, pause);
}

void mal_overdue_begin(struct mal_controller *controller, const struct mal_window *window,
		       bool moves)
{
	struct mal_overdue *overdue = controller->overdue;
	double last_s = window ? window->elapsed_s : 0;

	if (window)
		overdue->usual_s = fmin(last_s, GROWS * overdue->usual_s);
	overdue->began = mal_ticks();
	overdue->patience_s = fmax(TIMES * overdue->usual_s, LEAST_S);
	overdue->due = overdue->began + mal_s_to_ticks(overdue->patience_s);
	overdue->move_due = overdue->began + mal_s_to_ticks(fmax(TIMES_MOVED * last_s, LEAST_S));
	overdue->phases_due = overdue->began + mal_s_to_ticks(LEAST_S);
	overdue->plan = moves ? mal_deciding_plans(controller) : 0;
	overdue->back = 0;
	pause_lending(controller, false);
}

/* Orders or the administrator's switch may have come after it. */
static void take_back(struct mal_controller *controller, uint64_t now)
{
	struct mal_overdue *overdue = controller->overdue;

	if (overdue->plan == mal_deciding_plans(controller)) {
		mal_read_owners(controller, overdue->moved);
		mal_plan_take_back(controller, overdue->before);
		overdue->back = mal_deciding_plans(controller);
		overdue->taken_back = now;
	}
	overdue->plan = 0;
}

static bool may_pause(const struct mal_controller *controller, uint64_t now)
{
	double run_s = mal_ticks_to_s(now - controller->step->started);

	return controller->overdue->paused_s < PAUSES_S + PAUSES_PART * run_s;
}

uint64_t mal_overdue_look(struct mal_controller *controller)
{
	struct mal_overdue *overdue = controller->overdue;
	uint64_t now = mal_ticks(), next;
	bool moved = overdue->plan && now >= overdue->move_due;

	if (now >= overdue->phases_due) {
		mal_round_hurry(controller, PHASES_MANY);
		overdue->phases_due = now + mal_s_to_ticks(LEAST_S);
	}
	if (moved)
		take_back(controller, now);
	if (!overdue->pauses && (moved || now >= overdue->due) && may_pause(controller, now)) {
		pause_lending(controller, true);
		overdue->paused_s += PAUSE_S;
		overdue->due = now + mal_s_to_ticks(PAUSE_S);
	} else if (now >= overdue->due) {
		pause_lending(controller, false);
		overdue->patience_s *= AGAIN;
		overdue->due = overdue->began + mal_s_to_ticks(overdue->patience_s);
	}
	next = overdue->phases_due < overdue->due ? overdue->phases_due : overdue->due;
	if (overdue->plan && overdue->move_due < next)
		next = overdue->move_due;
	return next > now ? (uint64_t)(mal_ticks_to_s(next - now) * 1e9) : 0;
}

/*
 * Whether a move was taken back in WINDOW. One that does not count may have ended since, and orders
 * may have come, or CPUs been withdrawn.
 */
static bool is_of_move(const struct mal_controller *controller, const struct mal_window *window)
{
	const struct mal_overdue *overdue = controller->overdue;
	unsigned int ranks = controller->step->segment.rank_count;

	if (!overdue->back || overdue->back != mal_deciding_plans(controller) ||
	    window->elapsed_s < mal_ticks_to_s(mal_ticks() - overdue->taken_back))
		return false;
	for (unsigned int i = 0; i < controller->step->cpu_count; i++)
		if ((overdue->moved[i] < ranks) != (window->owner[i] < ranks))
			return false;
	return true;
}

void mal_overdue_end(struct mal_controller *controller, struct mal_window *window)
{
	struct mal_overdue *overdue = controller->overdue;

	memcpy(overdue->before, window->owner, sizeof(overdue->before));
	if (is_of_move(controller, window))
		mal_window_set_owners(controller, window, overdue->moved);
}
