/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test_script.c: how slurmstepd hears of what a batch script started, by the names of its job. */
#include "t/unit/unit.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "libmalleable/core/handover.h"
#include "libmalleable/core/script.h"

const char *__wrap_mal_inside_cgroup(char *text, size_t size);

/* The job's number and SLUID, which no other test has, and the cgroup that we are in. */
static unsigned int job;
static char sluid[16], cgroup[128];
static char directory[] = "/tmp/test-script.XXXXXX", path[MAL_SCRIPT_PATH];

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
	mal_script_directory = mkdtemp(directory);
	return mal_script_directory ? 0 : -1;
}

static int tear_down(void **state)
{
	(void)state;
	return rmdir(directory);
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

static void listen_in(const char *name, int *fd)
{
	struct mal_error err;

	snprintf(cgroup, sizeof(cgroup), "/a/%s/step_batch", name);
	*fd = mal_script_listen(job, getpid(), geteuid(), getegid(), path, &err);
	assert_true(*fd >= 0);
	assert_int_equal(mal_script_hear(*fd), MAL_SCRIPT_NOTHING);
}

static void end(int fd)
{
	close(fd);
	assert_int_equal(unlink(path), 0);
}

/* Whether the script in job NAME hears that. */
static bool hears(const char *name, const char *where, const char *number, const char *sluid_there)
{
	bool heard;
	int fd;

	listen_in(name, &fd);
	tell(where, number, sluid_there);
	heard = mal_script_hear(fd) == MAL_SCRIPT_RANKS;
	end(fd);
	return heard;
}

static void scripts_are_found_by_number(void **state)
{
	char name[32], where[64], number[16];

	(void)state;
	snprintf(number, sizeof(number), "%u", job);
	snprintf(name, sizeof(name), "job_%u", job);
	snprintf(where, sizeof(where), "/b/job_%u/step_batch", job);
	assert_true(hears(name, where, number, NULL));
	assert_true(hears(name, "", number, sluid));
	assert_true(hears(name, where, NULL, NULL));
	assert_true(hears("nothing", where, NULL, NULL));
	assert_false(hears(name, "", NULL, NULL));
	assert_false(hears(name, "/b/job_0/step_batch", "0", NULL));
}

static void scripts_are_found_by_sluid(void **state)
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
	assert_int_equal(mal_script_hear(fd), MAL_SCRIPT_NO_RANKS);
	tell(cgroup, number, NULL);
	tell(cgroup, number, NULL);
	mal_script_tell_no_ranks(job);
	assert_int_equal(mal_script_hear(fd), MAL_SCRIPT_RANKS);
	/* The pipe holds 64 KiB. */
	for (int i = 0; i < 40000; i++) {
		tell(cgroup, number, NULL);
		mal_script_tell_no_ranks(job);
	}
	assert_int_equal(mal_script_hear(fd), MAL_SCRIPT_RANKS);
	mal_script_tell_no_ranks(job);
	assert_int_equal(mal_script_hear(fd), MAL_SCRIPT_NOTHING);
	end(fd);
}

/* Nobody but the user and root can open it, or make a name of the user's lead elsewhere. */
static void of_the_user_alone(void **state)
{
	struct mal_error err;
	struct rlimit limit;
	struct stat status;
	int fd;

	(void)state;
	listen_in(sluid, &fd);
	assert_int_equal(lstat(path, &status), 0);
	assert_true(S_ISFIFO(status.st_mode));
	assert_int_equal(status.st_mode & 0777, 0600);
	assert_int_equal(status.st_uid, geteuid());
	setenv("SLURM_JOB_ID", "x/../../etc/passwd", 1);
	*cgroup = '\0';
	unsetenv("SLURM_JOB_SLUID");
	assert_int_equal(mal_script_open(), -1);
	end(fd);
	/* What is there already, as of a job that is run again, is replaced. */
	assert_int_equal(symlink("/etc/passwd", path), 0);
	listen_in(sluid, &fd);
	assert_int_equal(lstat(path, &status), 0);
	assert_true(S_ISFIFO(status.st_mode));
	end(fd);
	/* It cannot be opened: nothing is left. */
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &(struct rlimit){0, limit.rlim_max}), 0);
	assert_int_equal(mal_script_listen(job, getpid(), geteuid(), getegid(), path, &err), -1);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	assert_int_equal(rmdir(directory), 0);
	assert_int_equal(mal_script_listen(job, getpid(), geteuid(), getegid(), path, &err), -1);
	assert_non_null(strstr(err.text, "cannot make "));
	assert_int_equal(mkdir(directory, 0700), 0);
}

