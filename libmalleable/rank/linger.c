/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* linger.c: whether threads that wait for work may be put to sleep. */
#include "libmalleable/rank/linger.h"

#include <string.h>

/* This many regions of which both costs are known are compared at a time. */
#define COMPARED 16
/* Sleep harms if the same regions take this many times the work. */
#define HARM 1.5
/* Try sleep again after this many regions; four times as many after each time that it harms. */
#define REST 256
#define REST_MAX (REST << 12)

static struct {
	bool awake;	       /* threads wait as usual, as sleep made regions longer */
	unsigned int compared; /* regions */
	double now, other;     /* their work as threads wait now, and in the other way */
	unsigned int rest;     /* regions until sleep is tried again */
	unsigned int next_rest;
} waiting = {.next_rest = REST};

static bool turn(bool awake)
{
	waiting.awake = awake;
	waiting.compared = 0;
	waiting.now = waiting.other = 0;
	return true;
}

/* Sleep: COMPARED regions tell whether it harms. */
static bool judge_sleep(void)
{
	if (waiting.now <= HARM * waiting.other)
		return false;
	waiting.rest = waiting.next_rest;
	if (waiting.next_rest < REST_MAX)
		waiting.next_rest *= 4;
	return turn(true);
}

/* Awake: had the program just more to do, so that sleep did no harm? */
static bool judge_awake(void)
{
	return HARM * waiting.now > waiting.other && turn(false);
}

bool mal_linger_learn(struct mal_linger_costs *costs, double work, bool asleep)
{
	double *mine = asleep ? &costs->asleep : &costs->awake;
	double other = asleep ? costs->awake : costs->asleep;

	*mine = *mine > 0 ? (*mine + work) / 2 : work;
	if (waiting.awake && waiting.rest && --waiting.rest == 0)
		return turn(false);
	if (asleep == waiting.awake || other <= 0)
		return false;
	waiting.now += work;
	waiting.other += other;
	if (++waiting.compared < COMPARED)
		return false;
	if (waiting.awake ? judge_awake() : judge_sleep())
		return true;
	waiting.compared = 0;
	waiting.now = waiting.other = 0;
	return false;
}

bool mal_linger_may_sleep(void)
{
	return !waiting.awake;
}

void mal_linger_clear(void)
{
	memset(&waiting, 0, sizeof(waiting));
	waiting.next_rest = REST;
}
