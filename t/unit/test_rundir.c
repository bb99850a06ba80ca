/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_rundir.c: root's files in /run, which is the test's own here: the entries by which steps
 * find each other, sockets, the pipes of scripts, and the link to the off switch.
 */
#include "t/unit/unit.h"

#include <sched.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "libmalleable/core/handover.h"
#include "libmalleable/core/off_file.h"
#include "libmalleable/core/script.h"
#include "spank/contained.h"
#include "spank/deadline.h"
#include "spank/entries.h"
#include "spank/launchers.h"
#include "spank/off_link.h"
#include "spank/plugin.h"
#include "spank/socket.h"
#include "spank/step_log.h"

#define JOB 7u

int __wrap_flock(int fd, int operation);
int __real_flock(int fd, int operation);

struct mal_site balance_config = {.off_file = "/etc/off"};
static bool own_run; /* whether /run is ours */
static struct mal_error err;
/* What another step does while one waits for the lock. */
static void (*while_locking)(void);
/* What was told and logged. */
static char told[512], logged[64];
static unsigned int logged_ranks;

int __wrap_flock(int fd, int operation)
{
	void (*others)(void) = while_locking;

	while_locking = NULL;
	if (others)
		others();
	return __real_flock(fd, operation);
}

pid_t balance_contained_slurmstepd(void)
{
	return getpid();
}

bool balance_tell_user(const char *text)
{
	snprintf(told, sizeof(told), "%s", text);
	return true;
}

void balance_put(enum balance_line line, const char *format, ...)
{
	(void)line;
	(void)format;
}

void balance_outcome_report(const struct balance_outcome *outcome, char *report, size_t size)
{
	(void)report;
	assert_int_equal(size, sizeof(struct mal_outcome_record));
	snprintf(logged, sizeof(logged), "%s", outcome->step);
	logged_ranks = outcome->ranks;
}

