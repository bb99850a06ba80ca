/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* step.c: a step's controller from its start to its end: its parts, and the loop over them. */
#include "libmalleable/controller/step.h"

#include <stdlib.h>
#include <time.h>

#include "libmalleable/base/clock.h"
#include "libmalleable/base/futex.h"
#include "libmalleable/controller/admin_switch.h"
#include "libmalleable/controller/clients.h"
#include "libmalleable/controller/control_socket.h"
#include "libmalleable/controller/cpus/allocation.h"
#include "libmalleable/controller/cpus/evict.h"
#include "libmalleable/controller/cpus/idle.h"
#include "libmalleable/controller/cpus/pool.h"
#include "libmalleable/controller/event_lines.h"
#include "libmalleable/controller/load/alternatives.h"
#include "libmalleable/controller/load/history.h"
#include "libmalleable/controller/load/plausibility.h"
#include "libmalleable/controller/load/recording.h"
#include "libmalleable/controller/load/sampling.h"
#include "libmalleable/controller/load/totals.h"
#include "libmalleable/controller/overdue.h"
#include "libmalleable/controller/planning.h"
#include "libmalleable/controller/ranks.h"
#include "libmalleable/controller/report/summaries.h"
#include "libmalleable/controller/state/controller.h"
#include "libmalleable/controller/state/watch.h"
#include "libmalleable/core/arguments.h"
#include "libmalleable/core/file_name.h"
#include "libmalleable/loadable/loadable.h"

/* How long the controller sleeps when nobody wakes it: usually, and after CPUs were lost. */
#define SLEEP_NS UINT64_C(250000000)
#define SLEEP_SETTLE_NS UINT64_C(20000000)
/* Kicks closer together than this are taken together. */
#define MIN_PAUSE_NS 200000

/* The user's files have the names that stand for %j and the like. */
static void name_files(struct mal_step_facts *step)
{
	struct mal_arguments *arguments = &step->arguments;
	const char **files[MAL_FILES] = {&arguments->report_file, &arguments->trace_file};

	for (size_t i = 0; i < MAL_FILES; i++)
		if (*files[i])
			*files[i] = mal_file_name(*files[i], arguments, step->files[i],
						  sizeof(step->files[i]), &step->derived[i]);
}

int mal_step_open(struct mal_step_facts *step, const struct mal_arguments *arguments,
		  struct mal_error *err)
{
	mal_clock_open();
	*step = (struct mal_step_facts){
		.arguments = *arguments,
		.started = mal_ticks(),
		.writer = {.step = arguments->step},
	};
	clock_gettime(CLOCK_REALTIME, &step->writer.since);
	name_files(step);
	if (mal_loadable_add(arguments->users_own, err) < 0 ||
	    mal_cpumask_parse(arguments->cpus, &step->allocation, err) < 0 ||
	    mal_loadable_choose(arguments->policy, arguments->libdir, NULL, &step->choice, err) <
		    0 ||
	    mal_segment_open(&step->segment, arguments->segment_fd, err) < 0)
		return -1;
	for (unsigned int cpu = 0; (cpu = mal_cpumask_next(&step->allocation, cpu)) < MAL_MAX_CPUS;
	     cpu++)
		if (cpu < step->segment.cpu_count)
			step->cpu[step->cpu_count++] = cpu;
	return 0;
}

int mal_controller_open(struct mal_controller *controller, const struct mal_step_facts *step,
			const struct mal_cpumask *idle, struct mal_error *err)
{
	controller->step = step;
	mal_allocation_add_idle(controller, idle);
	mal_plausibility_open(controller);
	mal_plan_open(controller);
	mal_sampling_open(controller);
	if (mal_recording_open(controller) < 0 ||
	    (step->arguments.nodes > 1 &&
	     !(controller->summaries = mal_summaries_create(step->arguments.nodes))))
		return mal_fail(err, "out of memory");
	return mal_plan_set_policy(controller, step->choice.policy, step->choice.values, err);
}

int mal_controller_start(struct mal_controller *controller, const struct mal_step_facts *step,
			 struct mal_error *err)
{
	const struct mal_arguments *arguments = &step->arguments;
	struct mal_cpumask idle = {{0}};

	if (arguments->idle && mal_cpumask_parse(arguments->idle, &idle, err) < 0)
		return -1;
	if (mal_controller_open(controller, step, &idle, err) < 0)
		return -1;
	if (mal_watch_start(controller, arguments->life_fd, err) < 0)
		return -1;
	if (arguments->listen_fd >= 0)
		mal_watch_channel(arguments->listen_fd);
	return 0;
}

void mal_controller_take_round(struct mal_controller *controller, struct mal_window *window)
{
	enum mal_round read = mal_round_read(controller, window);
	bool moves;

	/* In the first round, which has no window: it takes longer than ranks wait for a plan. */
	mal_allocation_read_places(controller);
	if (read == MAL_ROUND_WINDOW) {
		mal_overdue_end(controller, window);
		mal_totals_add(controller, window->samples);
		mal_history_note(controller, window);
		mal_recording_window(controller, window);
		mal_alternatives_window(controller, window);
		moves = !controller->plausibility.now && mal_plan_make(controller, window);
		mal_sampling_adapt(controller, moves);
		mal_overdue_begin(controller, window, moves);
		/* Last: the window knows nothing of it. */
		mal_idle_hand_out(controller);
	} else if (read == MAL_ROUND_THROWN_AWAY) {
		mal_recording_skip(controller);
	}
	mal_round_begin(controller);
}

void mal_controller_serve(struct mal_controller *controller)
{
	static struct mal_window window;
	struct mal_header *header = controller->step->segment.header;
	struct timespec pause = {0, MIN_PAUSE_NS};
	bool soon;

	atomic_store(&header->pages, controller->step->choice.keys.pages);
	mal_plan_begin(controller);
	mal_overdue_begin(controller, NULL, false);
	while (!atomic_load(&controller->ending)) {
		uint32_t wake = atomic_load(&header->wake);

		if (mal_ranks_update(controller)) {
			if (controller->pool)
				mal_evict_rebind(controller);
			mal_round_begin(controller);
			mal_overdue_begin(controller, NULL, false);
		} else if (mal_round_is_complete(controller))
			mal_controller_take_round(controller, &window);
		else
			mal_round_look(controller);
		if (atomic_exchange(&controller->asked, false))
			mal_control_serve(controller);
		mal_admin_switch_update(controller);
		mal_pool_update(controller);
		mal_evict_settle(controller);
		mal_overdue_look(controller);
		soon = mal_events_look(controller) || controller->settling.until;
		mal_futex_wait(&header->wake, wake, soon ? SLEEP_SETTLE_NS : SLEEP_NS);
		/* A hostile rank may kick without end; a round is never that urgent. */
		if (atomic_load(&header->wake) - wake > 1000)
			nanosleep(&pause, NULL);
	}
	atomic_store(&header->over, true);
	mal_ranks_update(controller);
	mal_events_look(controller);
	/* Who reads events sees the end now, not after the report. */
	mal_clients_close(controller);
}

void mal_controller_close(struct mal_controller *controller)
{
	mal_alternatives_close(controller);
	mal_plan_close(controller);
	mal_plausibility_close(controller);
	free(controller->history);
	free(controller->recording);
	free(controller->summaries);
	free(controller->pool);
}
