/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test_choice.c: a user's --balance, and the registry of policies. */
#include "t/unit/unit.h"

#include <stdio.h>
#include <string.h>

#include "policies/interface/builtin.h"
#include "policies/interface/choice.h"
#include "policies/interface/registry.h"

static void good_choices_are_accepted(void **state)
{
	struct mal_choice choice;
	struct mal_error err;

	(void)state;
	assert_int_equal(mal_choose("", NULL, "auto", &choice, &err), 0);
	assert_string_equal(choice.policy->name, "auto");
	assert_int_equal(choice.keys.mode, MAL_WISH_AUTO);
	assert_int_equal(mal_choose("auto,gain=7.5,lend=no,mode=cpuset,max_threads=8", NULL, "auto",
				    &choice, &err),
			 0);
	assert_float_equal(choice.values[0], 7.5, 0);
	assert_int_equal(choice.keys.mode, MAL_WISH_CPUSET);
	assert_int_equal(choice.keys.max_threads, 8);
	assert_int_equal(mal_choose("mode=team", NULL, "lewi", &choice, &err), 0);
	assert_string_equal(choice.policy->name, "lewi");
	assert_int_equal(mal_choose("lewi", "auto,lewi", "auto", &choice, &err), 0);
	assert_int_equal(mal_choose("off", "auto", "auto", &choice, &err), 0);
	assert_int_equal(mal_choose("lewi,affinity=nearby-only,calls=collective", NULL, "auto",
				    &choice, &err),
			 0);
	assert_float_equal(choice.values[1], 1, 0);
	assert_float_equal(choice.values[2], 2, 0);
}

static void bad_choices_say_why(void **state)
{
	static const struct {
		const char *text, *allowed, *says;
	} bad[] = {
		{"fast", NULL, "unknown policy 'fast'"},
		{"lewi", "auto,observe", "allowed are auto,observe"},
		{"observe", "auto,observer", "not allowed"},
		{"auto,speed=1", NULL, "unknown key 'speed'"},
		{"lewi,gain=1", NULL, "policy lewi's own: keep, calls, affinity, most"},
		{"observe,gain=1", NULL, "none"},
		{"lewi,affinity=near", NULL, "one of nearby-first|any|nearby-only"},
		{"lewi,affinity=", NULL, "empty"},
		{"lewi,calls=1", NULL, "one of all|collective"},
		{"leaves=fall", NULL, "unknown key 'leaves'"},
		{"auto,gain=-1", NULL, "from 0 to 100"},
		{"auto,gain=1x", NULL, "from 0 to 100"},
		{"auto,gain=nan", NULL, "from 0 to 100"},
		{"auto,lend=maybe", NULL, "yes, no"},
		{"mode=fast", NULL, "auto, team or cpuset"},
		{"gomp=yes", NULL, "replace or keep"},
		{"events=yes", NULL, "unknown key 'events'"},
		{"pool=node", NULL, "pool=node: must be step or job"},
		{"auto,grow=step", NULL, "grow=step: must be a number from 0 to 1 (or yes, no)"},
		{"lewi,grow=step", NULL, "grow=step: "},
		{"auto,gain", NULL, "gain"},
		{"max_threads=0", NULL, "from 1 to"},
		{"prove=maybe", NULL, "yes or no"},
		{"dlb=on", NULL, "dlb=on: must be yes or no"},
		{"max_threads=-3", NULL, "from 1 to"},
		{"max_threads=99999999999999999999", NULL, "from 1 to"},
	};
	struct mal_choice choice;
	struct mal_error err;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(mal_choose(bad[i].text, bad[i].allowed, "auto", &choice, &err),
				 -1);
		if (!strstr(err.text, bad[i].says))
			fail_msg("%s: '%s' does not say '%s'", bad[i].text, err.text, bad[i].says);
	}
}

/* An unknown word is answered by all that are known, in the order of their tables. */
static void known_ones_are_named(void **state)
{
	char known[256], names[512];
	struct mal_choice choice;
	struct mal_error err;

	(void)state;
	assert_int_equal(mal_choose("fast", NULL, "auto", &choice, &err), -1);
	snprintf(known, sizeof(known), "known are %s", mal_policy_names(names, sizeof(names)));
	assert_non_null(strstr(known, "auto, lewi, "));
	assert_non_null(strstr(err.text, known));
	assert_int_equal(mal_choose("auto,speed=1", NULL, "auto", &choice, &err), -1);
	snprintf(known, sizeof(known), "known are %s and policy auto's own: gain",
		 mal_setting_names(MAL_SETTING_KEY, names, sizeof(names)));
	assert_non_null(strstr(known, "mode, gomp, dlb, "));
	assert_non_null(strstr(err.text, known));
}

static struct mal_choice choose(const char *text)
{
	struct mal_choice choice;
	struct mal_error err = {""};

	if (mal_choose(text, NULL, "auto", &choice, &err) < 0)
		fail_msg("%s: %s", text, err.text);
	return choice;
}

