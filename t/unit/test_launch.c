/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_launch.c: starting and ending a controller, a rank's environment, and the directory for
 * sockets.
 */
#include "t/unit/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "libmalleable/base/descriptor.h"
#include "libmalleable/base/hidden.h"
#include "libmalleable/base/patience.h"
#include "libmalleable/core/env.h"
#include "libmalleable/core/inside.h"
#include "libmalleable/core/launch.h"
#include "libmalleable/core/rundir.h"
#include "libmalleable/core/segment.h"
#include "libmalleable/core/settings.h"
#include "libmalleable/core/setup.h"

#define TEXT_OF(number) #number
#define TEXT(number) TEXT_OF(number)
#define LAYOUT TEXT(MAL_SEGMENT_VERSION)

static char directory[] = "/tmp/test-launch.XXXXXX";

static int make_directory(void **state)
{
	(void)state;
	return mkdtemp(directory) ? 0 : -1;
}

static int remove_directory(void **state)
{
	(void)state;
	return rmdir(directory);
}

/* What follows OPTION, a number, or -1. */
static int number_of(char **arguments, const char *option)
{
	for (; *arguments; arguments++)
		if (strcmp(*arguments, option) == 0)
			return arguments[1] ? atoi(arguments[1]) : -1;
	return -1;
}

/*
 * This program as malleabled: the step's name says what it does. It forks, hands its parent's
 * parent the child as a descriptor, and the child reports its arguments and environment when its
 * life ends.
 */
static int be_controller(char **arguments)
{
	int life = number_of(arguments, "--life-fd"), report = number_of(arguments, "--report-fd");
	int start = number_of(arguments, "--start-fd"), pidfd;
	const char *step = "";
	pid_t child;
	char byte;

	for (char **argument = arguments; *argument; argument++)
		if (strcmp(*argument, "--step") == 0)
			step = argument[1];
	if (strcmp(step, "refuses") == 0) {
		mal_descriptor_send(start, -1, "no such policy", 14);
		return 1;
	}
	if (strcmp(step, "silent") == 0)
		return 1;
	if (strcmp(step, "slow") == 0)
		pause();
	child = fork();
	if (child > 0) {
		pidfd = (int)syscall(SYS_pidfd_open, child, 0);
		mal_descriptor_send(start, pidfd, "x", 1);
		return 0;
	}
	close(start);
	if (strcmp(step, "stubborn") == 0)
		pause();
	if (read(life, &byte, 1) != 0)
		return 1;
	for (int again = strcmp(step, "talkative") == 0 ? 300 : 1; again > 0; again--) {
		for (char **argument = arguments + 1; *argument; argument++)
			dprintf(report, "%s ", *argument);
		for (char **entry = environ; *entry; entry++)
			dprintf(report, "%s ", *entry);
	}
	return 0;
}

static struct mal_launch_options options_of(const char *step)
{
	return (struct mal_launch_options){
		.path = "/proc/self/exe",
		.arguments = {MAL_ARGUMENTS_NO_FDS, .step = step, .cpus = "0-3", .policy = "auto"},
	};
}

static void a_controller_is_told_everything(void **state)
{
	struct mal_launch_options options = options_of("7.0");
	struct mal_launched controller;
	struct mal_error err = {""};
	char text[2000];

	(void)state;
	options.arguments.segment_fd = STDIN_FILENO;
	options.arguments.cgroup_fds[0] = options.arguments.cgroup_fds[1] = STDIN_FILENO;
	options.arguments.cgroup_count = 2;
	options.arguments.min_cpus = 2;
	options.arguments.nodes = 5;
	options.arguments.idle = "4-7";
	mal_patience_set(7);
	if (mal_launch(&controller, &options, 5000, &err) < 0)
		fail_msg("%s", err.text);
	assert_true(mal_launched_end(&controller, 5000, text, sizeof(text)));
	assert_int_equal(controller.pidfd, -1);
	mal_patience_set(1);
	assert_string_equal(
		text,
		"--segment-fd 3 --life-fd 4 --report-fd 5 --start-fd 6 --cgroup-fd 7 --cgroup-fd 8 "
		"--min-cpus 2 --patience 7 --nodes 5 --layout " LAYOUT " "
		"--cpus 0-3 --idle 4-7 --policy auto --step 7.0 "
		"PATH=/usr/bin:/bin LC_ALL=C ");
}

