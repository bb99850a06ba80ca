/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* overdue.c: what to do where a window lasts very much longer than the last one. */
#include "libmalleable/controller/overdue.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "libmalleable/base/clock.h"
#include "libmalleable/controller/cpus/owners.h"
#include "libmalleable/controller/planning.h"
#include "libmalleable/controller/state/deciding.h"

/* A window may last so many times as long as usual, behind a move, and this long in any case. */
#define TIMES 8
#define TIMES_MOVED 4
#define LEAST_S 0.5
/* What is usual at first, and how fast it grows from window to window. */
#define FIRST_S 0.1
#define GROWS 2
/* Lending pauses for so long: ranks know how long regions take after 0.2 s. */
#define PAUSE_S 0.3
/* If the window goes on, lending pauses again when it has lasted so many times as long. */
#define AGAIN 4

struct mal_overdue {
	uint64_t began, due; /* ticks of the window's begin, and of the next pause or its end */
	double usual_s;	     /* of a window */
	double patience_s;   /* from its begin to the next pause */
	bool pauses;
	uint32_t plan; /* the one that moved CPUs as the window began; 0: none did */
	bool taken_back;
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
	double last_s = 0;

	for (unsigned int rank = 0; window && rank < controller->step->segment.rank_count; rank++)
		if (window->samples[rank].elapsed_s > last_s)
			last_s = window->samples[rank].elapsed_s;
	if (window)
		overdue->usual_s = fmin(last_s, GROWS * overdue->usual_s);
	overdue->began = mal_ticks();
	overdue->patience_s = fmax((moves ? TIMES_MOVED : TIMES) * overdue->usual_s, LEAST_S);
	overdue->due = overdue->began + mal_s_to_ticks(overdue->patience_s);
	overdue->plan = moves ? mal_deciding_plans(controller) : 0;
	if (moves)
		memcpy(overdue->before, window->owner, sizeof(overdue->before));
	pause_lending(controller, false);
}

/* Orders or the administrator's switch may have come after it. */
static void take_back(struct mal_controller *controller)
{
	struct mal_overdue *overdue = controller->overdue;

	if (overdue->plan && overdue->plan == mal_deciding_plans(controller)) {
		mal_read_owners(controller, overdue->moved);
		mal_plan_publish(controller, overdue->before);
		overdue->taken_back = true;
	}
	overdue->plan = 0;
}

uint64_t mal_overdue_look(struct mal_controller *controller)
{
	struct mal_overdue *overdue = controller->overdue;
	uint64_t now = mal_ticks();

	if (now >= overdue->due && !overdue->pauses) {
		take_back(controller);
		pause_lending(controller, true);
		overdue->due = now + mal_s_to_ticks(PAUSE_S);
	} else if (now >= overdue->due) {
		pause_lending(controller, false);
		overdue->patience_s *= AGAIN;
		overdue->due = overdue->began + mal_s_to_ticks(overdue->patience_s);
	}
	return overdue->due > now ? (uint64_t)(mal_ticks_to_s(overdue->due - now) * 1e9) : 0;
}

void mal_overdue_end(struct mal_controller *controller, struct mal_window *window)
{
	struct mal_overdue *overdue = controller->overdue;

	if (overdue->taken_back)
		mal_window_set_owners(controller, window, overdue->moved);
	overdue->taken_back = false;
}
