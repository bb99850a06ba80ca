/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test_hierarchy.c: which mount of a cgroup hierarchy has a process's own cgroup. */
#include "t/unit/unit.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "spank/hierarchy.h"

#define STEP "/slurm/uid_0/job_1/step_0"
/* Mounts of a machine. */
#define TMPFS "31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755\n"
#define CPUSET "34 31 0:31 / /sys/fs/cgroup/cpuset rw,relatime shared:9 - cgroup cgroup rw,cpuset\n"
#define FREEZER "37 31 0:34 / /sys/fs/cgroup/freezer rw,relatime - cgroup cgroup rw,freezer\n"
#define UNIFIED "41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw\n"
#define V2 \
	"30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 master:2 - cgroup2 cgroup2 " \
	"rw,nsdelegate\n"

/* Directories that are not there, and such as cannot be written. */
static const char *missing, *read_only;
/* Whether the v2 hierarchy has the controllers. */
static bool v2_has_all;

static enum balance_mount rate(const struct balance_hierarchy *hierarchy, const char *controller)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s%s", hierarchy->mount, hierarchy->own);
	if (missing && strcmp(path, missing) == 0)
		return BALANCE_MOUNT_USELESS;
	if (hierarchy->v2 && !v2_has_all && strcmp(controller, "freezer") != 0)
		return BALANCE_MOUNT_USELESS;
	return read_only && strncmp(path, read_only, strlen(read_only)) == 0
		       ? BALANCE_MOUNT_THERE
		       : BALANCE_MOUNT_WRITABLE;
}

/* The directory of CONTROLLER for a process with these MOUNTS and CGROUPS, "": none. */
static const char *find(const char *mounts, const char *cgroups, const char *controller)
{
	static char path[sizeof("v1:") + sizeof(struct balance_hierarchy)];
	struct balance_hierarchy hierarchy;
	FILE *first = fmemopen((void *)mounts, strlen(mounts), "r"),
	     *second = fmemopen((void *)cgroups, strlen(cgroups), "r");

	assert_true(first && second);
	path[0] = '\0';
	if (balance_hierarchy_choose(first, second, controller, rate, &hierarchy))
		snprintf(path, sizeof(path), "%s:%s%s", hierarchy.v2 ? "v2" : "v1", hierarchy.mount,
			 hierarchy.own);
	fclose(first);
	fclose(second);
	return path;
}

static int set_up(void **state)
{
	(void)state;
	missing = read_only = NULL;
	v2_has_all = false;
	return 0;
}

static void cgroup_v1_is_found(void **state)
{
	const char *own = "6:freezer:" STEP "\n5:devices:/other\n3:cpuset:" STEP "\n0::/\n";

	(void)state;
	assert_string_equal(find(TMPFS CPUSET FREEZER, own, "cpuset"),
			    "v1:/sys/fs/cgroup/cpuset" STEP);
	assert_string_equal(find(TMPFS CPUSET FREEZER, own, "freezer"),
			    "v1:/sys/fs/cgroup/freezer" STEP);
	assert_string_equal(find(TMPFS CPUSET, own, "freezer"), "");
	assert_string_equal(find(TMPFS CPUSET, "3:cpuset:/\n", "cpuset"),
			    "v1:/sys/fs/cgroup/cpuset/");
	/* Several controllers in one hierarchy; none of them is a part of another's name. */
	assert_string_equal(find("34 31 0:31 / /c rw - cgroup cgroup rw,cpu,cpuset,cpuacct\n",
				 "3:cpu,cpuset,cpuacct:" STEP "\n", "cpuset"),
			    "v1:/c" STEP);
	assert_string_equal(find("34 31 0:31 / /c rw - cgroup cgroup rw,name=cpuset,cpusets\n",
				 "3:name=cpuset,cpusets:" STEP "\n", "cpuset"),
			    "");
}

static void cgroup_v2_is_found(void **state)
{
	(void)state;
	v2_has_all = true;
	assert_string_equal(find(V2, "0::" STEP "/slurm\n", "cpuset"),
			    "v2:/sys/fs/cgroup" STEP "/slurm");
	assert_string_equal(find(V2, "0::" STEP "/slurm\n", "freezer"),
			    "v2:/sys/fs/cgroup" STEP "/slurm");
	v2_has_all = false;
	assert_string_equal(find(V2, "0::" STEP "\n", "cpuset"), "");
}

/* v2 is mounted beside v1, and comes first or last. */
static void v2_beside_v1_is_passed_over(void **state)
{
	const char *own = "6:freezer:" STEP "\n3:cpuset:" STEP "\n0::/system.slice/slurmd\n";

	(void)state;
	v2_has_all = true;
	assert_string_equal(find(TMPFS UNIFIED CPUSET FREEZER, own, "freezer"),
			    "v1:/sys/fs/cgroup/freezer" STEP);
	assert_string_equal(find(TMPFS CPUSET FREEZER UNIFIED, own, "freezer"),
			    "v1:/sys/fs/cgroup/freezer" STEP);
	assert_string_equal(find(TMPFS CPUSET UNIFIED, own, "freezer"),
			    "v2:/sys/fs/cgroup/unified/system.slice/slurmd");
	/* Even where v1 is read-only it is what Slurm uses. */
	read_only = "/sys/fs/cgroup/cpuset";
	assert_string_equal(find(TMPFS UNIFIED CPUSET, own, "cpuset"),
			    "v1:/sys/fs/cgroup/cpuset" STEP);
}

