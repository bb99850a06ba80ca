/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* main.c: malleabled, the malleability controller of one step on one node. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "libmalleable/base/clock.h"
#include "libmalleable/base/confine.h"
#include "libmalleable/base/futex.h"
#include "libmalleable/base/patience.h"
#include "libmalleable/controller/admin_switch.h"
#include "libmalleable/controller/control.h"
#include "libmalleable/controller/cpus/idle.h"
#include "libmalleable/controller/cpus/pool.h"
#include "libmalleable/controller/detach.h"
#include "libmalleable/controller/ending.h"
#include "libmalleable/controller/load/alternatives.h"
#include "libmalleable/controller/load/doubt.h"
#include "libmalleable/controller/load/history.h"
#include "libmalleable/controller/load/recording.h"
#include "libmalleable/controller/load/sampling.h"
#include "libmalleable/controller/load/totals.h"
#include "libmalleable/controller/overdue.h"
#include "libmalleable/controller/parts.h"
#include "libmalleable/controller/planning.h"
#include "libmalleable/controller/share.h"
#include "libmalleable/controller/state/controller.h"
#include "libmalleable/controller/state/last.h"
#include "libmalleable/controller/state/topology.h"
#include "libmalleable/controller/state/watch.h"
#include "libmalleable/core/arguments.h"
#include "libmalleable/core/file_name.h"
#include "libmalleable/loadable/loadable.h"
#include "policies/interface/registry.h"

/* How long the controller sleeps when nobody wakes it: usually, and after CPUs were lost. */
#define SLEEP_NS UINT64_C(250000000)
#define SLEEP_SETTLE_NS UINT64_C(20000000)
/* Kicks closer together than this are taken together. */
#define MIN_PAUSE_NS 200000

static void usage(FILE *out)
{
	fputs("Usage: malleabled --segment-fd N --life-fd N --cpus LIST [OPTIONS]\n"
	      "\n"
	      "The malleability controller of one job step on one node. The balance plugin of\n"
	      "Slurm and `malleable run` start it; it is of no use by itself.\n"
	      "\n",
	      out);
	mal_arguments_print(out);
	fputs("  --help, --version\n", out);
}

/* Returns 0 to go on, 1 to end well, -1 on bad arguments. */
static int parse_arguments(int argc, char **argv, struct mal_arguments *arguments)
{
	struct mal_error err;
	int next;

	*arguments = (struct mal_arguments){
		MAL_ARGUMENTS_NO_FDS, .policy = "", .step = "?", .node = "?", .libdir = MAL_LIBDIR,
	};
	next = mal_arguments_parse(argc, argv, arguments, &err);
	if (next == 0)
		usage(stdout);
	if (next == -2)
		puts("malleabled " PACKAGE_VERSION);
	if (next == 0 || next == -2)
		return 1;
	if (next > 0 && (arguments->segment_fd < 0 || arguments->life_fd < 0 || !arguments->cpus ||
			 next < argc))
		next = mal_fail(&err, "--segment-fd, --life-fd and --cpus are needed, and nothing "
				      "beside options");
	if (next < 0)
		fprintf(stderr, "malleabled: %s, see malleabled --help\n", err.text);
	return next < 0 ? -1 : 0;
}

/* The user's files have the names that stand for %j and the like; the hostfile is one of all. */
static void name_files(struct mal_step_facts *step)
{
	struct mal_arguments *arguments = &step->arguments;
	const char **files[MAL_FILES] = {&arguments->report_file, &arguments->trace_file,
					 &arguments->hostfile};

	for (size_t i = 0; i < MAL_FILES; i++) {
		const struct mal_file_facts facts = {
			.step = arguments->step,
			.node = arguments->node,
			.job_name = arguments->job_name,
			.array_job = arguments->array_job,
			.array_task = arguments->array_task,
			.node_number = arguments->node_number,
			.node_files = arguments->node_files && files[i] != &arguments->hostfile,
		};

		if (*files[i])
			*files[i] = mal_file_name(*files[i], &facts, step->files[i],
						  sizeof(step->files[i]), &step->derived[i]);
	}
}

