/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * slurmctld_query.c: malleable-slurm, which asks slurmctld for a job's partition.
 *
 * A program of its own, because a request to slurmctld can take half a minute: slurmstepd kills
 * this process at its deadline (t/t4504-partition.t).
 */
#include <slurm/slurm_errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libmalleable/base/number.h"
#include "libmalleable/base/option_parser.h"
#include "spank/version.h"

static const char usage[] =
	"JOB [FD]\n"
	"\n"
	"Prints the job's partition, as slurmctld has it, on standard output or on "
	"descriptor\n"
	"FD.\n"
	"\n"
	"  --help, --version\n";

static const struct mal_tool tool = {.name = "malleable-slurm", .usage = usage};

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

int main(int argc, char **argv)
{
	job_info_msg_t *list = NULL;
	const job_info_t *job;
	uint32_t number;

	mal_option(&tool, argc, argv, true, NULL);
	argc -= optind;
	argv += optind;
	if (argc < 1 || argc > 2 || !mal_number_parse(argv[0], 1, UINT32_MAX, &number))
		mal_option_wrong(&tool, "give JOB, or JOB FD");
	slurm_init(NULL);
	job = load(number, &list);
	return job ? print_partition(job, argv[1]) : 1;
}
