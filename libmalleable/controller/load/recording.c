/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* recording.c: the step's trace, as it is written. */
#include "libmalleable/controller/load/recording.h"

#include <stdio.h>
#include <stdlib.h>

#include "libmalleable/base/clock.h"
#include "libmalleable/controller/cpus/allocation.h"
#include "libmalleable/controller/cpus/owners.h"
#include "libmalleable/trace/trace.h"

struct mal_recording {
	struct mal_trace_writer *writer;
	bool tried;		    /* to open the file */
	struct mal_error err, note; /* NOTE: it is in a file of its own */
};

int mal_recording_open(struct mal_controller *controller)
{
	if (controller->step->arguments.trace_file)
		controller->recording = calloc(1, sizeof(*controller->recording));
	return controller->recording || !controller->step->arguments.trace_file ? 0 : -1;
}

static void open_file(struct mal_controller *controller)
{
	struct mal_topology places = mal_allocation_topology(controller);
	const struct mal_arguments *arguments = &controller->step->arguments;
	const char *path = arguments->trace_file;
	char own[4096];
	struct mal_trace trace;
	FILE *file;

	controller->recording->tried = true;
	if (mal_trace_create(&trace, controller->step->segment.rank_count,
			     controller->step->cpu_count, &controller->recording->err) < 0)
		return;
	snprintf(trace.step, sizeof(trace.step), "%s", arguments->step);
	snprintf(trace.node, sizeof(trace.node), "%s", arguments->node);
	snprintf(trace.policy, sizeof(trace.policy), "%s", controller->deciding->policy->name);
	for (unsigned int i = 0; i < controller->step->cpu_count; i++) {
		trace.cpu[i] = controller->step->cpu[i];
		trace.l3[i] = places.l3[i];
		trace.numa[i] = places.numa[i];
		trace.package[i] = places.package[i];
	}
	file = mal_file_claim(&path, controller->step->derived[MAL_FILE_TRACE], "trace",
			      &controller->step->writer, own, sizeof(own),
			      &controller->recording->note);
	if (file)
		controller->recording->writer =
			mal_trace_open(file, path, &trace, &controller->recording->err);
	mal_trace_destroy(&trace);
}

void mal_recording_window(struct mal_controller *controller, const struct mal_window *window)
{
	if (controller->recording && !controller->recording->tried)
		open_file(controller);
	if (controller->recording && controller->recording->writer)
		mal_trace_write_window(controller->recording->writer, window->at_s,
				       window->elapsed_s, window->samples, window->owner,
				       controller->plausibility->parts);
}

void mal_recording_plan(struct mal_controller *controller, const struct mal_plan *plan,
			const char *why)
{
	if (controller->recording && controller->recording->writer)
		mal_trace_write_plan(controller->recording->writer, plan, why);
}

int mal_recording_end(struct mal_controller *controller, struct mal_error *err)
{
	struct mal_recording *recording = controller->recording;
	int result = 0;

	if (!recording)
		return 0;
	if (*recording->note.text)
		result = mal_fail(err, "%s", recording->note.text);
	if (*recording->err.text)
		result = mal_fail(err, "%s", recording->err.text);
	if (mal_trace_close(recording->writer, err) < 0)
		result = -1;
	recording->writer = NULL;
	return result;
}
