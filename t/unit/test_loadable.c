/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test_loadable.c: what the host of a loadable policy may write into the shared memory. */
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/stat.h>

#include "t/unit/host.h"
#include "t/unit/unit.h"

/* The host answers at once, with what the test wrote. */
const char *mal_host_wait(struct mal_host *host)
{
	(void)host;
	return NULL;
}

const char *mal_host_ask(struct mal_host *host)
{
	(void)host;
	return NULL;
}

static unsigned char byte_of(const bool *flag)
{
	unsigned char byte;

	memcpy(&byte, flag, sizeof(byte));
	return byte;
}

/* A bool whose byte is neither 0 nor 1 is undefined behaviour: it must not be used as it is. */
static void truth_is_0_or_1(void **state)
{
	static const double values[MAL_CHOICE_PARAMS];
	static const unsigned int places[1];
	unsigned int count[1] = {1}, use[1], plan_owner[1] = {0}, owner[1] = {0};
	struct mal_topology topology = {1, places, places, places, NULL};
	struct mal_sample samples[1] = {{.running = true, .cpus = 1}};
	struct mal_view view = {&topology, 1, samples, owner};
	struct mal_plan plan = {.count = count, .owner = plan_owner, .use = use};
	void *host = create(&table[0], values);

	(void)state;
	assert_non_null(host);
	memset(&exchange.plan, 8, sizeof(exchange.plan));
	assert_int_equal(decide(host, &view, &plan), 0);
	assert_int_equal(byte_of(&plan.bind), 1);
	assert_int_equal(byte_of(&plan.lend), 1);
	assert_int_equal(byte_of(&plan.grow), 1);
	assert_int_equal(byte_of(&plan.move), 1);
	assert_int_equal(byte_of(&plan.short_windows), 1);
	assert_int_equal(byte_of(&plan.lending.keep_one), 1);
	assert_int_equal(byte_of(&plan.lending.collectives_only), 1);
	assert_ptr_equal(plan.count, count);
	assert_ptr_equal(plan.owner, plan_owner);
	assert_ptr_equal(plan.use, use);
	assert_null(plan.broken);
	destroy(host);
}

static _Atomic bool done;

/* A host that goes on writing while it is read. */
static void *change_count(void *unused)
{
	while (!atomic_load(&done)) {
		*(volatile size_t *)&exchange.param_count = MAL_CHOICE_PARAMS;
		*(volatile size_t *)&exchange.param_count = 2 * MAL_CHOICE_PARAMS;
	}
	return unused;
}

/* What was checked is what is used. */
static void a_count_is_read_once(void **state)
{
	struct mal_error err;
	pthread_t host;

	(void)state;
	memset(&exchange, 0, sizeof(exchange));
	memset(table, 0, sizeof(table));
	exchange.abi = MAL_POLICY_ABI;
	assert_int_equal(pthread_create(&host, NULL, change_count, NULL), 0);
	for (int i = 0; i < 200000; i++)
		if (take_description(&table[0], &exchange, &err) == 0 &&
		    table[0].policy.param_count > MAL_CHOICE_PARAMS)
			break;
	atomic_store(&done, true);
	pthread_join(host, NULL);
	assert_true(table[0].policy.param_count <= MAL_CHOICE_PARAMS);
	memset(table, 0, sizeof(table));
	memset(&exchange, 0, sizeof(exchange));
}

/* A host starts from the directory that was named, however long its name. */
static void directories_are_kept_whole(void **state)
{
	char directory[512] = "/tmp/loadable-XXXXXX", path[540];
	struct loaded *loaded;
	size_t base;

	(void)state;
	assert_non_null(mkdtemp(directory));
	base = strlen(directory);
	for (size_t end = base; end < 400; end = strlen(directory)) {
		snprintf(directory + end, sizeof(directory) - end, "/%0100d", 0);
		assert_int_equal(mkdir(directory, 0700), 0);
	}
	snprintf(path, sizeof(path), "%s/policies", directory);
	assert_int_equal(mkdir(path, 0700), 0);
	strcat(path, "/deep.so");
	close(open(path, O_CREAT | O_WRONLY, 0600));
	assert_int_equal(find_place(&loaded, "deep", directory, true, NULL), 0);
	assert_non_null(loaded);
	assert_string_equal(loaded->directory, directory);
	unlink(path);
	*strrchr(path, '/') = '\0';
	for (char *slash; strlen(path) >= base; *slash = '\0') {
		rmdir(path);
		slash = strrchr(path, '/');
	}
}

/* Who only passes a name on does not look into a user's directory; it is an absolute path. */
static void users_have_their_own(void **state)
{
	struct mal_choice choice;
	struct mal_error err;

	(void)state;
	assert_int_equal(mal_loadable_trust("mine", "/nowhere", NULL, &choice, &err), -1);
	assert_int_equal(mal_loadable_add("own", &err), -1);
	assert_string_equal(err.text, "MALLEABLE_POLICIES=own: must be an absolute path");
	assert_int_equal(mal_loadable_add("/nowhere/own", &err), 0);
	assert_true(mal_loadable_has_any("/nowhere"));
	assert_int_equal(mal_loadable_trust("mine,x=1", "/nowhere", NULL, &choice, &err), 0);
	assert_string_equal(choice.policy->name, "mine");
	assert_int_equal(mal_loadable_trust("mine", "/nowhere", "auto", &choice, &err), -1);
	assert_int_equal(mal_loadable_choose("other", "/nowhere", NULL, &choice, &err), -1);
	assert_int_equal(mal_loadable_add(NULL, &err), 0);
	assert_false(mal_loadable_has_any("/nowhere"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_count_is_read_once),
		cmocka_unit_test(directories_are_kept_whole),
		cmocka_unit_test(truth_is_0_or_1),
		cmocka_unit_test(users_have_their_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
