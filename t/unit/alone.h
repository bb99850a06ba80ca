/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * alone.h: tests in processes of their own, for code that does something once in a process: each
 * begins as the program did, and ends as a program does.
 */
#pragma once

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "t/unit/unit.h"

/* A check that fails ends the process, with its message. */
static inline void run_alone(void (*test)(void **state), void **state)
{
	int status;
	pid_t child;

	fflush(NULL);
	child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		unsigned int before = open_descriptors();

		setenv("CMOCKA_TEST_ABORT", "1", 1);
		test(state);
		exit(closed_all(before) ? 0 : 1);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

static inline void alone(void **state)
{
	run_alone((void (*)(void **))*state, state);
}

/* The setup and teardown are this process's. */
#define ALONE(function, setup, teardown) {#function, alone, setup, teardown, (void *)(function)}
