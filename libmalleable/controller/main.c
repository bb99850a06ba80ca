/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* main.c: malleabled, the malleability controller of one step on one node. */
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libmalleable/controller/alternatives.h"
#include "libmalleable/controller/between.h"
#include "libmalleable/controller/control.h"
#include "libmalleable/controller/controller.h"
#include "libmalleable/controller/detach.h"
#include "libmalleable/controller/history.h"
#include "libmalleable/controller/idle.h"
#include "libmalleable/controller/nodes.h"
#include "libmalleable/controller/off.h"
#include "libmalleable/controller/pages.h"
#include "libmalleable/controller/planning.h"
#include "libmalleable/controller/pool.h"
#include "libmalleable/controller/recording.h"
#include "libmalleable/controller/report.h"
#include "libmalleable/controller/sampling.h"
#include "libmalleable/controller/share.h"
#include "libmalleable/controller/topology.h"
#include "libmalleable/controller/totals.h"
#include "libmalleable/controller/watch.h"
#include "libmalleable/core/clock.h"
#include "libmalleable/core/futex.h"
#include "libmalleable/loadable/loadable.h"
#include "policies/registry.h"

/* How long the controller sleeps when nobody kicks it: without a switch to look at, with one, with a pool of CPUs, after some were lost. */
#define SLEEP_NS UINT64_C(10000000000)
#define SLEEP_SWITCH_NS UINT64_C(1000000000)
#define SLEEP_POOL_NS UINT64_C(250000000)
#define SLEEP_SETTLE_NS UINT64_C(20000000)
/* Kicks closer together than this are taken together. */
#define LEAST_PAUSE_NS 200000

struct arguments {
	int segment_fd;
	int life_fd;
	int report_fd;
	const char *policy;
	const char *cpus;
	const char *step;
	const char *node;
	const char *libdir;
	const char *allowed;
	const char *idle;
	const char *report_file;
	const char *trace_file;
	const char *off_file;
	const char *hostfile;
	unsigned int min_cpus, nodes;
	int agent_fd;
	bool detach;
};

static void usage(FILE *out)
{
	fputs("Usage: malleabled --segment-fd N --life-fd N --cpus LIST [OPTIONS]\n"
	      "\n"
	      "The malleability controller of one job step on one node. The balance plugin of Slurm and\n"
	      "`malleable run` start it; it is of no use by itself.\n"
	      "\n"
	      "  --segment-fd N     descriptor of the step's segment\n"
	      "  --life-fd N        read end of a pipe: when its other end closes, the step is over\n"
	      "  --report-fd N      where the report goes as text\n"
	      "  --report-file F    where it goes as JSON\n"
	      "  --trace-file F     where the step is recorded\n"
	      "  --cpus LIST        the step's CPUs on this node\n"
	      "  --idle LIST        CPUs beside the step's that the ranks may use (grow=job); --cpus has them too\n"
	      "  --policy P[,K=V]   as in srun --balance\n"
	      "  --step S, --node N names for the report\n"
	      "  --policies LIST    those that malleable set may set\n"
	      "  --libdir D         where loadable policies and what runs them are\n"
	      "  --off-file F       while this file of root is there nothing is balanced\n"
	      "  --agent-fd N       connection to the node's agent, where jobs share CPUs\n"
	      "  --min-cpus N       every rank keeps so many CPUs, where there are enough\n"
	      "  --nodes N          the step is over so many\n"
	      "  --hostfile F       where a better placement of its ranks on these is written\n"
	      "  --detach           leave the parent, write the new process's number to --report-fd\n"
	      "  --help, --version\n",
	      out);
}

static int parse_fd(const char *text)
{
	char *end;
	long fd = strtol(text, &end, 10);

	return *end || end == text || fd < 0 || fd > 1 << 20 ? -1 : (int)fd;
}

