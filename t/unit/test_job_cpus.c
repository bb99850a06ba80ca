/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_job_cpus.c: the steps of a job that share CPUs, where files or cpusets cannot be written or
 * tasks' affinities not be read.
 */
#include "t/unit/unit.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libmalleable/base/patience.h"
#include "spank/cgroup.h"
#include "spank/deadline.h"
#include "spank/entries.h"
#include "spank/job_cpus.h"
#include "spank/plugin.h"

#define STEPS 4u
#define JOB 7u

int __wrap_clock_gettime(clockid_t clock, struct timespec *time);
int __wrap_mal_cpumask_get_affinity(pid_t tid, struct mal_cpumask *mask);
int __wrap_mal_cpumask_set_affinity(pid_t tid, const struct mal_cpumask *mask);
bool __wrap_mal_channel_is_open(const char *path);
bool __wrap_mal_channel_tell(const char *path, const char *request, int timeout_ms);

/* The node: a job of four CPUs, its steps' files and cpusets. */
static struct {
	bool there[STEPS];
	struct balance_entry entry[STEPS];
	struct mal_cpumask cpuset[STEPS];
	bool refuses[STEPS]; /* its file cannot be written */
	bool busy[STEPS];    /* its cpuset cannot become smaller */
	pid_t ended;	     /* a task whose affinity cannot be read */
	unsigned int bound, errors, offers;
	/* for which the lock, the answer to an offer, and any other answer were waited last */
	int lock_ms, offer_ms, answer_ms;
	int others_ms;	 /* and what was left to clean up after other jobs */
	char peers[256]; /* what controllers heard last of each other */
} node;

/* Time stands still. */
int __wrap_clock_gettime(clockid_t clock, struct timespec *time)
{
	(void)clock;
	*time = (struct timespec){1000, 0};
	return 0;
}

static struct mal_cpumask mask_of(const char *list)
{
	struct mal_cpumask mask;

	assert_int_equal(mal_cpumask_parse(list, &mask, NULL), 0);
	return mask;
}

static const char *text_of(const struct mal_cpumask *mask)
{
	static char text[MAL_CPUMASK_TEXT];

	return mal_cpumask_format(mask, text, sizeof(text));
}

int __wrap_mal_cpumask_get_affinity(pid_t tid, struct mal_cpumask *mask)
{
	if (tid == node.ended)
		return -1;
	*mask = mask_of("1");
	return 0;
}

int __wrap_mal_cpumask_set_affinity(pid_t tid, const struct mal_cpumask *mask)
{
	assert_int_not_equal(tid, node.ended);
	assert_string_equal(text_of(mask), "1");
	node.bound++;
	return 0;
}

bool __wrap_mal_channel_is_open(const char *path)
{
	(void)path;
	return true;
}

bool __wrap_mal_channel_tell(const char *path, const char *request, int timeout_ms)
{
	bool offer = strncmp(request, "offer", 5) == 0;

	(void)path;
	*(offer ? &node.offer_ms : &node.answer_ms) = timeout_ms;
	if (strncmp(request, "peers", 5) == 0)
		snprintf(node.peers, sizeof(node.peers), "%s", request);
	node.offers += offer;
	return true;
}

void balance_put(enum balance_line line, const char *format, ...)
{
	(void)line;
	(void)format;
	node.errors++;
}

int balance_cgroup_find(struct balance_cgroup *cgroup, struct mal_error *err)
{
	(void)err;
	memset(cgroup, 0, sizeof(*cgroup));
	return 0;
}

int balance_cgroup_read_job(const struct balance_cgroup *cgroup, struct mal_cpumask *cpus,
			    struct mal_error *err)
{
	(void)cgroup;
	(void)err;
	*cpus = mask_of("0-3");
	return 0;
}

int balance_cgroup_read(const struct balance_cgroup *cgroup, unsigned int number,
			struct mal_cpumask *cpus, struct mal_error *err)
{
	(void)cgroup;
	(void)err;
	*cpus = node.cpuset[number];
	return 0;
}

int balance_cgroup_read_others(const struct balance_cgroup *cgroup, unsigned int number,
			       struct mal_cpumask *cpus, struct mal_error *err)
{
	(void)cgroup;
	(void)err;
	memset(cpus, 0, sizeof(*cpus));
	for (unsigned int i = 0; i < STEPS; i++)
		if (i != number)
			mal_cpumask_union(cpus, &node.cpuset[i]);
	return 0;
}

int balance_cgroup_write(const struct balance_cgroup *cgroup, unsigned int number,
			 const struct mal_cpumask *cpus, struct mal_error *err)
{
	struct mal_cpumask lost = node.cpuset[number];

	(void)cgroup;
	mal_cpumask_drop(&lost, cpus);
	if (node.busy[number] && mal_cpumask_count(&lost))
		return mal_fail(err, "busy");
	node.cpuset[number] = *cpus;
	return 0;
}