/* A part of a hierarchy is mounted elsewhere too, as for a container; it may come first. */
static void bind_mounts_are_not_the_root(void **state)
{
#define PART \
	"29 20 0:31 /docker/a /var/lib/a/cgroup rw - cgroup cgroup rw,cpuset\n" \
	"28 20 0:31 /slurm/uid /var/lib/b/cgroup rw - cgroup cgroup rw,cpuset\n" \
	"27 20 0:31 /slurm/uid_9 /var/lib/c/cgroup rw - cgroup cgroup rw,cpuset\n"
#define INNER "50 20 0:31 /slurm/uid_0 /srv/with\\040blank\\134 rw - cgroup cgroup rw,cpuset\n"
	const char *own = "3:cpuset:" STEP "\n";

	(void)state;
	assert_string_equal(find(PART CPUSET, own, "cpuset"), "v1:/sys/fs/cgroup/cpuset" STEP);
	assert_string_equal(find(CPUSET PART, own, "cpuset"), "v1:/sys/fs/cgroup/cpuset" STEP);
	/* One that begins above our cgroup will do: the path goes on from there. */
	assert_string_equal(find(PART INNER, own, "cpuset"), "v1:/srv/with blank\\/job_1/step_0");
	assert_string_equal(find(PART, own, "cpuset"), "");
	assert_string_equal(
		find("1 2 0:31 " STEP " /own rw - cgroup cgroup rw,cpuset\n", own, "cpuset"),
		"v1:/own");
	/* One that others cover is not there, and what cannot be written is the second choice. */
	missing = "/sys/fs/cgroup/cpuset" STEP;
	assert_string_equal(find(CPUSET INNER, own, "cpuset"), "v1:/srv/with blank\\/job_1/step_0");
	missing = NULL;
	read_only = "/sys";
	assert_string_equal(find(CPUSET INNER, own, "cpuset"), "v1:/srv/with blank\\/job_1/step_0");
	assert_string_equal(find(CPUSET, own, "cpuset"), "v1:/sys/fs/cgroup/cpuset" STEP);
}

/* Paths begin at the namespace's own root; what is outside is /.. and is not ours to use. */
static void paths_begin_at_the_namespace(void **state)
{
	(void)state;
	assert_string_equal(
		find("9 8 0:31 /.. /host rw - cgroup cgroup rw,cpuset\n"
		     "9 8 0:31 /../other /sibling rw - cgroup cgroup rw,cpuset\n" CPUSET,
		     "3:cpuset:" STEP "\n", "cpuset"),
		"v1:/sys/fs/cgroup/cpuset" STEP);
	/* A process that was moved out of its namespace's part. */
	assert_string_equal(find("9 8 0:31 /../other /sibling rw - cgroup cgroup rw,cpuset\n",
				 "3:cpuset:/../other" STEP "\n", "cpuset"),
			    "v1:/sibling" STEP);
}

/* Lines that make no sense are left out. */
static void nonsense_lines_are_left_out(void **state)
{
	char *longest = malloc(5000), *own = malloc(5000);

	(void)state;
	assert_string_equal(find("\n-\n1 2 3\n1 2 3 / /a rw - cgroup\n1 2 3 - cgroup a rw,cpuset\n",
				 "x\n3:cpuset\n3:cpuset:/a\n", "cpuset"),
			    "");
	assert_string_equal(find("1 2 3 / /a\\04 rw - cgroup c rw,cpuset", "3:cpuset:/b", "cpuset"),
			    "v1:/a\\04/b");
	assert_true(longest && own);
	memset(own, 'x', 5000);
	snprintf(longest, 5000, "3:cpuset:/%.4000s\n", own);
	assert_string_equal(find(CPUSET, longest, "cpuset"), "");
	snprintf(longest, 5000, "1 2 3 / /%.4000s rw - cgroup c rw,cpuset\n", own);
	assert_string_equal(find(longest, "3:cpuset:/b\n", "cpuset"), "");
	free(longest);
	free(own);
}

/* slurmstepd and slurmd look for hierarchies again and again. */
static void no_memory_is_kept(void **state)
{
	size_t before = 0;

	(void)state;
	for (int i = 0; i < 3; i++) {
		assert_string_equal(find(TMPFS CPUSET, "3:cpuset:" STEP "\n", "cpuset"),
				    "v1:/sys/fs/cgroup/cpuset" STEP);
		if (i)
			assert_int_equal(memory_kept(), before);
		before = memory_kept();
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(cgroup_v1_is_found, set_up),
		cmocka_unit_test_setup(cgroup_v2_is_found, set_up),
		cmocka_unit_test_setup(v2_beside_v1_is_passed_over, set_up),
		cmocka_unit_test_setup(bind_mounts_are_not_the_root, set_up),
		cmocka_unit_test_setup(paths_begin_at_the_namespace, set_up),
		cmocka_unit_test_setup(nonsense_lines_are_left_out, set_up),
		cmocka_unit_test_setup(no_memory_is_kept, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
