/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * listeners.c: functions of the program that are told how many CPUs its rank has.
 *
 * Invariant: each is told of a change once, in the order in which they came
 * (t/unit/test_team.c: hears_of_changes).
 */
#include "libmalleable/rank/listeners.h"

#include <string.h>

#define LISTENERS_MAX 8

static struct {
	mal_listener *function;
	void *argument;
} list[LISTENERS_MAX];
static unsigned int count;
static int told;
static bool telling;

static unsigned int find(mal_listener *function, const void *argument)
{
	unsigned int i = 0;

	while (i < count && (list[i].function != function || list[i].argument != argument))
		i++;
	return i;
}

bool mal_listeners_add(mal_listener *function, void *argument)
{
	unsigned int i = find(function, argument);

	if (i == LISTENERS_MAX)
		return false;
	list[i].function = function;
	list[i].argument = argument;
	count += i == count;
	return true;
}

void mal_listeners_remove(mal_listener *function, void *argument)
{
	unsigned int i = find(function, argument);

	if (i == count)
		return;
	memmove(&list[i], &list[i + 1], (count - i - 1) * sizeof(list[0]));
	count--;
}

bool mal_listeners_any(void)
{
	return count;
}

void mal_listeners_tell(int cpus)
{
	if (telling || cpus == told)
		return;
	telling = true;
	told = cpus;
	for (unsigned int i = 0; i < count; i++)
		list[i].function(cpus, list[i].argument);
	telling = false;
}