/* What is no policy's own: each key sets its field, and no other. */
static void each_common_key_sets_its_field(void **state)
{
	(void)state;
	assert_true(choose("gomp=keep").keys.keep_gomp);
	assert_false(choose("gomp=replace").keys.keep_gomp);
	assert_false(choose("").keys.dlb || choose("geopm=yes").keys.dlb);
	assert_true(choose("dlb=yes").keys.dlb);
	assert_false(choose("dlb=yes,dlb=no").keys.dlb || choose("dlb=yes").keys.geopm);
	assert_true(choose("geopm=yes").keys.geopm);
	assert_int_equal(choose("").keys.prove, MAL_PROVE_YES);
	assert_int_equal(choose("prove=no").keys.prove, MAL_PROVE_NO);
	assert_int_equal(choose("prove=no,prove=yes").keys.prove, MAL_PROVE_YES);
	assert_int_equal(choose("bits=keep").keys.bits, MAL_BITS_KEEP);
	assert_false(choose("").keys.grow_job);
	assert_true(choose("grow=job").keys.grow_job);
	assert_false(choose("grow=job").keys.pool_job);
	/* A pool needs what the others leave idle. */
	assert_true(choose("pool=job").keys.pool_job);
	assert_true(choose("pool=job").keys.grow_job);
	assert_false(choose("pool=step").keys.pool_job);
	assert_false(choose("pool=step").keys.grow_job);
	assert_true(choose("grow=job,pool=step").keys.grow_job);
	/* Else grow is the policy's parameter. */
	assert_float_equal(choose("auto,grow=no").values[3], 0, 0);
	assert_false(choose("auto,grow=no").keys.grow_job);
}

static void the_last_word_counts(void **state)
{
	(void)state;
	assert_float_equal(choose("auto,gain=1,gain=9").values[0], 9, 0);
	assert_int_equal(choose("mode=team,mode=cpuset").keys.mode, MAL_WISH_CPUSET);
}

static void observe_has_a_mode_of_its_own(void **state)
{
	struct mal_choice observe = choose("observe,mode=team"), lewi = choose("lewi,mode=team");

	(void)state;
	assert_string_equal(mal_choice_mode(&observe), "observe");
	assert_string_equal(mal_choice_mode(&lewi), "team");
}

static void who_asked_for_nothing_gets_strict(void **state)
{
	struct mal_choice silent = choose(""), keeps = choose("bits=keep");

	(void)state;
	assert_null(mal_choice_bits(&silent, true));
	assert_string_equal(mal_choice_bits(&silent, false), "strict");
	assert_string_equal(mal_choice_bits(&keeps, false), "keep");
	assert_string_equal(mal_choice_bits(&keeps, true), "keep");
	keeps = choose("bits=free");
	assert_null(mal_choice_bits(&keeps, false));
}

static void every_policy_is_described(void **state)
{
	const struct mal_policy *policy;

	(void)state;
	for (size_t i = 0; (policy = mal_policy_at(i)); i++) {
		assert_int_equal(policy->abi, MAL_POLICY_ABI);
		assert_non_null(policy->summary);
		assert_ptr_equal(mal_policy_find(policy->name), policy);
		assert_true(policy->param_count <= MAL_CHOICE_PARAMS);
		for (size_t j = 0; j < policy->param_count; j++) {
			assert_true(policy->params[j].fallback >= policy->params[j].min);
			assert_true(policy->params[j].fallback <= policy->params[j].max);
		}
	}
	assert_null(mal_policy_find("none"));
}

static void some_policies_act(void **state)
{
	(void)state;
	assert_true(mal_policy_acts(&mal_policy_auto));
	assert_true(mal_policy_acts(&mal_policy_external));
	assert_false(mal_policy_acts(&mal_policy_observe));
	assert_false(mal_policy_acts(&mal_policy_off));
}

static void lists_of_names_are_cut(void **state)
{
	char text[12];

	(void)state;
	assert_string_equal(mal_policy_names(text, sizeof(text)), "auto, lewi,");
	assert_string_equal(mal_param_names(&mal_policy_auto, text, sizeof(text)), "gain, smoot");
	assert_string_equal(mal_param_names(&mal_policy_off, text, sizeof(text)), "none");
	assert_non_null(mal_param_find(&mal_policy_auto, "gain"));
	assert_null(mal_param_find(&mal_policy_off, "gain"));
}

/* A site's policies come behind the built-in ones; what the table has no room for is left out. */
static void policies_are_added(void **state)
{
	static struct mal_policy sites[17];
	static char names[17][8];
	struct mal_choice choice;
	size_t before = 0;

	(void)state;
	while (mal_policy_at(before))
		before++;
	for (size_t i = 0; i < 17; i++) {
		snprintf(names[i], sizeof(names[i]), "site%zu", i);
		sites[i] = (struct mal_policy){.name = names[i]};
		mal_policy_register(&sites[i]);
	}
	assert_ptr_equal(mal_policy_at(before), &sites[0]);
	assert_ptr_equal(mal_policy_find("site15"), &sites[15]);
	assert_null(mal_policy_find("site16"));
	assert_null(mal_policy_at(before + 16));
	/* This one is known by its name alone: who runs it checks its parameters. */
	choice = choose("site3,whatever=1,mode=team");
	assert_ptr_equal(choice.policy, &sites[3]);
	assert_int_equal(choice.keys.mode, MAL_WISH_TEAM);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(good_choices_are_accepted),
		cmocka_unit_test(bad_choices_say_why),
		cmocka_unit_test(known_ones_are_named),
		cmocka_unit_test(each_common_key_sets_its_field),
		cmocka_unit_test(the_last_word_counts),
		cmocka_unit_test(observe_has_a_mode_of_its_own),
		cmocka_unit_test(who_asked_for_nothing_gets_strict),
		cmocka_unit_test(every_policy_is_described),
		cmocka_unit_test(some_policies_act),
		cmocka_unit_test(lists_of_names_are_cut),
		cmocka_unit_test(policies_are_added),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