static int open_step(struct mal_step_facts *step, const struct mal_arguments *arguments,
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

static int open_controller(struct mal_controller *controller, const struct mal_step_facts *step,
			   struct mal_error *err)
{
	const struct mal_arguments *arguments = &step->arguments;
	struct mal_cpumask idle = {{0}};

	if (arguments->idle && mal_cpumask_parse(arguments->idle, &idle, err) < 0)
		return -1;
	if (mal_controller_open(controller, step, &idle, err) < 0)
		return -1;
	if (arguments->trace_file)
		controller->recording = mal_recording_create(arguments->trace_file, arguments->step,
							     arguments->node);
	if (mal_watch_start(controller, arguments->life_fd, err) < 0)
		return -1;
	mal_control_open(controller);
	return mal_share_open(controller, arguments->agent_fd, err);
}

/*
 * A round of samples has arrived: learn from it, decide, and ask for the next. What is idle is
 * handed out last: the window knows nothing of it.
 */
static void take_round(struct mal_controller *controller, struct mal_window *window)
{
	bool moves;

	if (mal_round_read(controller, window)) {
		mal_overdue_end(controller, window);
		mal_last_keep(controller, window->samples);
		mal_totals_add(controller, window->samples);
		mal_history_note(controller, window);
		mal_topology_read(controller);
		mal_recording_window(controller->recording, controller, window);
		mal_alternatives_window(controller->alternatives, controller, window);
		moves = !mal_doubt_read(controller)->now && mal_plan_make(controller, window);
		mal_sampling_adapt(controller, moves);
		mal_overdue_begin(controller, window, moves);
		mal_idle_hand_out(controller);
	}
	mal_round_begin(controller);
}

static int serve(struct mal_controller *controller, struct mal_error *err)
{
	struct mal_header *header = controller->step->segment.header;
	struct mal_window *window = calloc(1, sizeof(*window));
	struct timespec pause = {0, MIN_PAUSE_NS};

	if (!window)
		return mal_fail(err, "out of memory");
	mal_plan_begin(controller);
	mal_overdue_begin(controller, NULL, false);
	while (!atomic_load(&controller->ending)) {
		uint32_t wake = atomic_load(&header->wake);

		if (mal_ranks_update(controller)) {
			if (controller->pool)
				mal_idle_rebind(controller);
			mal_round_begin(controller);
			mal_overdue_begin(controller, NULL, false);
		} else if (mal_round_is_complete(controller))
			take_round(controller, window);
		else
			mal_round_look(controller);
		if (atomic_exchange(&controller->asked, false))
			mal_control_serve(controller);
		mal_share_update(controller);
		mal_admin_switch_update(controller);
		mal_pool_update(controller);
		mal_idle_settle(controller);
		mal_overdue_look(controller);
		mal_futex_wait(&header->wake, wake,
			       mal_idle_is_settling(controller) ? SLEEP_SETTLE_NS : SLEEP_NS);
		/* A hostile rank may kick without end; a round is never that urgent. */
		if (atomic_load(&header->wake) - wake > 1000)
			nanosleep(&pause, NULL);
	}
	atomic_store(&header->over, true);
	mal_ranks_update(controller);
	free(window);
	return 0;
}

/* Run the step that ARGUMENTS describe up to its end, and close SITE_REPORT, which may be NULL. */
static int run(const struct mal_arguments *arguments, FILE *site_report, struct mal_error *err)
{
	/* Other threads look at these, and into the segment, for as long as this process lives. */
	static struct mal_controller controller;
	static struct mal_step_facts step;
	int result = open_step(&step, arguments, err);

	if (result == 0)
		result = open_controller(&controller, &step, err);
	if (result == 0)
		result = serve(&controller, err);
	if (result == 0)
		mal_ending_report(&controller, site_report);
	else if (site_report)
		fclose(site_report);
	mal_controller_close(&controller);
	return result;
}

int main(int argc, char **argv)
{
	struct mal_arguments arguments;
	struct mal_error err = {""};
	FILE *site_report;
	int result = parse_arguments(argc, argv, &arguments);

	if (result)
		return result > 0 ? 0 : 2;
	mal_ignore_signals();
	mal_patience_set(arguments.patience);
	site_report = mal_ending_site_file(&arguments);
	if (arguments.start_fd >= 0 && mal_detach(&arguments, &err) < 0) {
		fprintf(stderr, "malleabled: %s\n", err.text);
		if (site_report)
			fclose(site_report);
		return 1;
	}
	/* Where root may not write, as on a file system of the network, the user may. */
	if (arguments.site_report && !site_report && arguments.becomes_user)
		site_report = mal_ending_site_file(&arguments);
	mal_wake_at_end(arguments.life_fd);
	/* Policies that the site adds after this are for steps that start later. */
	mal_confine(arguments.users_own || mal_loadable_has_any(arguments.libdir));
	if (run(&arguments, site_report, &err) == 0)
		return 0;
	fprintf(stderr, "malleabled: %s\n", err.text);
	return 1;
}