/*
 * hwloc's variables are passed on where the user started it, and nothing else; a user is named
 * where there is one.
 */
static void a_controller_of_a_user(void **state)
{
	struct mal_launch_options options = options_of("7.0");
	struct mal_launched controller;
	char text[2000];

	(void)state;
	options.users_topology = options.arguments.becomes_user = true;
	options.arguments.user = 12;
	options.arguments.group = 34;
	setenv("HWLOC_SYNTHETIC", "core:4", 1);
	setenv("LD_PRELOAD_NOT", "x", 1);
	assert_int_equal(mal_launch(&controller, &options, 5000, NULL), 0);
	unsetenv("HWLOC_SYNTHETIC");
	assert_true(mal_launched_end(&controller, 5000, text, sizeof(text)));
	assert_non_null(strstr(text, "--user 12 --group 34 "));
	assert_non_null(strstr(text, " HWLOC_SYNTHETIC=core:4 "));
	assert_null(strstr(text, "LD_PRELOAD_NOT"));
}

static void controllers_that_do_not_start(void **state)
{
	static const struct {
		const char *step, *says;
		int timeout_ms;
	} cases[] = {
		{"refuses", "does not start: no such policy", 5000},
		{"silent", "/proc/self/exe does not start: it is not of malleable", 5000},
		{"slow", "does not start in time", 30},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct mal_launch_options options = options_of(cases[i].step);
		struct mal_launched controller;
		struct mal_error err = {""};

		assert_int_equal(mal_launch(&controller, &options, cases[i].timeout_ms, &err), -1);
		if (!strstr(err.text, cases[i].says))
			fail_msg("%s: '%s'", cases[i].step, err.text);
		assert_int_equal(controller.pidfd, -1);
		assert_true(mal_launched_end(&controller, 0, NULL, 0));
		mal_launched_forget(&controller);
	}
}

static void no_program_is_named(void **state)
{
	struct mal_launch_options options = options_of("7.0");
	struct mal_launched controller;
	struct mal_error err;

	(void)state;
	options.path = "/none";
	assert_int_equal(mal_launch(&controller, &options, 5000, &err), -1);
	assert_string_equal(err.text, "cannot run the controller /none: No such file or directory");
}

/* One that does not end is killed, and one that says too much is cut. */
static void controllers_end_in_time(void **state)
{
	struct mal_launch_options stubborn = options_of("stubborn"),
				  talkative = options_of("talkative");
	struct mal_launched controller;
	char text[20];

	(void)state;
	assert_int_equal(mal_launch(&controller, &stubborn, 5000, NULL), 0);
	assert_false(mal_launched_end(&controller, 50, text, sizeof(text)));
	assert_string_equal(text, "");
	assert_int_equal(mal_launch(&controller, &talkative, 5000, NULL), 0);
	assert_true(mal_launched_end(&controller, 5000, text, sizeof(text)));
	assert_int_equal(strlen(text), sizeof(text) - 1);
}

/* A child drops its ends, and the controller lives on for its parent. */
static void a_child_forgets_the_controller(void **state)
{
	struct mal_launch_options options = options_of("7.0");
	struct mal_launched controller, copy;

	(void)state;
	assert_int_equal(mal_launch(&controller, &options, 5000, NULL), 0);
	copy = (struct mal_launched){dup(controller.pidfd), dup(controller.life),
				     dup(controller.report)};
	mal_launched_forget(&copy);
	assert_int_equal(copy.pidfd, -1);
	assert_false(mal_descriptor_wait(controller.pidfd, 1, 0));
	assert_true(mal_launched_end(&controller, 5000, NULL, 0));
}

/* An environment in memory; setting the name in REFUSED fails. */
static struct {
	char text[4096];
	const char *preload, *refused;
} variables;

static int get(void *context, const char *name, char *value, size_t size)
{
	(void)context;
	if (strcmp(name, "LD_PRELOAD") != 0 || !variables.preload)
		return 0;
	return snprintf(value, size, "%s", variables.preload) < (int)size ? 1 : -1;
}

static int set(void *context, const char *name, const char *value)
{
	size_t used = strlen(variables.text);

	(void)context;
	if (variables.refused && strcmp(name, variables.refused) == 0)
		return -1;
	snprintf(variables.text + used, sizeof(variables.text) - used, "%s=%s\n", name, value);
	return 0;
}

static void unset(void *context, const char *name)
{
	(void)context, (void)name;
	fail_msg("%s is not set", name);
}

