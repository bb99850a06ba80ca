/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * listeners.c: functions of the program that are told how many CPUs its rank has.
 *
 * Invariant: each is told of a change once, in the order in which they came
 * (t/unit/test_team.c: hears_of_changes).
 */
#include "libmalleable/rank/listeners.h"

#include <stdint.h>
#include <string.h>

#define LISTENERS_MAX 8

static struct {
	mal_listener *function;
	void *argument;
	int told; /* the number of CPUs; -1: none yet */
} list[LISTENERS_MAX];
static unsigned int count;
/* The frame that calls them; 0: none. A call from above it finds that an exception left it. */
static uintptr_t telling;

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
	if (i < count)
		return true;
	list[count].function = function;
	list[count].argument = argument;
	list[count++].told = -1;
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

/* The first that has not been told of CPUS. */
static unsigned int next_to_tell(int cpus)
{
	unsigned int i = 0;

	while (i < count && list[i].told == cpus)
		i++;
	return i;
}

void mal_listeners_left(void)
{
	telling = 0;
}

/* Functions may add and remove others and themselves, and leave by a jump. */
void mal_listeners_tell(int cpus)
{
	uintptr_t frame = (uintptr_t)__builtin_frame_address(0);
	unsigned int i;

	if (frame < telling)
		return;
	telling = frame;
	for (unsigned int calls = 0; calls < LISTENERS_MAX && (i = next_to_tell(cpus)) < count;
	     calls++) {
		list[i].told = cpus;
		list[i].function(cpus, list[i].argument);
	}
	telling = 0;
}
