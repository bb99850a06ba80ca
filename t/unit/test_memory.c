/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_memory.c: policies where memory runs out, at each allocation in turn: no crash, no unfit
 * plan, nothing lost.
 */
#include "t/unit/policy_view.h"

#include <stdalign.h>
#include <stdlib.h>

#include "policies/decide/decision.h"
#include "policies/decide/simulation.h"
#include "policies/interface/builtin.h"
#include "policies/interface/plan_check.h"
#include "policies/interface/registry.h"
#include "policies/mapping/mapping.h"

/* Allocations until one fails, below 0: none does; and those that were not freed. */
static long until_failure = -1;
static long live;
static bool failed;

void *__real_calloc(size_t count, size_t size);
void __real_free(void *memory);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *memory, size_t size);
void __wrap_free(void *memory);

static bool fails(void)
{
	bool now = until_failure == 0;

	failed |= now;
	until_failure -= until_failure >= 0;
	return now;
}

/* Before what an allocation was asked for stands its size, behind it what nobody may overwrite. */
struct head {
	alignas(max_align_t) size_t size;
};
static const char guard[64] = "guarded";

static void *allocate(size_t size)
{
	struct head *head = fails() ? NULL : __real_calloc(1, sizeof(*head) + size + sizeof(guard));

	if (!head)
		return NULL;
	live++;
	head->size = size;
	memcpy((char *)(head + 1) + size, guard, sizeof(guard));
	return head + 1;
}

void *__wrap_malloc(size_t size)
{
	return allocate(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
	return allocate(count * size);
}

void *__wrap_realloc(void *memory, size_t size)
{
	char *more = allocate(size);

	if (!more || !memory)
		return more;
	memcpy(more, memory,
	       size < ((struct head *)memory)[-1].size ? size : ((struct head *)memory)[-1].size);
	__wrap_free(memory);
	return more;
}

void __wrap_free(void *memory)
{
	struct head *head = memory ? (struct head *)memory - 1 : NULL;

	if (!head)
		return;
	assert_memory_equal((char *)memory + head->size, guard, sizeof(guard));
	live--;
	__real_free(head);
}

/* Call ATTEMPT with the first allocation failing, then the second, until none fails. */
static void fail_each(void (*attempt)(const void *argument), const void *argument)
{
	long number = 0;

	do {
		failed = false;
		live = 0;
		until_failure = number++;
		attempt(argument);
		until_failure = -1;
		assert_int_equal(live, 0);
	} while (failed);
	assert_true(number > 1);
}

/* Windows of a step whose number of ranks changes to and fro, as no step's does. */
static void live_with(const void *argument)
{
	static const unsigned int ranks[] = {8, 8, 2, 8, 8, 8};
	const struct mal_policy *policy = argument;
	void *state = create(policy);
	const char *rejection;

	for (size_t window = 0; state && window < sizeof(ranks) / sizeof(ranks[0]); window++) {
		static struct policy_view node;

		make_view(&node, ranks[window], 4, 4);
		for (unsigned int rank = 0; rank < ranks[window]; rank++)
			node.samples[rank].work_s = rank == window % 2 ? 12 : 2;
		/* A plan that could not be mapped is found to be unfit. */
		if (mal_decide(policy, state, &node.view, &node.plan, &rejection) !=
		    MAL_DECISION_MADE)
			assert_true(failed);
	}
	if (policy->destroy)
		policy->destroy(state);
}

static void policies_survive(void **state)
{
	(void)state;
	fail_each(live_with, &mal_policy_auto);
	fail_each(live_with, &mal_policy_sabo);
	fail_each(live_with, &mal_policy_lewi);
	fail_each(live_with, &mal_policy_explore);
	fail_each(live_with, &mal_policy_external);
}

/* Also with nothing to free: what could not be made is destroyed all the same. */
static void nothing_is_destroyed(void **state)
{
	const struct mal_policy *policy;

	(void)state;
	for (size_t i = 0; (policy = mal_policy_at(i)); i++)
		if (policy->destroy)
			policy->destroy(NULL);
	mal_simulation_destroy(NULL);
}

/* Either nothing moves, or the numbers are those that were wanted. */
static void map(const void *argument)
{
	static struct policy_view node;

	(void)argument;
	make_view(&node, 4, 4, 4);
	node.plan.move = node.plan.bind = true;
	memcpy(node.count, (unsigned int[]){6, 2, 3, 5}, 4 * sizeof(unsigned int));
	mal_map(&node.view, &node.plan);
	if (memcmp(node.new_owner, node.owner, 16 * sizeof(unsigned int)) != 0)
		assert_null(mal_plan_check(&node.view, &node.plan));
	else
		assert_true(failed);
}

static void mapping_survives(void **state)
{
	(void)state;
	fail_each(map, NULL);
}

static void simulate(const void *argument)
{
	static struct policy_view node;
	const double values[] = {3, 0.5, 1, 1, 1};
	struct mal_simulation *simulation;

	(void)argument;
	make_view(&node, 2, 4, 4);
	simulation = mal_simulation_create(&mal_policy_auto, values, &node.topology, 2, node.owner);
	assert_int_equal(simulation == NULL, failed);
	mal_simulation_destroy(simulation);
}

static void simulations_survive(void **state)
{
	(void)state;
	fail_each(simulate, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(policies_survive),
		cmocka_unit_test(nothing_is_destroyed),
		cmocka_unit_test(mapping_survives),
		cmocka_unit_test(simulations_survive),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