static const struct mal_setup_env environment = {get, set, unset, NULL};
static const struct mal_cpumask cpus = {{0xf}}, home = {{0x3}};
static const struct mal_setup all = {.libdir = "/none",
				     .cpus = &cpus,
				     .home = &home,
				     .socket = "/s",
				     .cgroup = "/job_1/step_0",
				     .segment_fd = 9,
				     .mode = "team",
				     .keys = {.max_threads = 8, .keep_gomp = true},
				     .bits = "keep",
				     .nodes = 2,
				     .quiet = true,
				     .local_rank = 1};

static void a_rank_is_told_everything(void **state)
{
	struct mal_setup least = {
		.libdir = "/none", .cpus = &cpus, .mode = "auto", .local_rank = -1, .nodes = 1};

	(void)state;
	variables.text[0] = '\0';
	variables.preload = "/users.so";
	mal_patience_set(7);
	assert_int_equal(mal_setup_apply(&all, &environment, NULL), 0);
	mal_patience_set(1);
	assert_string_equal(variables.text,
			    "LD_PRELOAD=/none/libmalleable.so:/users.so\n" MAL_ENV_SEGMENT_FD
			    "=9\n" MAL_ENV_PATIENCE "=7\n" MAL_ENV_SOCKET "=/s\n" MAL_ENV_CGROUP
			    "=/job_1/step_0\n" MAL_ENV_CPUS "=0-3\n" MAL_ENV_MODE
			    "=team\n" MAL_ENV_HOME "=0-1\n" MAL_ENV_LOCAL_RANK
			    "=1\n" MAL_ENV_MAX_THREADS "=8\n" MAL_ENV_PROVE "=yes\n" MAL_ENV_BITS
			    "=keep\n" MAL_ENV_NODES "=2\n" MAL_ENV_QUIET "=yes\n" MAL_ENV_GOMP
			    "=keep\nKMP_HOT_TEAMS_MODE=1\n" MAL_ENV_HOT_TEAMS "=yes\n");
	variables.text[0] = '\0';
	variables.preload = NULL;
	assert_int_equal(mal_setup_apply(&least, &environment, NULL), 0);
	assert_string_equal(variables.text,
			    "LD_PRELOAD=/none/libmalleable.so\n" MAL_ENV_SEGMENT_FD
			    "=0\n" MAL_ENV_PATIENCE "=1\n" MAL_ENV_CPUS "=0-3\n" MAL_ENV_MODE
			    "=auto\n" MAL_ENV_PROVE "=yes\nKMP_HOT_TEAMS_MODE=1\n" MAL_ENV_HOT_TEAMS
			    "=yes\n");
	variables.text[0] = '\0';
	least.keys.prove = MAL_PROVE_NO;
	assert_int_equal(mal_setup_apply(&least, &environment, NULL), 0);
	assert_null(strstr(variables.text, MAL_ENV_PROVE));
}

/* The library for MPI is preloaded where it was built. */
static void both_libraries_are_preloaded(void **state)
{
	struct mal_setup setup = all;
	char path[64], wanted[200];

	(void)state;
	setup.libdir = directory;
	snprintf(path, sizeof(path), "%s/libmalleable_mpi.so", directory);
	close(open(path, O_CREAT | O_WRONLY, 0600));
	variables.text[0] = '\0';
	assert_int_equal(mal_setup_apply(&setup, &environment, NULL), 0);
	snprintf(wanted, sizeof(wanted), "LD_PRELOAD=%s/libmalleable.so:%s\n", directory, path);
	assert_memory_equal(variables.text, wanted, strlen(wanted));
	unlink(path);
}

