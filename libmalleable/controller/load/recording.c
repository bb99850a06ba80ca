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
	const char *path;
	const char *step;
	const char *node;
	struct mal_trace_writer *writer;
	bool failed;
	struct mal_error err, note; /* NOTE: it is in a file of its own */
};

struct mal_recording *mal_recording_create(const char *path, const char *step, const char *node)
{
	struct mal_recording *recording = calloc(1, sizeof(*recording));

	if (recording)
		*recording = (struct mal_recording){.path = path, .step = step, .node = node};
	return recording;
}

static void open_file(struct mal_recording *recording, const struct mal_controller *controller)
{
	struct mal_topology places = mal_allocation_topology(controller);
	const char *path = recording->path;
	char own[4096];
	struct mal_trace trace;
	FILE *file;

	recording->failed = true;
	if (mal_trace_create(&trace, controller->step->segment.rank_count,
			     controller->step->cpu_count, &recording->err) < 0)
		return;
	snprintf(trace.step, sizeof(trace.step), "%s", recording->step);
	snprintf(trace.node, sizeof(trace.node), "%s", recording->node);
	snprintf(trace.policy, sizeof(trace.policy), "%s", controller->deciding.policy->name);
	for (unsigned int i = 0; i < controller->step->cpu_count; i++) {
		trace.cpu[i] = controller->step->cpu[i];
		trace.l3[i] = places.l3[i];
		trace.numa[i] = places.numa[i];
		trace.package[i] = places.package[i];
	}
	file = mal_file_claim(&path, controller->step->derived[MAL_FILE_TRACE], "trace",
			      &controller->step->writer, own, sizeof(own), &recording->note);
	if (file)
		recording->writer = mal_trace_open(file, path, &trace, &recording->err);
	recording->failed = !recording->writer;
	mal_trace_destroy(&trace);
}

void mal_recording_window(struct mal_recording *recording, const struct mal_controller *controller,
			  const struct mal_window *window)
{
	if (!recording || recording->failed)
		return;
	if (!recording->writer)
		open_file(recording, controller);
	if (!recording->writer)
		return;
	mal_trace_write_window(recording->writer, window->at_s, window->elapsed_s, window->samples,
			       window->owner);
}

void mal_recording_plan(struct mal_recording *recording, const struct mal_plan *plan,
			const char *why)
{
	if (recording && recording->writer)
		mal_trace_write_plan(recording->writer, plan, why);
}

int mal_recording_destroy(struct mal_recording *recording, struct mal_error *err)
{
	int result = 0;

	if (!recording)
		return 0;
	if (*recording->note.text)
		result = mal_fail(err, "%s", recording->note.text);
	if (recording->failed && *recording->err.text)
		result = mal_fail(err, "%s", recording->err.text);
	if (mal_trace_close(recording->writer, err) < 0)
		result = -1;
	free(recording);
	return result;
}
