/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* outcome.c: what user and administrator are told of a balanced step at its end. */
#include <slurm/slurm.h>
#include <stdio.h>
#include <string.h>
#include <syslog.h>

#include "spank/plugin.h"

/* What becomes the job's comment, once the step is out of its cgroups. */
static struct {
	uint32_t job;
	char text[512];
} comment;

/* What the controller says comes from a process of the user: no control characters go into logs and terminals. */
static void make_printable(char *text)
{
	for (char *at = text; *at; at++)
		if (*at != '\n' && (*at < ' ' || *at > '~'))
			*at = '?';
}

/*
 * LINE: what became of the step. The user's name is not looked up: where that goes over a network which does not answer, the step would not
 * end.
 */
static void log_line(const struct balance_outcome *outcome, const char *line)
{
	unsigned int uid = (unsigned int)outcome->user;

	if (balance_config.log == BALANCE_LOG_SYSLOG)
		syslog(LOG_DAEMON | LOG_INFO, "balance: uid %u, job %u, %s", uid, outcome->job, line);
	else if (balance_config.log == BALANCE_LOG_SLURMD)
		slurm_info("balance: uid %u, job %u, %s", uid, outcome->job, line);
}

void balance_outcome_say(const struct balance_outcome *outcome, char *text)
{
	char *rest = strchr(text, '\n'), *save;

	make_printable(text);
	if (rest)
		*rest++ = '\0';
	if (*text)
		log_line(outcome, text);
	if (balance_config.comment && outcome->first_node && *text) {
		comment.job = outcome->job;
		snprintf(comment.text, sizeof(comment.text), "balance: %s", text);
	}
	if (outcome->silent || !rest)
		return;
	for (char *line = strtok_r(rest, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
		slurm_spank_log("balance: %s", line);
}

void balance_outcome_finish(void)
{
	job_desc_msg_t job;

	if (!comment.job)
		return;
	slurm_init_job_desc_msg(&job);
	job.job_id = comment.job;
	/* Not the user's own Comment: AdminComment is root's, and sacct keeps it too. */
	job.admin_comment = comment.text;
	if (slurm_update_job(&job) != SLURM_SUCCESS)
		slurm_error("balance: comment=yes: cannot set the AdminComment of job %u", comment.job);
	comment.job = 0;
}
