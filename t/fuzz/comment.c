/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* comment.c: a job's AdminComment, which others write too: theirs stays, ours is there once. */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include <slurm/slurm.h>
/* Its second argument differs between versions. */
#undef slurm_load_job
#define slurm_load_job(list, id, flags) ((void)(list), (void)(id), SLURM_ERROR)
#define main ask_main
#include "spank/slurmctld_query.c"
#undef main
#include "t/fuzz/fuzz.h"

static char *set;

char *slurm_strerror(int number)
{
	(void)number;
	return "?";
}

void slurm_init(const char *file)
{
	(void)file;
}

void slurm_init_job_desc_msg(job_desc_msg_t *message)
{
	memset(message, 0, sizeof(*message));
}

int slurm_update_job(job_desc_msg_t *message)
{
	free(set);
	set = strdup(message->admin_comment);
	return SLURM_SUCCESS;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char text[] = "step 1.0";
	job_info_t job = {.admin_comment = NULL};
	char *before, *once;
	int status;

	/* Too long comments are refused. */
	if (size > COMMENT_MAX / 2)
		return 0;
	fuzz_begin(data, size);
	before = fuzz_text();
	job.admin_comment = before;
	set = NULL;
	status = set_comment(&job, "admin", text);
	if (*before && strncmp(before, OURS, strlen(OURS)) != 0) {
		if (status != BALANCE_QUERY_TAKEN || set)
			abort();
		free(before);
		return 0;
	}
	if (status != 0 || (set && strncmp(set, OURS "step 1.0", strlen(OURS "step 1.0")) != 0))
		abort();
	/* Setting it again changes nothing. */
	once = strdup(set ? set : before);
	job.admin_comment = once;
	free(set);
	set = NULL;
	if (set_comment(&job, "admin", text) != 0 || set)
		abort();
	free(once);
	free(before);
	return 0;
}
