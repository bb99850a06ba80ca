/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test_script.c: how slurmstepd hears of what a batch script started, by the names of its job. */
#include "t/unit/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libmalleable/core/inside.h"
#include "libmalleable/core/script.h"

const char *__wrap_mal_inside_cgroup(char *text, size_t size);

/* The job's number and SLUID, which no other test has, and the cgroup that we are in. */
static unsigned int job;
static char sluid[16], cgroup[128];

const char *__wrap_mal_inside_cgroup(char *text, size_t size)
{
	if (!*cgroup)
		return NULL;
	snprintf(text, size, "%s", cgroup);
	return text;
}

static int set_up(void **state)
{
	(void)state;
	job = (unsigned int)getpid();
	snprintf(sluid, sizeof(sluid), "s%013u", job);
	return 0;
}

/* A process in cgroup WHERE, whose environment has NUMBER and SLUID_THERE (NULL: not), tells. */
static void tell(const char *where, const char *number, const char *sluid_there)
{
	if (where != cgroup)
		strcpy(cgroup, where);
	unsetenv("SLURM_JOB_ID");
	unsetenv("SLURM_JOB_SLUID");
	if (number)
		setenv("SLURM_JOB_ID", number, 1);
	if (sluid_there)
		setenv("SLURM_JOB_SLUID", sluid_there, 1);
	mal_script_tell();
}

static void listen_in(const char *directory, int *fd)
{
	snprintf(cgroup, sizeof(cgroup), "/a/%s/step_batch", directory);
	*fd = mal_script_listen(job);
	assert_true(*fd >= 0);
	assert_int_equal(mal_script_hear(*fd, geteuid()), MAL_SCRIPT_NOTHING);
}

/* Whether the script in job DIRECTORY hears that. */
static bool hears(const char *directory, const char *where, const char *number,
		  const char *sluid_there)
{
	bool heard;
	int fd;

	listen_in(directory, &fd);
	tell(where, number, sluid_there);
	heard = mal_script_hear(fd, geteuid()) == MAL_SCRIPT_RANKS;
	tell(where, number, sluid_there);
	assert_int_equal(mal_script_hear(fd, geteuid() + 1), MAL_SCRIPT_NOTHING);
	close(fd);
	return heard;
}

static void by_number(void **state)
{
	char directory[32], where[64], number[16];

	(void)state;
	snprintf(number, sizeof(number), "%u", job);
	snprintf(directory, sizeof(directory), "job_%u", job);
	snprintf(where, sizeof(where), "/b/job_%u/step_batch", job);
	assert_true(hears(directory, where, number, NULL));
	assert_true(hears(directory, "", number, sluid));
	assert_true(hears(directory, where, NULL, NULL));
	assert_true(hears("nothing", where, NULL, NULL));
	assert_false(hears(directory, "", NULL, NULL));
	assert_false(hears(directory, "/b/job_0/step_batch", "0", NULL));
}

static void by_sluid(void **state)
{
	char where[64], number[16];

	(void)state;
	snprintf(number, sizeof(number), "%u", job);
	snprintf(where, sizeof(where), "/b/%s/step_batch", sluid);
	assert_true(hears(sluid, where, number, sluid));
	assert_true(hears(sluid, where, NULL, NULL));
	assert_true(hears(sluid, "", number, sluid));
	assert_false(hears(sluid, "", number, NULL));
}

/* Only where each step without ranks has told so, and no message was lost. */
static void steps_without_ranks(void **state)
{
	char number[16];
	int fd;

	(void)state;
	snprintf(number, sizeof(number), "%u", job);
	listen_in(sluid, &fd);
	tell(cgroup, number, NULL);
	mal_script_tell_no_ranks(job);
	assert_int_equal(mal_script_hear(fd, geteuid()), MAL_SCRIPT_NO_RANKS);
	tell(cgroup, number, NULL);
	tell(cgroup, number, NULL);
	mal_script_tell_no_ranks(job);
	assert_int_equal(mal_script_hear(fd, geteuid()), MAL_SCRIPT_RANKS);
	for (int i = 0; i < 5; i++) {
		tell(cgroup, number, NULL);
		mal_script_tell_no_ranks(job);
	}
	assert_int_equal(mal_script_hear(fd, geteuid()), MAL_SCRIPT_RANKS);
	mal_script_tell_no_ranks(job);
	assert_int_equal(mal_script_hear(fd, geteuid()), MAL_SCRIPT_NOTHING);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(by_number),
		cmocka_unit_test(by_sluid),
		cmocka_unit_test(steps_without_ranks),
	};

	return cmocka_run_group_tests(tests, set_up, NULL);
}
