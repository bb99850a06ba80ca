/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_cgroup.c: where a step's cgroups are, and writing its cpuset, with what a user may have made
 * below it.
 */
#include "t/unit/unit.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "spank/cgroup.h"
#include "spank/deadline.h"
#include "spank/hierarchy.h"
#include "spank/tracker.h"

int __wrap_balance_hierarchy_find(const char *controller, struct balance_hierarchy *hierarchy,
				  struct mal_error *err);
int __wrap_clock_gettime(clockid_t clock, struct timespec *time);

static struct balance_cgroup cgroup;
static char root[] = "/tmp/test-cgroup.XXXXXX";
static long now_ns, step_ns; /* each look at the clock takes so long */

int __wrap_clock_gettime(clockid_t clock, struct timespec *time)
{
	(void)clock;
	now_ns += step_ns;
	*time = (struct timespec){1000 + now_ns / 1000000000, now_ns % 1000000000};
	return 0;
}

/* Our own cgroup, in the hierarchy that is mounted at ROOT, and its version. */
static const char *own;
static bool v2, no_cpusets;

int __wrap_balance_hierarchy_find(const char *controller, struct balance_hierarchy *hierarchy,
				  struct mal_error *err)
{
	(void)err;
	if (no_cpusets && strcmp(controller, "cpuset") == 0)
		return -1;
	hierarchy->v2 = v2;
	strcpy(hierarchy->mount, root);
	strcpy(hierarchy->own, own);
	return 0;
}

static const char *path_of(const char *name)
{
	static char path[200];

	snprintf(path, sizeof(path), "%s/step_0%s/cpuset.cpus", root, name);
	return path;
}

static void put(const char *name, const char *cpus)
{
	char directory[200];
	FILE *file;

	snprintf(directory, sizeof(directory), "%s/step_0%s", root, name);
	mkdir(directory, 0700);
	file = fopen(path_of(name), "w");
	assert_non_null(file);
	fputs(cpus, file);
	fclose(file);
}

/* A file keeps what is behind a shorter text. */
static bool has(const char *name, const char *cpus)
{
	char line[64] = "";
	FILE *file = fopen(path_of(name), "r");

	assert_non_null(file);
	assert_non_null(fgets(line, sizeof(line), file));
	fclose(file);
	return strncmp(line, cpus, strlen(cpus)) == 0;
}

static int set_up(void **state)
{
	(void)state;
	strcpy(root + strlen(root) - 6, "XXXXXX");
	assert_non_null(mkdtemp(root));
	strcpy(cgroup.job, root);
	v2 = no_cpusets = false;
	now_ns = step_ns = 0;
	balance_deadline_set(1000);
	return 0;
}

static int tear_down(void **state)
{
	char command[64];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf %s", root);
	return system(command);
}

static void set_step(const char *cpus)
{
	struct mal_cpumask mask;

	assert_int_equal(mal_cpumask_parse(cpus, &mask, NULL), 0);
	assert_int_equal(balance_cgroup_write(&cgroup, 0, &mask, NULL), 0);
}

/* What has CPUs that the step loses loses them first, at any depth and of any name. */
static void all_below_become_narrower(void **state)
{
	(void)state;
	put("", "0-3");
	put("/task_0", "0-3");
	put("/mine", "2-3");
	put("/mine/deep", "3");
	put("/inside", "1");
	put("/empty", "\n");
	set_step("0-1");
	assert_true(has("", "0-1") && has("/task_0", "0-1"));
	assert_true(has("/mine", "0-1") && has("/mine/deep", "0-1"));
	assert_true(has("/inside", "1") && has("/empty", "\n"));
}

/* The kernel refuses a cpuset that lacks a CPU of one below it. */
static void the_deepest_become_narrower_first(void **state)
{
	static const char *const names[] = {"/mine/deep", "/mine", ""};
	_Alignas(struct inotify_event) char events[4096];
	int fd = inotify_init1(IN_CLOEXEC), watches[3];
	size_t at = 0, length;

	(void)state;
	for (unsigned int i = 3; i-- > 0;) {
		put(names[i], "0-3");
		watches[i] = inotify_add_watch(fd, path_of(names[i]), IN_MODIFY);
	}
	set_step("0-1");
	length = (size_t)read(fd, events, sizeof(events));
	for (unsigned int i = 0; i < 3; i++, at += sizeof(struct inotify_event)) {
		assert_true(at < length);
		assert_int_equal(((struct inotify_event *)(events + at))->wd, watches[i]);
	}
	close(fd);
}

/* Where the step grows, its tasks do, and nothing else. */
static void tasks_grow_with_the_step(void **state)
{
	(void)state;
	put("", "0");
	put("/task_0", "0");
	put("/task_x", "0");
	put("/mine", "0");
	set_step("0-3");
	assert_true(has("", "0-3") && has("/task_0", "0-3"));
	assert_false(has("/task_x", "0-3") || has("/mine", "0-3"));
}

