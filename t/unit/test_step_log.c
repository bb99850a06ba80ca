/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_step_log.c: what slurmstepd logs of a step and tells its user, from figures that the user's
 * controller wrote.
 */
#include "t/unit/unit.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "libmalleable/core/outcome.h"
#include "spank/cgroup.h"
#include "spank/plugin.h"
#include "spank/step_log.h"

int __wrap_setxattr(const char *path, const char *name, const void *value, size_t size, int flags);

struct mal_site balance_config;

/* The step, what its controller wrote, and what came of that. */
static struct balance_outcome step;
static struct mal_outcome_record record;
static const char *text;
static char logged[512], told[512];
static bool user_reads, was_said;

void balance_log_step(const char *line)
{
	snprintf(logged, sizeof(logged), "%s", line);
}

bool balance_tell_user(const char *line)
{
	strncat(told, line, sizeof(told) - strlen(told) - 1);
	strncat(told, "|", sizeof(told) - strlen(told) - 1);
	return user_reads;
}

int balance_cgroup_find(struct balance_cgroup *cgroup, struct mal_error *err)
{
	(void)err;
	strcpy(cgroup->job, "/job");
	return 0;
}

int __wrap_setxattr(const char *path, const char *name, const void *value, size_t size, int flags)
{
	(void)value;
	(void)size;
	(void)flags;
	assert_string_equal(path, "/job");
	assert_string_equal(name, "trusted.balance.nothing.1");
	errno = EEXIST;
	return was_said ? -1 : 0;
}

static int set_up(void **state)
{
	(void)state;
	balance_config = (struct mal_site){.log = MAL_LOG_SLURMD};
	step = (struct balance_outcome){
		.job = 7,
		.user = 1000,
		.step = "7.0",
		.node = "n1",
		.policy = "auto",
		.ranks = 2,
		.cpus = 4,
	};
	record = (struct mal_outcome_record){.magic = MAL_OUTCOME_MAGIC,
					     .version = MAL_OUTCOME_VERSION,
					     .windows = 9,
					     .lends = 1,
					     .moves = 2,
					     .elapsed_s = 10,
					     .off_s = 15,
					     .ideal_s = 5};
	text = "";
	user_reads = true;
	was_said = false;
	return 0;
}

static void report(void)
{
	char written[256] = {0};

	memcpy(written, &record, sizeof(record));
	strcpy(written + sizeof(record), text);
	logged[0] = told[0] = '\0';
	balance_outcome_report(&step, written, sizeof(written));
}

static void for_programs(void **state)
{
	(void)state;
	report();
	assert_string_equal(logged,
			    "uid=1000 job=7 step=7.0 node=n1 policy=auto ranks=2 cpus=4 windows=9 "
			    "elapsed_s=10.000 unbalanced_s=15.000 ideal_s=5.000 lends=1 moves=2");
	record.off_s = -NAN;
	report();
	assert_non_null(strstr(logged, " unbalanced_s=nan "));
	balance_config.log = MAL_LOG_NONE;
	report();
	assert_string_equal(logged, "");
}

/* Of what cannot be, nothing is said: a user wrote it. */
static void odd_figures(void **state)
{
	const double odd[] = {-1, INFINITY, 2e9};
	struct mal_outcome_record good;

	set_up(state);
	good = record;
	text = "x";
	for (size_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++)
		for (int field = 0; field < 3; field++) {
			record = good;
			*(field == 0   ? &record.elapsed_s
			  : field == 1 ? &record.off_s
				       : &record.ideal_s) = odd[i];
			report();
			assert_string_equal(logged, "");
			assert_string_equal(told, "");
		}
	record = good;
	record.version++;
	report();
	assert_string_equal(logged, "");
	record = good;
	record.lends = UINT64_MAX;
	report();
	assert_string_equal(logged, "");
}

static void for_its_user(void **state)
{
	(void)state;
	text = "one\n\ntwo\033[2J\n";
	report();
	assert_string_equal(told, "one|two?[2J|");
	/* Who does not read is not waited for again. */
	user_reads = false;
	report();
	assert_string_equal(told, "one|");
	step.silent = true;
	report();
	assert_string_equal(told, "");
	assert_string_not_equal(logged, "");
}

/* Where no rank came, whoever asked for balancing is told, once in a job. */
static void no_rank_came(void **state)
{
	(void)state;
	record.magic = MAL_OUTCOME_NOTHING;
	record.windows = MAL_NOTHING_LOADED;
	text = "no rank came\n";
	report();
	assert_string_equal(told, "");
	step.expected = true;
	report();
	assert_string_equal(told, "no rank came|");
	assert_string_equal(logged, "");
	was_said = true;
	report();
	assert_string_equal(told, "");
	was_said = false;
	step.expected = false;
	report();
	assert_string_equal(told, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(for_programs, set_up),
		cmocka_unit_test_setup(odd_figures, set_up),
		cmocka_unit_test_setup(for_its_user, set_up),
		cmocka_unit_test_setup(no_rank_came, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
