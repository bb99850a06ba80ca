/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* step_report.c: what the controller tells and writes as its step ends. */
#include "libmalleable/controller/step_report.h"

#include <string.h>
#include <unistd.h>

#include "libmalleable/base/output.h"
#include "libmalleable/controller/load/recording.h"
#include "libmalleable/controller/report/imbalance.h"
#include "libmalleable/controller/report/report_text.h"
#include "libmalleable/controller/report/summaries.h"
#include "libmalleable/controller/report/verdict.h"
#include "libmalleable/core/file_claim.h"
#include "libmalleable/core/outcome.h"

/* Of a step over several nodes each has a line, from itself or from the first one. */
static size_t make_text(const struct mal_controller *controller, const struct mal_report *report,
			char *text, size_t size)
{
	if (!controller->summaries)
		return mal_report_text(controller, report, text, size);
	switch (mal_summaries_part(controller)) {
	case MAL_NODES_ALL: return mal_imbalance_text(controller, text, size);
	case MAL_NODES_ONE: return mal_report_line(controller, report, true, text, size);
	default: return 0;
	}
}

/* Over the pipe. Whoever started us may be gone: then nobody is told, and all else goes on. */
static void tell(int report_fd, const void *text, size_t length)
{
	if (report_fd < 0 || !length || write(report_fd, text, length) < 0)
		return;
}

/* The same for what went wrong. */
static void tell_error(int report_fd, const struct mal_error *err)
{
	if (report_fd >= 0)
		dprintf(report_fd, "%s\n", err->text);
}

/* For root: numbers, no text. */
static void send_record(const struct mal_controller *controller, const struct mal_report *report,
			int report_fd)
{
	const struct mal_totals *totals = &controller->totals;
	const struct mal_outcome_record record = {
		.magic = MAL_OUTCOME_MAGIC,
		.version = MAL_OUTCOME_VERSION,
		.windows = totals->windows,
		.lends = report->count.lends,
		.moves = report->count.moves,
		.elapsed_s = totals->elapsed_s,
		.off_s = mal_verdict_off(controller, report->elapsed_s),
		.ideal_s = totals->ideal_s,
	};

	tell(report_fd, &record, sizeof(record));
}

/* No rank came. Silence would mean that we were killed. */
static void send_nothing(const struct mal_controller *controller, int report_fd)
{
	struct mal_outcome_record record = {
		.magic = MAL_OUTCOME_NOTHING,
		.version = MAL_OUTCOME_VERSION,
		.windows = mal_report_why_nothing(controller),
	};
	char text[1024];

	tell(report_fd, &record, sizeof(record));
	tell(report_fd, text, mal_report_nothing(controller, text, sizeof(text)));
}

void mal_ending_fail(int report_fd, const struct mal_error *err)
{
	struct {
		struct mal_outcome_record record;
		char text[sizeof(err->text)];
	} report = {.record = {.magic = MAL_OUTCOME_FAILED, .version = MAL_OUTCOME_VERSION}};

	memcpy(report.text, err->text, sizeof(report.text));
	tell(report_fd, &report, sizeof(report.record) + strlen(report.text));
}

/* Write the JSON to FILE and close it. What fails is said to the user, who has the text already. */
static void write_json(const struct mal_controller *controller, const struct mal_report *report,
		       FILE *file, const char *path, int report_fd, struct mal_error *err)
{
	if (mal_report_json(controller, report, file) < 0) {
		mal_fail_errno(err, "cannot write the report to %s", path);
		fclose(file);
	} else if (mal_output_close(file, path, "report", err) == 0) {
		return;
	}
	tell_error(report_fd, err);
}

/* Write the JSON to the user's file, or to one of the step's own beside it. */
static void write_users_file(const struct mal_controller *controller,
			     const struct mal_report *report)
{
	const struct mal_arguments *arguments = &controller->step->arguments;
	const char *path = arguments->report_file;
	char own[4096];
	struct mal_error err = {""};
	FILE *file = mal_file_claim(&path, controller->step->derived[MAL_FILE_REPORT], "report",
				    &controller->step->writer, own, sizeof(own), &err);

	if (*err.text)
		tell_error(arguments->report_fd, &err);
	if (file)
		write_json(controller, report, file, path, arguments->report_fd, &err);
}

/* The site's comes first: the user's may hang. */
static void write_files(const struct mal_controller *controller, const struct mal_report *report)
{
	const struct mal_arguments *arguments = &controller->step->arguments;
	FILE *site = arguments->site_fd >= 0 ? fdopen(arguments->site_fd, "w") : NULL;
	struct mal_error err = {""};

	if (site)
		write_json(controller, report, site, "report_dir=", arguments->report_fd, &err);
	if (arguments->report_file)
		write_users_file(controller, report);
}

/* A file of the user's may hang: what goes over the pipe comes first. */
void mal_ending_report(struct mal_controller *controller)
{
	int report_fd = controller->step->arguments.report_fd;
	struct mal_report report;
	struct mal_error err;
	char text[8192];

	if (!mal_report_make(controller, &report)) {
		send_nothing(controller, report_fd);
		mal_recording_end(controller, &err);
		return;
	}
	send_record(controller, &report, report_fd);
	tell(report_fd, text, make_text(controller, &report, text, sizeof(text)));
	if (mal_recording_end(controller, &err) < 0)
		tell_error(report_fd, &err);
	write_files(controller, &report);
}
