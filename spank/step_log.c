/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * step_log.c: report a balanced step's outcome to the user and the administrator.
 *
 * Invariant: nothing that a user's process wrote enters a log (t/t4505-log.t).
 */
#include "spank/step_log.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/xattr.h>
#include <syslog.h>

#include "libmalleable/base/printable.h"
#include "libmalleable/core/outcome.h"
#include "spank/cgroup.h"
#include "spank/plugin.h"

/* Larger times in seconds and larger numbers are no measurements. */
#define TIME_MAX 1e9
#define COUNT_MAX 1000000000000000u

static bool is_time(double seconds)
{
	return isfinite(seconds) && seconds >= 0 && seconds <= TIME_MAX;
}

/* Read and check the record at the start of the controller's report. */
static bool read_record(const char *report, size_t size, struct mal_outcome_record *record)
{
	if (size < sizeof(*record))
		return false;
	memcpy(record, report, sizeof(*record));
	/* Its sign would be printed. */
	if (isnan(record->off_s))
		record->off_s = NAN;
	return record->magic == MAL_OUTCOME_MAGIC && record->version == MAL_OUTCOME_VERSION &&
	       record->windows <= COUNT_MAX && record->lends <= COUNT_MAX &&
	       record->moves <= COUNT_MAX && is_time(record->elapsed_s) &&
	       (isnan(record->off_s) || is_time(record->off_s)) && is_time(record->ideal_s);
}

/*
 * The line for logs, for programs that search them. It has no user name: if looking that up hangs
 * in a network, the step would not end.
 */
static void log_line(const struct balance_outcome *outcome, const struct mal_outcome_record *record)
{
	char line[512];

	if (balance_config.log == MAL_LOG_NONE)
		return;
	snprintf(line, sizeof(line),
		 "uid=%u job=%u step=%s node=%.64s policy=%s ranks=%u cpus=%u windows=%llu "
		 "elapsed_s=%.3f unbalanced_s=%.3f ideal_s=%.3f lends=%llu moves=%llu",
		 (unsigned int)outcome->user, outcome->job, outcome->step, outcome->node,
		 outcome->policy, outcome->ranks, outcome->cpus,
		 (unsigned long long)record->windows, record->elapsed_s, record->off_s,
		 record->ideal_s, (unsigned long long)record->lends,
		 (unsigned long long)record->moves);
	if (balance_config.log == MAL_LOG_SYSLOG)
		syslog(LOG_DAEMON | LOG_INFO, "balance: %s", line);
	else
		balance_log_step(line);
}

/*
 * Whether no earlier step of the job has said what this one says in REPORT: why no rank connected
 * to it.
 * A script may have thousands of such steps. The kernel keeps it with the job's cgroup; where it
 * keeps no attributes each step says it.
 */
static bool is_news(const char *report)
{
	struct mal_outcome_record record;
	struct balance_cgroup cgroup;
	char name[64];

	memcpy(&record, report, sizeof(record));
	snprintf(name, sizeof(name), "trusted.balance.nothing.%u",
		 (unsigned int)(record.windows % MAL_NOTHING_REASONS));
	return balance_cgroup_find(&cgroup, NULL) < 0 ||
	       setxattr(cgroup.job, name, "1", 1, XATTR_CREATE) == 0 || errno != EEXIST;
}

void balance_outcome_report(const struct balance_outcome *outcome, char *report, size_t size)
{
	struct mal_outcome_record record;
	char *save;

	if (read_record(report, size, &record)) {
		log_line(outcome, &record);
	} else if (!mal_outcome_is_nothing(report) || !outcome->expected) {
		/* Nobody waits for a rank, the controller was killed, or it is not ours. */
		return;
	}
	if (outcome->silent || (mal_outcome_is_nothing(report) && !is_news(report)))
		return;
	report[size - 1] = '\0';
	for (char *text = strtok_r(report + sizeof(record), "\n", &save); text;
	     text = strtok_r(NULL, "\n", &save)) {
		mal_make_printable(text, strlen(text), false);
		if (!balance_tell_user(text))
			return;
	}
}
