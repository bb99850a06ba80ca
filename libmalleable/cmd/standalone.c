/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * standalone.c: a controller that no plugin started.
 *
 * Invariant: a controller ends with the ranks that it is for (t/t2003-run.t).
 */
#include "libmalleable/cmd/standalone.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libmalleable/base/channel.h"
#include "libmalleable/base/patience.h"
#include "libmalleable/base/printable.h"
#include "libmalleable/core/outcome.h"
#include "libmalleable/core/report_wish.h"
#include "libmalleable/core/segment.h"
#include "libmalleable/loadable/loadable.h"

/* How long the controller may take to report and end. */
#define END_TIMEOUT_MS 2500
#define START_TIMEOUT_MS 10000

/*
 * Named by our process number, which no other running process of the user has. Returns a
 * descriptor, or -1 with an empty PATH.
 */
static int make_socket(char *path, size_t size)
{
	char directory[MAL_SOCKET_PATH];
	int fd = -1;

	if (mal_rundir_find_own(true, directory, sizeof(directory), NULL) == 0 &&
	    snprintf(path, size, "%s/%ld", directory, (long)getpid()) < (int)size) {
		mal_rundir_clean_up(directory, mal_channel_is_open);
		unlink(path);
		fd = mal_channel_listen(path, geteuid(), getegid(), NULL);
	}
	if (fd < 0)
		path[0] = '\0';
	return fd;
}

static void remove_socket(char *path)
{
	char *end = strrchr(path, '/');

	if (!end)
		return;
	unlink(path);
	*end = '\0';
	rmdir(path); /* unless something is in it */
}

static int launch(struct mal_standalone *standalone, struct mal_launch_options *options,
		  struct mal_error *err)
{
	int fd = make_socket(standalone->socket, sizeof(standalone->socket)), result;

	options->arguments.segment_fd = standalone->segment_fd;
	options->arguments.listen_fd = fd;
	options->arguments.socket = fd < 0 ? NULL : standalone->socket;
	result = mal_launch(&standalone->launched, options, mal_patience_ms(START_TIMEOUT_MS), err);
	if (fd >= 0)
		close(fd);
	return result;
}

int mal_standalone_start(struct mal_standalone *standalone,
			 const struct mal_standalone_options *how, struct mal_error *err)
{
	const char *report = how->user_options->report, *trace = how->user_options->trace;
	char list[MAL_CPUMASK_TEXT], idle[MAL_CPUMASK_TEXT], path[PATH_MAX],
		host[256] = "this node";
	struct mal_launch_options options = {
		.path = path,
		.arguments =
			{
				MAL_ARGUMENTS_NO_FDS,
				.policy = how->user_options->spec,
				.cpus = mal_cpumask_format(how->cpus, list, sizeof(list)),
				.step = how->step,
				.libdir = how->libdir,
				.users_own = getenv(MAL_LOADABLE_VARIABLE),
				.allowed = how->allowed,
				.node = host,
				.job_name = how->job_name,
				.report_file = mal_report_wish_file(report),
				.brief = mal_report_wish(report) == MAL_REPORT_BRIEF,
				.trace_file = *trace && strcmp(trace, "off") != 0 ? trace : NULL,
				.nodes = how->nodes,
				.off_file = how->off_file,
			},
		.users_topology = true,
	};

	if (how->idle)
		options.arguments.idle = mal_cpumask_format(how->idle, idle, sizeof(idle));
	if (snprintf(path, sizeof(path), "%s/malleabled", how->libdir) >= (int)sizeof(path))
		return mal_fail(err, "%.64s...: too long", how->libdir);
	gethostname(host, sizeof(host) - 1);
	standalone->segment_fd = mal_segment_create_for_ranks(how->ranks, how->cpus, err);
	return standalone->segment_fd < 0 ? -1 : launch(standalone, &options, err);
}

struct mal_setup mal_standalone_setup(const struct mal_standalone *standalone,
				      const struct mal_standalone_options *how)
{
	return (struct mal_setup){
		.libdir = how->libdir,
		.cpus = how->cpus,
		.socket = standalone->socket[0] ? standalone->socket : NULL,
		.segment_fd = standalone->segment_fd,
		.keys = how->choice->keys,
		.bits = mal_choice_bits(how->choice, true),
		.nodes = how->nodes,
		.local_rank = -1,
		.mode = mal_choice_mode(how->choice),
	};
}

void mal_standalone_end(struct mal_standalone *standalone, bool complains,
			char text[MAL_STANDALONE_TEXT])
{
	bool in_time = mal_launched_end(&standalone->launched, mal_patience_ms(END_TIMEOUT_MS),
					text, MAL_STANDALONE_TEXT);

	if (complains && !in_time)
		fputs("balance: the controller did not end in time and was killed\n", stderr);
	else if (complains && mal_outcome_is_missing(text))
		fputs("balance: the controller ended early: killed, perhaps by a memory limit; the "
		      "command continued without it\n",
		      stderr);
	else if (complains && mal_outcome_failure(text)) {
		mal_print_line(
			stderr,
			"balance: the controller failed: %s; the command continued without it",
			mal_outcome_failure(text));
		memset(text, 0, MAL_STANDALONE_TEXT);
	}
	if (standalone->segment_fd >= 0)
		close(standalone->segment_fd);
	remove_socket(standalone->socket);
}

void mal_standalone_print(char *text)
{
	char *save;

	/* The record at the start is for logs. */
	for (char *line = strtok_r(text + sizeof(struct mal_outcome_record), "\n", &save); line;
	     line = strtok_r(NULL, "\n", &save))
		fprintf(stderr, "balance: %s\n", line);
}