/* A descriptor that may be closed. */
int balance_entries_lock(unsigned int job, bool create, int timeout_ms, struct mal_error *err)
{
	(void)job;
	(void)create;
	(void)err;
	node.lock_ms = timeout_ms;
	return dup(STDOUT_FILENO);
}

bool balance_entries_exist(unsigned int job)
{
	return job == JOB;
}

bool balance_entries_next_job(unsigned int *next, unsigned int *job)
{
	(void)next;
	(void)job;
	node.others_ms = balance_deadline_left(INT_MAX);
	return false;
}

int balance_entries_set_cgroup(unsigned int job, const struct balance_cgroup *cgroup,
			       struct mal_error *err)
{
	(void)job;
	(void)cgroup;
	(void)err;
	return 0;
}

bool balance_entries_get_cgroup(unsigned int job, struct balance_cgroup *cgroup)
{
	(void)job;
	memset(cgroup, 0, sizeof(*cgroup));
	return true;
}

int balance_entry_write(unsigned int job, const struct balance_entry *entry, struct mal_error *err)
{
	(void)job;
	if (node.refuses[entry->step])
		return mal_fail(err, "no space left");
	node.entry[entry->step] = *entry;
	node.there[entry->step] = true;
	return 0;
}

bool balance_entry_read(unsigned int job, unsigned int number, struct balance_entry *entry)
{
	(void)job;
	*entry = node.entry[number];
	return node.there[number];
}

bool balance_entry_next(unsigned int job, unsigned int *next, struct balance_entry *entry)
{
	while (*next < STEPS)
		if (balance_entry_read(job, (*next)++, entry))
			return true;
	return false;
}

void balance_entry_remove(unsigned int job, unsigned int number)
{
	(void)job;
	node.there[number] = false;
}

bool balance_entries_tidy(unsigned int job)
{
	(void)job;
	for (size_t i = 0; i < sizeof(node.there) / sizeof(node.there[0]); i++)
		if (node.there[i])
			return false;
	return true;
}

/* A running step of the pool, with CPUs OWN. */
static void add_step(unsigned int number, const char *own)
{
	node.there[number] = true;
	node.cpuset[number] = mask_of(own);
	node.entry[number] =
		(struct balance_entry){.step = number, .own = mask_of(own), .pooled = true};
	snprintf(node.entry[number].socket, sizeof(node.entry[number].socket), "%u", number);
}

static int set_up(void **state)
{
	(void)state;
	memset(&node, 0, sizeof(node));
	node.ended = -1;
	balance_deadline_set(1000);
	add_step(0, "0");
	node.cpuset[1] = mask_of("1");
	return 0;
}

static struct balance_job_cpus *join(struct mal_cpumask *idle)
{
	struct mal_cpumask own = mask_of("1"), all;
	struct mal_error err;

	return balance_job_cpus_join(JOB, 1, &own, true, &all, idle, &err);
}

/* Each may use the other's CPUs, and what nobody has. */
static void pooled_steps_use_each_others_cpus(void **state)
{
	struct mal_cpumask idle;
	struct balance_job_cpus *pool = join(&idle);

	(void)state;
	assert_non_null(pool);
	assert_string_equal(text_of(&idle), "2-3");
	assert_string_equal(text_of(&node.entry[1].idle), "0,2-3");
	assert_string_equal(text_of(&node.cpuset[0]), "0-1");
	assert_true(node.there[1]);
	balance_job_cpus_leave(pool);
	assert_false(node.there[1]);
	balance_job_cpus_leave(NULL);
}

/* Each controller hears what each step owns, and what it may use. */
static void controllers_hear_what_peers_may_use(void **state)
{
	struct mal_cpumask idle;
	struct balance_job_cpus *pool = join(&idle);

	(void)state;
	assert_non_null(pool);
	assert_int_equal(balance_job_cpus_settle(pool, "1"), 0);
	assert_string_equal(node.peers, "peers 0:0:0-1 1:1:0-3");
	balance_job_cpus_leave(pool);
}

/* A step without a controller leaves its pool: slurmstepd goes on for as long as the step. */
static void step_that_cannot_settle_keeps_no_memory(void **state)
{
	size_t before = 0;

	for (int i = 0; i < 3; i++) {
		struct mal_cpumask idle;
		struct balance_job_cpus *pool;

		set_up(state);
		pool = join(&idle);
		assert_non_null(pool);
		assert_true(balance_job_cpus_settle(pool, "") < 0);
		assert_false(node.there[1]);
		if (i)
			assert_int_equal(memory_kept(), before);
		before = memory_kept();
	}
}

/* It cannot write its file: nobody has anything else than before. */
static void step_that_cannot_join_changes_nothing(void **state)
{
	struct mal_cpumask idle;

	(void)state;
	node.refuses[1] = true;
	assert_null(join(&idle));
	assert_false(node.there[1]);
	assert_string_equal(text_of(&node.cpuset[0]), "0");
	assert_string_equal(text_of(&node.entry[0].idle), "");
}