/* Returns 0 to go on, 1 to end well, -1 on bad arguments. */
static int parse_arguments(int argc, char **argv, struct arguments *arguments)
{
	static const struct option options[] = {
		{"segment-fd", required_argument, NULL, 's'},
		{"life-fd", required_argument, NULL, 'l'},
		{"report-fd", required_argument, NULL, 'r'},
		{"report-file", required_argument, NULL, 'f'},
		{"trace-file", required_argument, NULL, 't'},
		{"cpus", required_argument, NULL, 'c'},
		{"policy", required_argument, NULL, 'p'},
		{"libdir", required_argument, NULL, 'L'},
		{"policies", required_argument, NULL, 'P'},
		{"idle", required_argument, NULL, 'i'},
		{"detach", no_argument, NULL, 'd'},
		{"step", required_argument, NULL, 'S'},
		{"node", required_argument, NULL, 'n'},
		{"help", no_argument, NULL, 'h'},
		{"off-file", required_argument, NULL, 'o'},
		{"agent-fd", required_argument, NULL, 'a'},
		{"min-cpus", required_argument, NULL, 'm'},
		{"nodes", required_argument, NULL, 'N'},
		{"hostfile", required_argument, NULL, 'H'},
		{"version", no_argument, NULL, 'V'},
		{NULL, 0, NULL, 0},
	};
	int option;

	*arguments = (struct arguments){
		.segment_fd = -1,
		.life_fd = -1,
		.report_fd = -1,
		.agent_fd = -1,
		.policy = "",
		.step = "?",
		.node = "?",
		.libdir = MAL_LIBDIR,
	};
	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (option) {
		case 's': arguments->segment_fd = parse_fd(optarg); break;
		case 'l': arguments->life_fd = parse_fd(optarg); break;
		case 'r': arguments->report_fd = parse_fd(optarg); break;
		case 'f': arguments->report_file = optarg; break;
		case 't': arguments->trace_file = optarg; break;
		case 'c': arguments->cpus = optarg; break;
		case 'p': arguments->policy = optarg; break;
		case 'S': arguments->step = optarg; break;
		case 'n': arguments->node = optarg; break;
		case 'L': arguments->libdir = optarg; break;
		case 'P': arguments->allowed = optarg; break;
		case 'i': arguments->idle = optarg; break;
		case 'd': arguments->detach = true; break;
		case 'a': arguments->agent_fd = parse_fd(optarg); break;
		case 'o': arguments->off_file = optarg; break;
		case 'm': arguments->min_cpus = (unsigned int)strtoul(optarg, NULL, 10); break;
		case 'N': arguments->nodes = (unsigned int)strtoul(optarg, NULL, 10); break;
		case 'H': arguments->hostfile = optarg; break;
		case 'h': usage(stdout); return 1;
		case 'V': puts("malleabled " PACKAGE_VERSION); return 1;
		default: return -1;
		}
	}
	if (arguments->segment_fd < 0 || arguments->life_fd < 0 || !arguments->cpus || optind < argc) {
		fputs("malleabled: --segment-fd, --life-fd and --cpus are needed, and nothing else, see --help\n",
		      stderr);
		return -1;
	}
	return 0;
}

static int open_controller(struct mal_controller *controller, const struct arguments *arguments, struct mal_error *err)
{
	mal_clock_open();
	controller->started = mal_ticks();
	controller->stride = 1;
	controller->step = arguments->step;
	controller->node = arguments->node;
	controller->libdir = arguments->libdir;
	controller->allowed = arguments->allowed;
	controller->off_file = arguments->off_file;
	controller->listening = -1;
	controller->window_s = MAL_WINDOW_FIRST_S;
	if (mal_cpumask_parse(arguments->cpus, &controller->allocation, err) < 0 ||
	    (arguments->idle && mal_cpumask_parse(arguments->idle, &controller->idle, err) < 0) ||
	    mal_loadable_use(arguments->policy, arguments->libdir, err) < 0 ||
	    mal_choose(arguments->policy, NULL, MAL_POLICY_DEFAULT, &controller->choice, err) < 0 ||
	    mal_segment_open(&controller->segment, arguments->segment_fd, err) < 0)
		return -1;
	for (unsigned int cpu = 0; (cpu = mal_cpumask_next(&controller->allocation, cpu)) < MAL_MAX_CPUS; cpu++)
		if (cpu < controller->segment.cpu_count)
			controller->cpu[controller->cpu_count++] = cpu;
	controller->ranks = calloc(controller->segment.rank_count, sizeof(*controller->ranks));
	controller->last = calloc(controller->segment.rank_count, sizeof(*controller->last));
	if (mal_orders_open(&controller->orders, controller->segment.rank_count, controller->cpu_count) < 0 ||
	    mal_nodes_open(controller, arguments->nodes, arguments->hostfile) < 0 || !controller->ranks ||
	    !controller->last)
		return mal_fail(err, "out of memory");
	controller->orders.floor = arguments->min_cpus;
	if (mal_plan_use(controller, controller->choice.policy, controller->choice.values, err) < 0)
		return -1;
	if (arguments->trace_file)
		controller->recording = mal_recording_create(arguments->trace_file, arguments->step, arguments->node);
	if (!mal_policy_acts(controller->policy))
		controller->alternatives = mal_alternatives_create(controller->segment.rank_count);
	if (mal_watch_start(controller, arguments->life_fd, err) < 0)
		return -1;
	mal_control_open(controller);
	mal_share_open(controller, arguments->agent_fd);
	return 0;
}

static void close_controller(struct mal_controller *controller)
{
	mal_plan_use(controller, NULL, NULL, NULL);
	mal_history_clear(controller);
	mal_nodes_close(controller);
	mal_pool_clear(controller);
	mal_alternatives_destroy(controller->alternatives);
	mal_orders_close(&controller->orders);
	free(controller->last);
	free(controller->ranks);
	mal_segment_close(&controller->segment);
}