/* What answers for other libraries is preloaded where it was asked for, and has to be there. */
static void names_of_others_are_preloaded(void **state)
{
	static const char *const names[] = {"libdlb.so", "libgeopm.so"};
	struct mal_setup setup = all;
	char compat[64], paths[2][128], wanted[512];
	struct mal_error err;

	(void)state;
	setup.libdir = directory;
	setup.keys.dlb = true;
	assert_int_equal(mal_setup_apply(&setup, &environment, &err), -1);
	snprintf(wanted, sizeof(wanted), "dlb=yes: there is no %s/compat/libdlb.so", directory);
	assert_string_equal(err.text, wanted);
	snprintf(compat, sizeof(compat), "%s/compat", directory);
	assert_int_equal(mkdir(compat, 0700), 0);
	for (int i = 0; i < 2; i++) {
		snprintf(paths[i], sizeof(paths[i]), "%s/%s", compat, names[i]);
		close(open(paths[i], O_CREAT | O_WRONLY, 0600));
	}
	variables.text[0] = '\0';
	variables.preload = "/users.so";
	assert_int_equal(mal_setup_apply(&setup, &environment, NULL), 0);
	snprintf(wanted, sizeof(wanted), "LD_PRELOAD=%s/libmalleable.so:%s:/users.so\n", directory,
		 paths[0]);
	assert_memory_equal(variables.text, wanted, strlen(wanted));
	setup.keys.geopm = true;
	variables.text[0] = '\0';
	assert_int_equal(mal_setup_apply(&setup, &environment, NULL), 0);
	snprintf(wanted, sizeof(wanted), "LD_PRELOAD=%s/libmalleable.so:%s:%s:/users.so\n",
		 directory, paths[0], paths[1]);
	assert_memory_equal(variables.text, wanted, strlen(wanted));
	unlink(paths[0]);
	unlink(paths[1]);
	rmdir(compat);
	setup.keys.dlb = false;
	assert_int_equal(mal_setup_apply(&setup, &environment, &err), -1);
	assert_non_null(strstr(err.text, "geopm=yes: "));
	variables.preload = NULL;
}

/* Also in a directory whose name is as long as a site's may be, and in none that no path has. */
static void libraries_may_lie_deep(void **state)
{
	struct mal_setup setup = all;
	char libdir[512], path[540], longest[5000];
	struct mal_error err;

	(void)state;
	setup.libdir = libdir;
	strcpy(libdir, directory);
	for (int i = 0; i < 4; i++) {
		size_t length = strlen(libdir);

		snprintf(libdir + length, sizeof(libdir) - length, "/%0119d", i);
		assert_int_equal(mkdir(libdir, 0700), 0);
	}
	snprintf(path, sizeof(path), "%s/libmalleable_mpi.so", libdir);
	close(open(path, O_CREAT | O_WRONLY, 0600));
	variables.text[0] = '\0';
	assert_int_equal(mal_setup_apply(&setup, &environment, NULL), 0);
	assert_non_null(strstr(variables.text, path));
	unlink(path);
	for (int i = 0; i < 4; i++) {
		rmdir(libdir);
		*strrchr(libdir, '/') = '\0';
	}
	memset(longest, 'x', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	setup.libdir = longest;
	assert_int_equal(mal_setup_apply(&setup, &environment, &err), -1);
	assert_non_null(strstr(err.text, "too long"));
}

/* Any variable may find no room. */
static void what_cannot_be_set_is_named(void **state)
{
	static const char *const names[] = {
		"LD_PRELOAD",	  MAL_ENV_SEGMENT_FD, MAL_ENV_SOCKET,	  MAL_ENV_CPUS,
		MAL_ENV_MODE,	  MAL_ENV_HOME,	      MAL_ENV_LOCAL_RANK, MAL_ENV_MAX_THREADS,
		MAL_ENV_NODES,	  MAL_ENV_GOMP,	      MAL_ENV_QUIET,	  "KMP_HOT_TEAMS_MODE",
		MAL_ENV_PATIENCE, MAL_ENV_CGROUP,     MAL_ENV_HOT_TEAMS,  MAL_ENV_BITS};
	static char longest[10000];
	struct mal_error err;

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		variables.refused = names[i];
		assert_int_equal(mal_setup_apply(&all, &environment, &err), -1);
		assert_non_null(strstr(err.text, names[i]));
	}
	variables.refused = NULL;
	memset(longest, 'x', sizeof(longest) - 1);
	variables.preload = longest;
	assert_int_equal(mal_setup_apply(&all, &environment, &err), -1);
	assert_string_equal(err.text, "LD_PRELOAD is longer than 8191 bytes");
	variables.preload = NULL;
}

/* This process's own environment. */
static int get_own(void *context, const char *name, char *value, size_t size)
{
	const char *found = getenv(name);

	(void)context;
	return !found ? 0 : snprintf(value, size, "%s", found) < (int)size ? 1 : -1;
}

static int set_own(void *context, const char *name, const char *value)
{
	(void)context;
	return setenv(name, value, 1);
}

static void unset_own(void *context, const char *name)
{
	(void)context;
	unsetenv(name);
}