static void put(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

/* A mount namespace; an ordinary user is root in one of users first. */
static int enter(void **state)
{
	uid_t user = geteuid();
	gid_t group = getegid();
	char map[32];

	(void)state;
	if (unshare(user ? CLONE_NEWUSER | CLONE_NEWNS : CLONE_NEWNS) < 0)
		return 0;
	if (user) {
		snprintf(map, sizeof(map), "0 %u 1", (unsigned int)user);
		put("/proc/self/uid_map", map);
		put("/proc/self/setgroups", "deny");
		snprintf(map, sizeof(map), "0 %u 1", (unsigned int)group);
		put("/proc/self/gid_map", map);
	}
	own_run = mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
		  mount("none", "/run", "tmpfs", 0, "mode=755") == 0;
	return 0;
}

static int set_up(void **state)
{
	(void)state;
	balance_deadline_set(1000);
	told[0] = logged[0] = '\0';
	unsetenv("SLURM_JOB_SLUID");
	setenv("SLURM_JOB_ID", "7", 1);
	return 0;
}

/* Nothing is left, whatever was there. */
static int tear_down(void **state)
{
	(void)state;
	return own_run && access(MAL_RUN_DIR, F_OK) == 0 ? -1 : 0;
}

static unsigned int mode_of(const char *path)
{
	struct stat status;

	assert_int_equal(lstat(path, &status), 0);
	return status.st_mode & 07777;
}

static bool is_there(const char *path)
{
	return access(path, F_OK) == 0;
}

static int lock(unsigned int job)
{
	int fd = balance_entries_lock(job, true, 1000, &err);

	assert_true(fd >= 0);
	return fd;
}

static struct balance_entry entry_of(unsigned int step, const char *own, const char *idle)
{
	struct balance_entry entry = {.step = step, .pid = 4711};

	assert_int_equal(mal_cpumask_parse(own, &entry.own, NULL), 0);
	if (*idle)
		assert_int_equal(mal_cpumask_parse(idle, &entry.idle, NULL), 0);
	return entry;
}

static void assert_same(const struct balance_entry *a, const struct balance_entry *b)
{
	assert_int_equal(a->step, b->step);
	assert_memory_equal(&a->own, &b->own, sizeof(a->own));
	assert_memory_equal(&a->idle, &b->idle, sizeof(a->idle));
	assert_int_equal(a->pooled, b->pooled);
	assert_int_equal(a->pid, b->pid);
	assert_string_equal(a->socket, b->socket);
}

static void entries_are_as_written(void **state)
{
	struct balance_entry first = entry_of(3, "0-1", "2"), second = entry_of(12, "3", ""), read;
	unsigned int next = 0;
	int fd;

	(void)state;
	if (!own_run)
		skip();
	assert_false(balance_entries_exist(JOB));
	assert_int_equal(balance_entries_lock(JOB, false, 1000, &err), -1);
	assert_false(balance_entries_exist(JOB));
	fd = lock(JOB);
	assert_int_equal(mode_of(MAL_RUN_DIR), 0755);
	assert_int_equal(mode_of(MAL_RUN_DIR "/7"), 0700);
	first.pooled = true;
	strcpy(first.socket, "7.3.1");
	assert_int_equal(balance_entry_write(JOB, &first, &err), 0);
	assert_int_equal(balance_entry_write(JOB, &second, &err), 0);
	assert_true(balance_entry_next(JOB, &next, &read));
	assert_same(&read, &first);
	/* Nothing else is a step: it is removed. */
	put(MAL_RUN_DIR "/7/5", "0-1 2 1\n");
	put(MAL_RUN_DIR "/7/6", "x 2 1 1 -\n");
	assert_true(balance_entry_next(JOB, &next, &read));
	assert_same(&read, &second);
	assert_false(balance_entry_next(JOB, &next, &read));
	assert_false(is_there(MAL_RUN_DIR "/7/5") || is_there(MAL_RUN_DIR "/7/6"));
	balance_entry_remove(JOB, 3);
	assert_true(balance_entries_exist(JOB));
	read = first;
	assert_false(balance_entry_read(JOB, 3, &read));
	assert_same(&read, &first);
	assert_false(balance_entries_tidy(JOB));
	balance_entry_remove(JOB, 12);
	assert_false(balance_entries_exist(JOB));
	close(fd);
}

static void the_jobs_cgroup(void **state)
{
	struct balance_cgroup cgroup = {.v2 = true}, read;
	int fd;

	(void)state;
	if (!own_run)
		skip();
	fd = lock(JOB);
	assert_false(balance_entries_get_cgroup(JOB, &read));
	strcpy(cgroup.job, "/sys/fs/cgroup/a b/job_7");
	for (int i = 0; i < 2; i++) {
		assert_int_equal(balance_entries_set_cgroup(JOB, &cgroup, &err), 0);
		assert_true(balance_entries_get_cgroup(JOB, &read));
		assert_string_equal(read.job, cgroup.job);
		assert_int_equal(read.v2, cgroup.v2);
		cgroup.v2 = false;
	}
	put(MAL_RUN_DIR "/7/cgroup", "3 /a\n");
	assert_false(balance_entries_get_cgroup(JOB, &read));
	assert_true(balance_entries_tidy(JOB));
	close(fd);
}

static void another_step_ends(void)
{
	assert_true(balance_entries_tidy(JOB));
}

/* Whoever has it has it alone, also where the last step removes it while another one waits. */
static void one_has_the_lock(void **state)
{
	struct stat status, there;
	int fd;

	(void)state;
	if (!own_run)
		skip();
	while_locking = another_step_ends;
	fd = lock(JOB);
	assert_null(while_locking);
	assert_int_equal(fstat(fd, &status), 0);
	assert_int_equal(stat(MAL_RUN_DIR "/7/lock", &there), 0);
	assert_int_equal(status.st_ino, there.st_ino);
	assert_int_equal(balance_entries_lock(JOB, true, 1, &err), -1);
	assert_non_null(strstr(err.text, "7/lock is held by another step of the job"));
	assert_true(balance_entries_tidy(JOB));
	close(fd);
}

static void jobs_are_numbers(void **state)
{
	unsigned int next = 0, job;
	int first, second;

	(void)state;
	if (!own_run)
		skip();
	first = lock(12);
	second = lock(JOB);
	assert_int_equal(mkdir(MAL_SOCKET_DIR, 0755), 0);
	assert_true(balance_entries_next_job(&next, &job));
	assert_int_equal(job, JOB);
	assert_true(balance_entries_next_job(&next, &job));
	assert_int_equal(job, 12);
	assert_false(balance_entries_next_job(&next, &job));
	assert_true(balance_entries_tidy(JOB) && balance_entries_tidy(12));
	balance_directory_leave(MAL_SOCKET_DIR);
	close(first);
	close(second);
}

/* Where somebody else could write root makes nothing. */
static void directories_of_others(void **state)
{
	(void)state;
	if (!own_run)
		skip();
	put(MAL_RUN_DIR, "");
	assert_int_equal(balance_entries_lock(JOB, true, 0, &err), -1);
	assert_non_null(strstr(err.text, "is not a directory that only root can write to"));
	unlink(MAL_RUN_DIR);
	assert_int_equal(mkdir(MAL_RUN_DIR, 0755), 0);
	assert_int_equal(chmod(MAL_RUN_DIR, 0775), 0);
	assert_int_equal(balance_entries_lock(JOB, true, 0, &err), -1);
	assert_int_equal(chmod(MAL_RUN_DIR, 0700), 0);
	close(lock(JOB));
	assert_int_equal(mode_of(MAL_RUN_DIR), 0755);
	assert_true(balance_entries_tidy(JOB));
}

/* The number of a process that has ended. */
static pid_t dead(void)
{
	pid_t child = fork();

	if (child == 0)
		_exit(0);
	assert_int_equal(waitpid(child, NULL, 0), child);
	return child;
}

static void sockets(void **state)
{
	struct balance_socket socket;
	char path[128], left[128];

	(void)state;
	if (!own_run)
		skip();
	for (int i = 0; i < 2; i++) {
		assert_int_equal(balance_socket_make(&socket, JOB, 3, 0, 0, &err), 0);
		strcpy(path, socket.path);
		assert_true(is_there(path));
		snprintf(left, sizeof(left), MAL_SOCKET_DIR "/7.3.%ld", (long)getpid());
		assert_string_equal(socket.path, left);
		/* One of this name is left over. */
		balance_socket_close(&socket);
		assert_int_equal(socket.fd, -1);
	}
	snprintf(left, sizeof(left), MAL_SOCKET_DIR "/7.2.%ld", (long)dead());
	put(left, "");
	balance_sockets_clean_up();
	assert_false(is_there(left));
	assert_true(is_there(path));
	strcpy(socket.path, path);
	balance_socket_remove(&socket);
	assert_false(is_there(path));
	assert_string_equal(socket.path, "");
	put(MAL_RUN_DIR, "");
	assert_int_equal(balance_socket_make(&socket, JOB, 3, 0, 0, &err), -1);
	assert_string_equal(socket.path, "");
	unlink(MAL_RUN_DIR);
}

/* A script of user 0 that starts, with its two descriptors. */
static int script(int *handovers)
{
	int fd = balance_launchers_await(JOB, 0, 0, handovers, &err);

	assert_true(fd >= 0 && *handovers >= 0);
	return fd;
}

/* What launchers hand over is logged; what was left by those that were killed goes. */
static void scripts(void **state)
{
	struct mal_handover what = {.ranks = 4, .policy = "lewi", .launcher = "mpirun"};
	int fd, handovers;
	char left[128];

	(void)state;
	if (!own_run)
		skip();
	assert_int_equal(mkdir(MAL_RUN_DIR, 0755), 0);
	assert_int_equal(mkdir(MAL_SCRIPT_DIR, 0755), 0);
	snprintf(left, sizeof(left), MAL_SCRIPT_DIR "/job_6.%ld", (long)dead());
	assert_int_equal(mkfifo(left, 0600), 0);
	fd = script(&handovers);
	assert_false(is_there(left));
	what.record.magic = MAL_OUTCOME_MAGIC;
	mal_script_tell();
	mal_handover_send(&what);
	balance_launchers_record(&handovers, JOB, 0);
	assert_int_equal(handovers, -1);
	assert_string_equal(logged, "7.mpirun.1");
	assert_int_equal(logged_ranks, 4);
	balance_launchers_end(&fd, true);
	assert_int_equal(fd, -1);
	assert_string_equal(told, "");
}

/* The user is told where no rank came, and nobody where that is not wanted. */
static void scripts_without_ranks(void **state)
{
	int fd, handovers;

	(void)state;
	if (!own_run)
		skip();
	for (int tells = 0; tells < 2; tells++) {
		fd = script(&handovers);
		balance_launchers_record(&handovers, JOB, 0);
		balance_launchers_end(&fd, tells);
		assert_int_equal(strstr(told, "nothing in this script was balanced") != NULL,
				 tells);
	}
	assert_string_equal(logged, "");
	/* An srun without ranks has a line of its own. */
	told[0] = '\0';
	fd = script(&handovers);
	mal_script_tell();
	mal_script_tell_no_ranks(JOB);
	balance_launchers_record(&handovers, JOB, 0);
	balance_launchers_end(&fd, true);
	assert_string_equal(told, "");
	put(MAL_RUN_DIR, "");
	assert_int_equal(balance_launchers_await(JOB, 0, 0, &handovers, &err), -1);
	unlink(MAL_RUN_DIR);
}

static bool leads_to(const char *file)
{
	char path[MAL_OFF_PATH];

	return mal_admin_read_link(path, sizeof(path)) && strcmp(path, file) == 0;
}

static void the_off_switch(void **state)
{
	char fresh[64];

	(void)state;
	if (!own_run)
		skip();
	assert_string_equal(mal_admin_off_file(), MAL_OFF_FILE);
	for (int i = 0; i < 2; i++) {
		strcpy(balance_config.off_file, i ? "/srv/off" : "/etc/off");
		assert_string_equal(balance_switch_link(), MAL_OFF_LINK);
		assert_true(leads_to(balance_config.off_file));
		assert_string_equal(mal_admin_off_file(), MAL_OFF_LINK);
	}
	/* It cannot be made: the switch has its own name, and nothing is left. */
	unlink(MAL_OFF_LINK);
	assert_int_equal(mkdir(MAL_OFF_LINK, 0755), 0);
	assert_string_equal(balance_switch_link(), "/srv/off");
	snprintf(fresh, sizeof(fresh), MAL_OFF_LINK ".%ld", (long)getpid());
	assert_int_equal(unlink(fresh), -1);
	assert_int_equal(rmdir(MAL_OFF_LINK), 0);
}

#define CASE(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(entries_are_as_written),
		CASE(the_jobs_cgroup),
		CASE(one_has_the_lock),
		CASE(jobs_are_numbers),
		CASE(directories_of_others),
		CASE(sockets),
		CASE(scripts),
		CASE(scripts_without_ranks),
		CASE(the_off_switch),
	};

	return cmocka_run_group_tests(tests, enter, NULL);
}
