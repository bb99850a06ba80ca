/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * slurmctld_query.c: malleable-slurm, which sends slurmctld requests of the plugin.
 *
 * A program of its own, because a request to slurmctld can take half a minute: slurmstepd kills
 * this process at its deadline.
 *
 * Invariant: a comment that others wrote stays (t/t4505-comment.t).
 */
#include <slurm/slurm_errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libmalleable/base/hidden.h"
#include "libmalleable/base/number.h"
#include "libmalleable/base/option_parser.h"
#include "spank/slurmctld_client.h"
#include "spank/version.h"

/* The start of our part of a comment, and the separator of parts. */
#define OURS "balance: "
#define BETWEEN "; "
#define COMMENT_MAX 4096

static void usage(FILE *out)
{
	fputs("Usage: malleable-slurm partition JOB [FD]\n"
	      "       malleable-slurm admin|system|extra JOB TEXT\n"
	      "\n"
	      "Sends slurmctld requests of the balance plugin.\n"
	      "\n"
	      "  partition  print the job's partition on standard output or on descriptor FD\n"
	      "  admin, system, extra\n"
	      "             write \"balance: TEXT\" into that comment of the job, in place of an\n"
	      "             earlier one; exit with 3 if it is of others\n"
	      "  --help, --version\n",
	      out);
}

static const struct mal_tool tool = {"malleable-slurm", PACKAGE_VERSION, usage};

/*
 * Load the job's record, in LIST. Prints an error and returns NULL if slurmctld does not know it or
 * does not answer.
 */
static const job_info_t *load(uint32_t job, job_info_msg_t **list)
{
	if (balance_version_load_job(list, job) != SLURM_SUCCESS) {
		fprintf(stderr, "malleable-slurm: job %u: %s\n", job, slurm_strerror(errno));
		return NULL;
	}
	/* A job of an array comes with the others of the array. */
	for (uint32_t i = 0; i < (*list)->record_count; i++)
		if (balance_version_job(&(*list)->job_array[i]) == job)
			return &(*list)->job_array[i];
	fprintf(stderr, "malleable-slurm: unknown job %u\n", job);
	return NULL;
}

static int print_partition(const job_info_t *job, const char *fd)
{
	const char *name = job->partition ? job->partition : "";
	int to = fd ? (int)strtol(fd, NULL, 10) : STDOUT_FILENO;

	/* A pending job has a list of the partitions where it may run. */
	if (!*name || strchr(name, ','))
		return 1;
	return dprintf(to, "%s\n", name) > 0 ? 0 : 1;
}

/* What others wrote behind ours stays. A comment of others may be encoded, and nothing is added. */
static int set_comment(const job_info_t *job, const char *field, const char *text)
{
	char comment[COMMENT_MAX];
	const char *before = NULL, *rest;
	job_desc_msg_t change;
	char **place;

	slurm_init_job_desc_msg(&change);
	place = balance_version_comment(field, job, &change, &before);
	if (!place) {
		fprintf(stderr, "malleable-slurm: jobs have no comment field %s\n", field);
		return 1;
	}
	before = before ? before : "";
	if (*before && strncmp(before, OURS, strlen(OURS)) != 0)
		return BALANCE_QUERY_TAKEN;
	rest = strstr(before, BETWEEN);
	if (snprintf(comment, sizeof(comment), OURS "%s%s", text, rest ? rest : "") >=
	    (int)sizeof(comment)) {
		fprintf(stderr, "malleable-slurm: the comment of job %u is too long\n",
			balance_version_job(job));
		return 1;
	}
	if (strcmp(comment, before) == 0)
		return 0;
	balance_version_set_job(&change, balance_version_job(job));
	*place = comment;
	if (slurm_update_job(&change) == SLURM_SUCCESS)
		return 0;
	fprintf(stderr, "malleable-slurm: job %u: %s\n", balance_version_job(job),
		slurm_strerror(errno));
	return 1;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {MAL_OPTIONS_END};
	job_info_msg_t *list = NULL;
	int option, count;
	const job_info_t *job;
	uint32_t number;
	bool partition;

	mal_hidden_take(&argc, &argv);
	option = mal_option(&tool, argc, argv, "+", options);
	count = argc - optind;
	if (option != MAL_OPTION_END)
		return option == MAL_OPTION_ANSWERED ? 0 : 2;
	argv += optind;
	partition = count > 0 && strcmp(argv[0], "partition") == 0;
	if (count < 2 || count > 3 || (!partition && count != 3) ||
	    !mal_number_parse(argv[1], 1, UINT32_MAX, &number)) {
		mal_option_wrong(&tool, "give partition JOB, or FIELD JOB TEXT");
		return 2;
	}
	slurm_init(NULL);
	job = load(number, &list);
	if (!job)
		return 1;
	return partition ? print_partition(job, argv[2]) : set_comment(job, argv[0], argv[2]);
}