static const struct mal_setup_env own = {get_own, set_own, unset_own, NULL};

static void preload_becomes(const char *before, const char *after)
{
	setenv(MAL_ENV_SEGMENT_FD, "9", 1);
	setenv("LD_PRELOAD", before, 1);
	mal_setup_remove(&own);
	if (after)
		assert_string_equal(getenv("LD_PRELOAD"), after);
	else
		assert_null(getenv("LD_PRELOAD"));
}

/* Another step may have been started from inside this one: all of ours goes, the user's stays. */
static void all_that_is_set_is_removed(void **state)
{
	struct mal_setup other = all;

	(void)state;
	setenv("LD_PRELOAD", "/users.so", 1);
	assert_int_equal(mal_setup_apply(&all, &own, NULL), 0);
	other.socket = NULL;
	other.libdir = "/other";
	assert_int_equal(mal_setup_apply(&other, &own, NULL), 0);
	assert_null(getenv(MAL_ENV_SOCKET));
	assert_string_equal(getenv("LD_PRELOAD"), "/other/libmalleable.so:/users.so");
	mal_setup_remove(&own);
	assert_string_equal(getenv("LD_PRELOAD"), "/users.so");
	for (char **entry = environ; *entry; entry++)
		assert_true(strncmp(*entry, "MALLEABLE_", 10) && strncmp(*entry, "KMP_", 4));
	/* Nothing of it is ours where nothing names a segment. */
	setenv("KMP_HOT_TEAMS_MODE", "0", 1);
	setenv(MAL_ENV_PATIENCE, "3", 1);
	mal_setup_remove(&own);
	assert_string_equal(getenv(MAL_ENV_PATIENCE), "3");
	preload_becomes("/a/libmalleable.so", NULL);
	preload_becomes("/a/libmalleable.so:/b/libmalleable_mpi.so", NULL);
	preload_becomes("/u.so:/a/libmalleable.so", "/u.so");
	preload_becomes("libmalleable.so /u.so /v.so", "/u.so /v.so");
	preload_becomes("/a/libmalleable.so:/a/compat/libdlb.so:/a/compat/libgeopm.so:/u.so",
			"/u.so");
	preload_becomes("/a/libmalleable.so:/opt/dlb/lib/libdlb.so", "/opt/dlb/lib/libdlb.so");
	preload_becomes("/mylibmalleable.so:/libmalleable.so.1",
			"/mylibmalleable.so:/libmalleable.so.1");
	assert_string_equal(getenv("KMP_HOT_TEAMS_MODE"), "0");
	mal_setup_remove(&own);
	unsetenv("LD_PRELOAD");
	unsetenv("KMP_HOT_TEAMS_MODE");
}

/* The descriptor, the cgroup and the controller's socket tell, in this order. */
static void the_kernel_tells_who_is_inside(void **state)
{
	struct mal_segment segment;
	char number[16], cgroup[4096];
	int fd = mal_segment_create(&segment, 1, &cpus, NULL);
	const char *own_cgroup = mal_inside_cgroup(cgroup, sizeof(cgroup)) ? cgroup : "";

	(void)state;
	assert_false(mal_inside());
	snprintf(number, sizeof(number), "%d", fd);
	setenv(MAL_ENV_SEGMENT_FD, number, 1);
	setenv(MAL_ENV_CGROUP, own_cgroup, 1);
	atomic_store(&segment.header->over, true);
	assert_false(mal_inside());
	atomic_store(&segment.header->over, false);
	setenv(MAL_ENV_CGROUP, "/nowhere/job_1/step_0", 1);
	assert_true(mal_inside());
	/* A segment of another version is one too: that is said, later. */
	segment.header->version++;
	assert_true(mal_inside());
	/* What is where in it we do not know, so nothing is written to it. */
	mal_segment_note_unloadable(fd);
	assert_int_equal(atomic_load(&segment.header->unloadable), 0);
	segment.header->version--;
	mal_segment_note_unloadable(fd);
	assert_int_equal(atomic_load(&segment.header->unloadable), 1);
	/* A descriptor that is something else, or a copy that its owner could cut. */
	close(fd);
	assert_int_equal(memfd_create("copy", MFD_ALLOW_SEALING), fd);
	assert_int_equal(write(fd, segment.header, segment.size), segment.size);
	assert_false(mal_inside());
	close(fd);
	assert_int_equal(open("/dev/null", O_RDONLY), fd);
	assert_false(mal_inside());
	setenv(MAL_ENV_CGROUP, own_cgroup, 1);
	assert_true(mal_inside());
	unsetenv(MAL_ENV_CGROUP);
	assert_false(mal_inside());
	setenv(MAL_ENV_SOCKET, "/nowhere/socket", 1);
	assert_false(mal_inside());
	close(fd);
	mal_segment_close(&segment);
	mal_setup_remove(&own);
}

