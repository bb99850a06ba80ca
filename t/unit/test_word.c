/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test_word.c: every transition of the fast-path word, from every state. */
#include "t/unit/unit.h"

#include "libmalleable/core/cpuword.h"

#define ME 1u
#define OTHER 2u
#define THIRD 3u

static const struct mal_cpu_state owned = {ME, ME, false};
static const struct mal_cpu_state free_of_me = {ME, MAL_NOBODY, true};
static const struct mal_cpu_state borrowed_from_me = {ME, OTHER, true};
static const struct mal_cpu_state free_of_other = {OTHER, MAL_NOBODY, true};
static const struct mal_cpu_state borrowed_by_me = {OTHER, ME, true};
static const struct mal_cpu_state moved_to_me = {ME, MAL_NOBODY, false};
static const struct mal_cpu_state others = {OTHER, OTHER, false};

static void expect(const mal_word *at, struct mal_cpu_state wanted)
{
	struct mal_cpu_state state = mal_word_read(at);

	assert_int_equal(state.owner, wanted.owner);
	assert_int_equal(state.user, wanted.user);
	assert_int_equal(state.lent, wanted.lent);
}

/* From state FROM, CALL must return WANTED and lead to TO. */
#define CHECK(from, call, wanted, to) \
	do { \
		mal_word_set(&word, from); \
		assert_int_equal(call, wanted); \
		expect(&word, to); \
	} while (0)

static mal_word word;

static void lent_cpu_can_be_taken(void **state)
{
	(void)state;
	CHECK(owned, mal_word_lend(&word, ME), true, free_of_me);
	CHECK(free_of_me, mal_word_lend(&word, ME), false, free_of_me);
	CHECK(borrowed_from_me, mal_word_lend(&word, ME), false, borrowed_from_me);
	CHECK(borrowed_by_me, mal_word_lend(&word, ME), false, borrowed_by_me);
	CHECK(others, mal_word_lend(&word, ME), false, others);
	CHECK(moved_to_me, mal_word_lend(&word, ME), false, moved_to_me);
}

static void borrowed_cpu_has_a_user(void **state)
{
	(void)state;
	CHECK(free_of_other, mal_word_borrow(&word, ME), true, borrowed_by_me);
	CHECK(borrowed_by_me, mal_word_borrow(&word, THIRD), false, borrowed_by_me);
	CHECK(others, mal_word_borrow(&word, ME), false, others);
	CHECK(free_of_me, mal_word_borrow(&word, ME), false, free_of_me);
	CHECK(moved_to_me, mal_word_borrow(&word, OTHER), false, moved_to_me);
}

static void granted_cpu_has_a_user(void **state)
{
	(void)state;
	CHECK(owned, mal_word_grant(&word, ME, OTHER), true, borrowed_from_me);
	CHECK(free_of_me, mal_word_grant(&word, ME, OTHER), true, borrowed_from_me);
	CHECK(borrowed_from_me, mal_word_grant(&word, ME, THIRD), false, borrowed_from_me);
	CHECK(owned, mal_word_grant(&word, ME, ME), false, owned);
	CHECK(moved_to_me, mal_word_grant(&word, ME, OTHER), false, moved_to_me);
	CHECK(others, mal_word_grant(&word, ME, THIRD), false, others);
}

static void released_cpu_is_free(void **state)
{
	(void)state;
	CHECK(borrowed_by_me, mal_word_release(&word, ME), true, free_of_other);
	CHECK(owned, mal_word_release(&word, ME), false, owned);
	CHECK(borrowed_from_me, mal_word_release(&word, ME), false, borrowed_from_me);
}

static void reclaimed_cpu_is_its_owners(void **state)
{
	(void)state;
	CHECK(free_of_me, mal_word_reclaim(&word, ME), MAL_NOBODY, owned);
	CHECK(borrowed_from_me, mal_word_reclaim(&word, ME), OTHER, owned);
	CHECK(owned, mal_word_reclaim(&word, ME), MAL_NOBODY, owned);
	CHECK(borrowed_by_me, mal_word_reclaim(&word, ME), MAL_NOBODY, borrowed_by_me);
	CHECK(moved_to_me, mal_word_reclaim(&word, ME), MAL_NOBODY, moved_to_me);
}

