/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * site_reports.c: the reports that steps leave in report_dir=. That may hang: slurmstepd itself
 * opens nothing there.
 *
 * Invariant: a step in which no rank connected leaves none (t/t1002-plugstack.t).
 */
#include "spank/site_reports.h"

#include <stdio.h>
#include <unistd.h>

#include "libmalleable/base/clock.h"
#include "libmalleable/base/spawn.h"
#include "libmalleable/core/site_report.h"
#include "spank/deadline.h"
#include "spank/plugin.h"

/* How long a file system may take. */
#define STORE_MS 500
/* Of malleable-store: there was no report. */
#define NO_REPORT 3

int balance_site_report_make(void)
{
	struct mal_error err;
	int fd;

	if (!balance_config.report_dir[0])
		return -1;
	fd = mal_site_report_make(&err);
	if (fd < 0)
		balance_info("%s", err.text);
	return fd;
}

/* Returns the exit status, -1: it was killed, or did not start. */
static int store(int fd, const char *file, uid_t user, gid_t group)
{
	char path[640], owner[16], owners_group[16];
	const char *arguments[] = {"malleable-store", owner, owners_group, NULL};
	const char *hidden[] = {file, NULL};
	char *environment[] = {"PATH=/usr/bin:/bin", "LC_ALL=C", NULL};
	pid_t process;

	snprintf(path, sizeof(path), "%s/malleable-store", balance_config.libdir);
	snprintf(owner, sizeof(owner), "%u", (unsigned int)user);
	snprintf(owners_group, sizeof(owners_group), "%u", (unsigned int)group);
	process = mal_spawn(&(struct mal_spawn){.path = path,
						.arguments = arguments,
						.hidden = hidden,
						.environment = environment,
						.fds = &fd,
						.count = 1});
	return process < 0 ? -1
			   : mal_spawn_end(process, mal_now_ms() + balance_deadline_left(STORE_MS));
}

void balance_site_report_store(int *fd, const char *step, const char *node, uid_t user, gid_t group)
{
	char file[1280];
	int status;

	if (*fd < 0)
		return;
	snprintf(file, sizeof(file), "%s/%s.%s.json", balance_config.report_dir, step, node);
	status = balance_config.report_dir[0] ? store(*fd, file, user, group) : 0;
	if (status != 0 && status != NO_REPORT)
		balance_info("cannot store the report of step %s in report_dir=%s", step,
			     balance_config.report_dir);
	close(*fd);
	*fd = -1;
}