/* A round of samples has arrived: learn from it, decide, and ask for the next. */
static void take_round(struct mal_controller *controller, struct mal_sample *samples)
{
	if (mal_round_read(controller, samples)) {
		memcpy(controller->last, samples, controller->segment.rank_count * sizeof(*samples));
		mal_totals_add(controller, samples);
		mal_idle_share_out(controller);
		mal_history_note(controller);
		mal_topology_read(controller);
		mal_recording_window(controller->recording, controller, samples);
		mal_alternatives_window(controller->alternatives, controller, samples);
		if (mal_plan_make(controller, samples)) {
			controller->steady = 0;
			controller->window_s = MAL_WINDOW_FIRST_S;
		} else if (controller->brief) {
			controller->window_s = MAL_WINDOW_FIRST_S;
		} else if (++controller->steady > 2 && controller->window_s < MAL_WINDOW_LAST_S) {
			controller->window_s *= 2;
		}
		mal_pages_follow(controller);
	}
	mal_round_begin(controller);
}

static uint64_t how_long(const struct mal_controller *controller)
{
	if (controller->settle_until)
		return SLEEP_SETTLE_NS;
	if (controller->pool)
		return SLEEP_POOL_NS;
	return controller->off_file ? SLEEP_SWITCH_NS : SLEEP_NS;
}

static int serve(struct mal_controller *controller)
{
	struct mal_header *header = controller->segment.header;
	struct mal_sample *samples = calloc(controller->segment.rank_count, sizeof(*samples));
	struct timespec pause = {0, LEAST_PAUSE_NS};

	if (!samples)
		return -1;
	mal_plan_begin(controller);
	while (!atomic_load(&controller->ending)) {
		uint32_t kick = atomic_load(&header->kick);

		if (mal_ranks_update(controller)) {
			if (controller->pool)
				mal_idle_rebind(controller);
			mal_round_begin(controller);
		} else if (mal_round_is_complete(controller))
			take_round(controller, samples);
		if (atomic_exchange(&controller->asked, false))
			mal_control_serve(controller);
		mal_share_update(controller);
		mal_off_update(controller);
		mal_pool_update(controller);
		mal_idle_settle(controller);
		mal_futex_wait(&header->kick, kick, how_long(controller));
		/* A hostile rank may kick without end; a round is never that urgent. */
		if (atomic_load(&header->kick) - kick > 1000)
			nanosleep(&pause, NULL);
	}
	mal_ranks_update(controller);
	free(samples);
	return 0;
}

/* End the recording; what went wrong with it is appended to TEXT. */
static size_t end_recording(struct mal_controller *controller, char *text, size_t length, size_t size)
{
	struct mal_error err;

	if (mal_recording_destroy(controller->recording, &err) < 0 && length < size)
		length += (size_t)snprintf(text + length, size - length, "%s\n", err.text);
	controller->recording = NULL;
	return length;
}

/* Of a step over several nodes each has a line, from itself or from the first one. */
static size_t tell_user(const struct mal_controller *controller, const struct mal_report *report, char *text,
			size_t size)
{
	if (!controller->nodes)
		return mal_report_text(controller, report, text, size);
	switch (mal_nodes_part(controller)) {
	case MAL_NODES_ALL: return mal_between_text(controller, text, size);
	case MAL_NODES_ONE: return mal_report_line(controller, report, text, size);
	default: return 0;
	}
}

static void report(struct mal_controller *controller, const struct arguments *arguments)
{
	struct mal_report report;
	struct mal_error err;
	char text[3072];
	size_t length;

	if (!mal_report_make(controller, arguments->step, arguments->node, &report)) {
		end_recording(controller, text, 0, sizeof(text));
		return;
	}
	/* A line for who wants no more, then what the user is told. */
	mal_between_find(controller);
	length = mal_report_line(controller, &report, text, sizeof(text));
	length += tell_user(controller, &report, text + length, sizeof(text) - length);
	if (arguments->report_file && mal_report_json(controller, &report, arguments->report_file, &err) < 0 &&
	    length < sizeof(text))
		length += (size_t)snprintf(text + length, sizeof(text) - length, "%s\n", err.text);
	length = end_recording(controller, text, length, sizeof(text));
	if (length > sizeof(text))
		length = sizeof(text);
	if (arguments->report_fd >= 0 && write(arguments->report_fd, text, length) < 0)
		return;
}

int main(int argc, char **argv)
{
	struct mal_controller controller = {0};
	struct arguments arguments;
	struct mal_error err = {""};
	int result = parse_arguments(argc, argv, &arguments);

	if (result)
		return result > 0 ? 0 : 2;
	if (mal_give_up_root(&err) < 0 || (arguments.detach && mal_detach(arguments.report_fd, &err) < 0)) {
		fprintf(stderr, "malleabled: %s\n", err.text);
		return 1;
	}
	/* The terminal's keys and the launcher's signals are for the ranks: the pipe alone ends the controller. */
	signal(SIGINT, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
	result = open_controller(&controller, &arguments, &err);
	if (result == 0)
		result = serve(&controller);
	if (result == 0)
		report(&controller, &arguments);
	else
		fprintf(stderr, "malleabled: %s\n", err.text);
	close_controller(&controller);
	return result ? 1 : 0;
}
