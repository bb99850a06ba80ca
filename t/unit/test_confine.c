/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test_confine.c: what a confined process can and cannot do, tried in children. */
#include <errno.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "libmalleable/base/confine.h"
#include "t/unit/unit.h"

/* Call TRY in a confined child. True if it returns 0. */
static bool succeeds(bool runs_programs, int (*try)(void))
{
	pid_t child = fork();
	int status;

	assert_true(child >= 0);
	if (child == 0) {
		mal_confine(runs_programs);
		_exit(try() == 0 ? 0 : 1);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static int no_new_privileges(void)
{
	return prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1 ? 0 : -1;
}

static int run_program(void)
{
	return execl("/bin/true", "true", (char *)NULL);
}

static int fork_and_wait(void)
{
	pid_t child = fork();

	if (child == 0)
		_exit(0);
	return child > 0 && waitpid(child, NULL, 0) == child ? 0 : -1;
}

static void no_privileges_come_back(void **state)
{
	(void)state;
	assert_true(succeeds(true, no_new_privileges));
	assert_true(succeeds(false, no_new_privileges));
}

static void what_is_needed_works(void **state)
{
	(void)state;
	assert_true(succeeds(true, run_program));
	assert_true(succeeds(true, fork_and_wait));
	assert_true(succeeds(false, fork_and_wait));
}

#ifdef HAVE_SECCOMP
static int trace_me(void)
{
	return (int)ptrace(PTRACE_TRACEME, 0, NULL, NULL);
}

static int change_identity(void)
{
	return setresuid(getuid(), getuid(), getuid());
}

static void what_is_not_needed_fails(void **state)
{
	(void)state;
	assert_false(succeeds(false, run_program));
	assert_false(succeeds(true, trace_me));
	assert_false(succeeds(true, change_identity));
	/* The filter forbids them: unconfined they work. */
	assert_int_equal(change_identity(), 0);
}
#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_privileges_come_back),
		cmocka_unit_test(what_is_needed_works),
#ifdef HAVE_SECCOMP
		cmocka_unit_test(what_is_not_needed_fails),
#endif
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