/*
 * By slurmstepd's number, whoever has the pipe open or not: to open one that its user holds may
 * take for ever.
 */
static void dead_ones_go(void **state)
{
	char dead[MAL_SCRIPT_PATH];
	pid_t child = fork();
	int fd, held;

	(void)state;
	if (child == 0)
		_exit(0);
	assert_int_equal(waitpid(child, NULL, 0), child);
	snprintf(dead, sizeof(dead), "%s/job_1.%ld", directory, (long)child);
	assert_int_equal(mkfifo(dead, 0600), 0);
	held = open(dead, O_RDWR);
	assert_true(held >= 0);
	listen_in(sluid, &fd);
	close(fd);
	mal_rundir_clean_up(directory, NULL);
	assert_int_equal(access(dead, F_OK), -1);
	assert_int_equal(unlink(path), 0);
	close(held);
}

/* Hand something over, as a launcher group in the script. */
static void hand_over(unsigned int ranks, const char *launcher)
{
	struct mal_handover what = {.policy = "auto", .ranks = ranks};

	snprintf(what.launcher, sizeof(what.launcher), "%s", launcher);
	what.record.magic = MAL_OUTCOME_MAGIC;
	mal_handover_send(&what);
}

/* In the order in which they came, with names that neither logs nor directories mind. */
static void steps_are_handed_over_in_order(void **state)
{
	char where[MAL_SCRIPT_PATH], odd[sizeof(struct mal_handover)] = "uid=0";
	unsigned int left = 10;
	struct mal_handover what;
	struct mal_error err;
	struct stat status;
	int fd, listening;

	(void)state;
	listen_in(sluid, &fd);
	hand_over(1, "nobody");
	listening = mal_handover_listen(path, geteuid(), getegid(), where, &err);
	assert_true(listening >= 0);
	/* A socket would carry descriptors, which root would have to close. */
	assert_int_equal(stat(where, &status), 0);
	assert_true(S_ISFIFO(status.st_mode));
	assert_int_equal(status.st_mode & 0777, 0600);
	assert_false(mal_handover_take(listening, &left, &what));
	hand_over(2, "mpirun");
	assert_int_equal(write(listening, odd, sizeof(odd)), sizeof(odd));
	hand_over(3, "../a\nuid=0");
	assert_true(mal_handover_take(listening, &left, &what));
	assert_int_equal(what.ranks, 2);
	assert_string_equal(what.launcher, "mpirun");
	/* What is no such message is passed over. */
	assert_true(mal_handover_take(listening, &left, &what));
	assert_int_equal(what.ranks, 3);
	assert_string_equal(what.launcher, "___a_uid_0");
	assert_false(mal_handover_take(listening, &left, &what));
	/* Nor is part of one taken. */
	assert_int_equal(write(listening, odd, 5), 5);
	assert_false(mal_handover_take(listening, &left, &what));
	/* Who goes on is not heard out. */
	for (unsigned int i = 0; i <= 10; i++)
		hand_over(5, "mpirun");
	while (mal_handover_take(listening, &left, &what))
		;
	assert_int_equal(left, 0);
	assert_true(read(listening, odd, sizeof(odd)) > 0);
	close(listening);
	assert_int_equal(unlink(where), 0);
	end(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(scripts_are_found_by_number),
		cmocka_unit_test(scripts_are_found_by_sluid),
		cmocka_unit_test(steps_without_ranks),
		cmocka_unit_test(of_the_user_alone),
		cmocka_unit_test(dead_ones_go),
		cmocka_unit_test(steps_are_handed_over_in_order),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