/* Another's file cannot be written: its cpuset has no more than the file says. */
static void cannot_widen_another(void **state)
{
	struct mal_cpumask idle;
	struct balance_job_cpus *pool;

	(void)state;
	node.refuses[0] = true;
	pool = join(&idle);
	assert_non_null(pool);
	assert_string_equal(text_of(&node.cpuset[0]), "0");
	assert_int_equal(node.errors, 1);
	balance_job_cpus_leave(pool);
	/* Nor does it get what a step leaves idle. */
	node.cpuset[1] = mask_of("1");
	balance_job_cpus_give(JOB, 1);
	assert_string_equal(text_of(&node.cpuset[0]), "0");
	assert_int_equal(node.offers, 0);
	node.refuses[0] = false;
	balance_job_cpus_give(JOB, 1);
	assert_string_equal(text_of(&node.cpuset[0]), "0-3");
	assert_int_equal(node.offers, 1);
}

/* A new step takes its CPUs back, even where the other's file cannot be written any more. */
static void new_step_takes_its_cpus_back(void **state)
{
	(void)state;
	node.entry[0].idle = mask_of("1-3");
	node.cpuset[0] = mask_of("0-3");
	node.refuses[0] = true;
	balance_job_cpus_claim(JOB, 1);
	assert_string_equal(text_of(&node.cpuset[0]), "0,2-3");
}

/* Tasks keep their affinities; one whose is unknown gets none that nobody chose. */
static void tasks_keep_theirs(void **state)
{
	const pid_t tasks[] = {11, 12, 13};
	struct mal_cpumask idle;
	struct balance_job_cpus *pool = join(&idle);
	struct mal_error err;

	(void)state;
	assert_non_null(pool);
	node.ended = 12;
	assert_int_equal(balance_job_cpus_widen(pool, tasks, 3, &err), 0);
	assert_int_equal(node.bound, 2);
	assert_string_equal(text_of(&node.cpuset[1]), "0-3");
	balance_job_cpus_leave(pool);
}

/* The kernel refuses to take CPUs away: they stay noted, and are taken when it lets us. */
static void keeps_what_it_keeps(void **state)
{
	struct mal_cpumask idle;
	struct balance_job_cpus *pool = join(&idle);

	(void)state;
	assert_string_equal(text_of(&node.cpuset[0]), "0-1");
	node.busy[0] = true;
	balance_job_cpus_claim(JOB, 1);
	assert_string_equal(text_of(&node.cpuset[0]), "0-1");
	assert_string_equal(text_of(&node.entry[0].idle), "1");
	node.busy[0] = false;
	balance_job_cpus_claim(JOB, 1);
	assert_string_equal(text_of(&node.cpuset[0]), "0");
	assert_string_equal(text_of(&node.entry[0].idle), "");
	balance_job_cpus_leave(pool);
}

static void waits_are_short(void **state)
{
	struct mal_cpumask idle;

	(void)state;
	for (unsigned int factor = 1; factor <= 60; factor += 59) {
		int times = (int)factor;
		struct balance_job_cpus *pool;

		set_up(NULL);
		mal_patience_set(factor);
		balance_deadline_set(1000);
		pool = join(&idle);
		assert_non_null(pool);
		assert_int_equal(node.others_ms, 50 * times);
		assert_int_equal(node.lock_ms, 300 * times);
		assert_int_equal(node.answer_ms, 6 * times);
		balance_job_cpus_leave(pool);
		node.cpuset[1] = mask_of("1");
		balance_job_cpus_give(JOB, 1);
		assert_int_equal(node.offer_ms, 50 * times);
		/* Not longer than all waits together. */
		balance_deadline_set(100);
		balance_job_cpus_claim(JOB, 1);
		assert_int_equal(node.lock_ms, 100 * times);
		/* slurmd has nothing else to do. */
		balance_job_cpus_clean_up(0);
		assert_int_equal(node.others_ms, 100 * times);
	}
	mal_patience_set(1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(pooled_steps_use_each_others_cpus, set_up),
		cmocka_unit_test_setup(controllers_hear_what_peers_may_use, set_up),
		cmocka_unit_test_setup(step_that_cannot_settle_keeps_no_memory, set_up),
		cmocka_unit_test_setup(step_that_cannot_join_changes_nothing, set_up),
		cmocka_unit_test_setup(cannot_widen_another, set_up),
		cmocka_unit_test_setup(new_step_takes_its_cpus_back, set_up),
		cmocka_unit_test_setup(tasks_keep_theirs, set_up),
		cmocka_unit_test_setup(keeps_what_it_keeps, set_up),
		cmocka_unit_test_setup(waits_are_short, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