/* However many there are: it takes 50 ms, or what is left of all waits. */
static void time_is_bounded(void **state)
{
	unsigned int written = 0;
	char name[32];

	(void)state;
	put("", "0");
	for (unsigned int i = 0; i < 300; i++) {
		snprintf(name, sizeof(name), "/task_%u", i);
		put(name, "0");
	}
	step_ns = 1000000;
	balance_deadline_set(1000);
	set_step("0-3");
	for (unsigned int i = 0; i < 300; i++) {
		snprintf(name, sizeof(name), "/task_%u", i);
		written += has(name, "0-3");
	}
	assert_in_range(written, 1, 50);
	assert_true(has("", "0-3"));
	balance_deadline_set(0);
	set_step("0-2");
	assert_true(has("", "0-2"));
}

/* The job's directory that is found from OWN, below ROOT; empty: none. */
static const char *job_of(const char *path)
{
	static struct balance_cgroup found;

	own = path;
	return balance_cgroup_find(&found, NULL) == 0 ? found.job + strlen(root) : "";
}

/* Slurm calls a job's directory by its number, or by its SLUID (26.05). */
static void jobs_have_two_names(void **state)
{
	(void)state;
	assert_string_equal(job_of("/slurm/uid_0/job_7/step_0"), "/slurm/uid_0/job_7");
	v2 = true;
	assert_string_equal(job_of("/a.scope/job_7/step_0/slurm"), "/a.scope/job_7");
	assert_string_equal(job_of("/a.scope/s4SNKN57XZTE00/step_0+1/slurm"),
			    "/a.scope/s4SNKN57XZTE00");
	/* A slurmd in a job of another Slurm. */
	assert_string_equal(job_of("/a/job_1/step_0/user/task_0/b/s4SNKN57XZTE00/step_3/slurm"),
			    "/a/job_1/step_0/user/task_0/b/s4SNKN57XZTE00");
	assert_string_equal(job_of("/a.scope/job_7/slurm"), "");
	assert_string_equal(job_of("/a.scope/job_7x/step_0/slurm"), "");
	assert_string_equal(job_of("/a.scope/s4SNKN57XZTE0/step_0/slurm"), "");
	assert_string_equal(job_of("/a.scope/s4SNKN57XZTEIO/step_0/slurm"), "");
	assert_string_equal(job_of("/"), "");
}

/* Others are steps of users: not the batch script, and nothing else that looks like a step. */
static void cpus_of_other_steps(void **state)
{
	static const char *const names[] = {"1",  "2+1",	"3+",	 "4x",
					    "+5", "4294967291", "batch", "extern"};
	struct mal_cpumask cpus, wanted;

	(void)state;
	put("", "0");
	for (unsigned int i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		char path[200], list[8];
		FILE *file;

		snprintf(path, sizeof(path), "%s/step_%s", root, names[i]);
		mkdir(path, 0700);
		strcat(path, "/cpuset.cpus");
		snprintf(list, sizeof(list), "%u", i + 1);
		file = fopen(path, "w");
		assert_non_null(file);
		fputs(list, file);
		fclose(file);
	}
	assert_int_equal(mal_cpumask_parse("1-2", &wanted, NULL), 0);
	assert_int_equal(balance_cgroup_read_others(&cgroup, 0, &cpus, NULL), 0);
	assert_memory_equal(&cpus, &wanted, sizeof(cpus));
}

static void make(const char *directory)
{
	char path[200];

	snprintf(path, sizeof(path), "%s/%s", root, directory);
	assert_int_equal(mkdir(path, 0700), 0);
}

/* Opens what kills the step together with its tasks, in what Slurm made so far. */
static void a_step_is_tracked(void **state)
{
	char procs[200];
	int fd;

	(void)state;
	own = "/s4SNKN57XZTE00/step_0/slurm";
	v2 = true;
	make("s4SNKN57XZTE00");
	make("s4SNKN57XZTE00/step_0");
	make("s4SNKN57XZTE00/step_0/user");
	assert_int_equal(balance_tracker_open(0, NULL), -2);
	snprintf(procs, sizeof(procs), "%s/s4SNKN57XZTE00/step_0/user/task_special/cgroup.procs",
		 root);
	close(open(procs, O_CREAT | O_WRONLY, 0600));
	fd = balance_tracker_open(0, NULL);
	assert_true(fd >= 0);
	close(fd);
	own = "/user.slice/session_0";
	assert_int_equal(balance_tracker_open(0, NULL), -1);
}

/* Where neither hierarchy names the step, or there are no cpusets, its number does. */
static void a_step_is_tracked_by_its_number(void **state)
{
	char procs[200];

	(void)state;
	own = "/job_7";
	make("job_7");
	make("job_7/step_3");
	snprintf(procs, sizeof(procs), "%s/job_7/step_3/cgroup.procs", root);
	close(open(procs, O_CREAT | O_WRONLY, 0600));
	for (int i = 0; i < 2; i++) {
		int fd = balance_tracker_open(3, NULL);

		assert_true(fd >= 0);
		close(fd);
		no_cpusets = true;
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(all_below_become_narrower, set_up, tear_down),
		cmocka_unit_test_setup_teardown(the_deepest_become_narrower_first, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(tasks_grow_with_the_step, set_up, tear_down),
		cmocka_unit_test_setup_teardown(time_is_bounded, set_up, tear_down),
		cmocka_unit_test_setup_teardown(jobs_have_two_names, set_up, tear_down),
		cmocka_unit_test_setup_teardown(cpus_of_other_steps, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_step_is_tracked, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_step_is_tracked_by_its_number, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