static void sockets_are_in_a_directory_of_ones_own(void **state)
{
	char path[MAL_SOCKET_PATH], wanted[64], longest[200];
	struct mal_error err;

	(void)state;
	snprintf(wanted, sizeof(wanted), "%s/malleable", directory);
	setenv("XDG_RUNTIME_DIR", directory, 1);
	assert_int_equal(mal_rundir_find_own(false, path, sizeof(path), &err), -1);
	assert_non_null(strstr(err.text, "is not a directory that only you can use"));
	assert_int_equal(mal_rundir_find_own(true, path, sizeof(path), &err), 0);
	assert_string_equal(path, wanted);
	assert_int_equal(mal_rundir_find_own(true, path, sizeof(path), &err), 0);
	assert_int_equal(mal_rundir_find_own(false, longest, 10, &err), -1);
	assert_string_equal(err.text, "XDG_RUNTIME_DIR is too long");
	/* Others may write there. */
	assert_int_equal(chmod(path, 0777), 0);
	assert_int_equal(mal_rundir_find_own(false, path, sizeof(path), &err), -1);
	assert_int_equal(rmdir(wanted), 0);
	/* A link is none. */
	assert_int_equal(symlink("/etc", wanted), 0);
	assert_int_equal(mal_rundir_find_own(true, path, sizeof(path), &err), -1);
	assert_int_equal(unlink(wanted), 0);
	/* A directory where others may write is none for ours, as is a relative name. */
	assert_int_equal(chmod(directory, 0777), 0);
	mal_rundir_find_own(false, path, sizeof(path), NULL);
	snprintf(wanted, sizeof(wanted), "/tmp/malleable-%u", (unsigned int)geteuid());
	assert_string_equal(path, wanted);
	assert_int_equal(chmod(directory, 0700), 0);
	setenv("XDG_RUNTIME_DIR", "run", 1);
	mal_rundir_find_own(false, path, sizeof(path), NULL);
	assert_string_equal(path, wanted);
}

/* A descriptor that ranks inherit, above those that programs take for theirs. */
static void ranks_inherit_the_segment(void **state)
{
	struct mal_segment segment;
	struct mal_error err;
	int fd = mal_segment_create_for_ranks(3, &cpus, &err);

	(void)state;
	assert_true(fd >= MAL_SEGMENT_FD_MIN);
	assert_false(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	assert_int_equal(mal_segment_open(&segment, fd, &err), 0);
	assert_int_equal(segment.rank_count, 3);
	mal_segment_close(&segment);
	close(fd);
	assert_int_equal(mal_segment_create_for_ranks(0, &cpus, &err), -1);
	assert_string_equal(err.text, "0 ranks on this node: 1 to 1024 can be balanced");
	assert_int_equal(mal_segment_create_for_ranks(MAL_MAX_RANKS + 1, &cpus, &err), -1);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_controller_is_told_everything),
		cmocka_unit_test(a_controller_of_a_user),
		cmocka_unit_test(controllers_that_do_not_start),
		cmocka_unit_test(no_program_is_named),
		cmocka_unit_test(controllers_end_in_time),
		cmocka_unit_test(a_child_forgets_the_controller),
		cmocka_unit_test(a_rank_is_told_everything),
		cmocka_unit_test(both_libraries_are_preloaded),
		cmocka_unit_test(names_of_others_are_preloaded),
		cmocka_unit_test(libraries_may_lie_deep),
		cmocka_unit_test(what_cannot_be_set_is_named),
		cmocka_unit_test(sockets_are_in_a_directory_of_ones_own),
		cmocka_unit_test(ranks_inherit_the_segment),
		cmocka_unit_test(all_that_is_set_is_removed),
		cmocka_unit_test(the_kernel_tells_who_is_inside),
	};

	mal_hidden_take(&argc, &argv);
	if (argc > 1 && strcmp(argv[0], "malleabled") == 0)
		return be_controller(argv);
	return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