/* The giver leaves, the taker enters: in between the CPU has no user. */
static void given_cpu_has_no_user_in_between(void **state)
{
	(void)state;
	mal_word_set(&word, owned);
	assert_false(mal_word_take(&word, OTHER));
	assert_true(mal_word_move(&word, ME, OTHER));
	expect(&word, (struct mal_cpu_state){OTHER, MAL_NOBODY, false});
	assert_false(mal_word_take(&word, ME));
	assert_false(mal_word_borrow(&word, THIRD));
	assert_true(mal_word_take(&word, OTHER));
	expect(&word, others);
	assert_false(mal_word_move(&word, ME, THIRD));
}

/* A borrower stays on a CPU whose owner changes; the new owner may take it back. */
static void hand_over_while_lent(void **state)
{
	(void)state;
	mal_word_set(&word, borrowed_from_me);
	assert_true(mal_word_move(&word, ME, THIRD));
	expect(&word, (struct mal_cpu_state){THIRD, OTHER, true});
	assert_int_equal(mal_word_reclaim(&word, THIRD), OTHER);
	expect(&word, (struct mal_cpu_state){THIRD, THIRD, false});
	CHECK(free_of_me, mal_word_move(&word, ME, OTHER), true,
	      ((struct mal_cpu_state){OTHER, MAL_NOBODY, false}));
	CHECK(borrowed_from_me, mal_word_move(&word, ME, OTHER), true, others);
}

static void cpus_of_the_dead_are_recovered(void **state)
{
	(void)state;
	CHECK(owned, mal_word_recover(&word, ME), true, free_of_me);
	CHECK(borrowed_by_me, mal_word_recover(&word, ME), true, free_of_other);
	CHECK(borrowed_from_me, mal_word_recover(&word, ME), false, borrowed_from_me);
	CHECK(moved_to_me, mal_word_recover(&word, ME), true, free_of_me);
	CHECK(others, mal_word_recover(&word, ME), false, others);
}

/* Transitions of the job's idle CPUs, by the controller. */
static void idle_cpus_change_hands_whole(void **state)
{
	const struct mal_cpu_state nobodys = {MAL_NOBODY, MAL_NOBODY, false};
	struct mal_cpu_state before;

	(void)state;
	CHECK(nobodys, mal_word_give(&word, ME), true, moved_to_me);
	CHECK(others, mal_word_give(&word, ME), false, others);
	CHECK(owned, mal_word_revoke(&word).user, ME, nobodys);
	CHECK(moved_to_me, mal_word_revoke(&word).user, MAL_NOBODY, nobodys);
	mal_word_set(&word, borrowed_from_me);
	before = mal_word_revoke(&word);
	assert_true(before.lent && before.owner == ME && before.user == borrowed_from_me.user);
	/* The former owner and user can do nothing with it any more. */
	assert_false(mal_word_lend(&word, ME));
	assert_int_equal(mal_word_reclaim(&word, ME), MAL_NOBODY);
	assert_false(mal_word_release(&word, borrowed_from_me.user));
	assert_false(mal_word_move(&word, ME, 0));
	assert_false(mal_word_take(&word, ME));
	expect(&word, nobodys);
}

/*
 * Every change makes a new word, even back to an equal state: an old reading never matches (ABA).
 */
static void each_change_makes_a_new_word(void **state)
{
	uint64_t before, old;

	(void)state;
	mal_word_set(&word, owned);
	before = old = word;
	assert_true(mal_word_lend(&word, ME));
	mal_word_reclaim(&word, ME);
	expect(&word, owned);
	assert_int_not_equal(word, before);
	assert_false(mal_word_replace(&word, &old, others));
	assert_int_equal(old, word);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lent_cpu_can_be_taken),
		cmocka_unit_test(borrowed_cpu_has_a_user),
		cmocka_unit_test(granted_cpu_has_a_user),
		cmocka_unit_test(released_cpu_is_free),
		cmocka_unit_test(reclaimed_cpu_is_its_owners),
		cmocka_unit_test(given_cpu_has_no_user_in_between),
		cmocka_unit_test(hand_over_while_lent),
		cmocka_unit_test(cpus_of_the_dead_are_recovered),
		cmocka_unit_test(idle_cpus_change_hands_whole),
		cmocka_unit_test(each_change_makes_a_new_word),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
