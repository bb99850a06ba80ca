/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* guard.c: is the way that a step runs better than doing nothing? */
#include "policies/model/guard.h"

#include <math.h>
#include <string.h>

/* The first look: so early that little is lost, so late that short programs are left alone. */
#define FIRST_LOOK 11u
/* A gain that is seen without a look, or in one window of it if so many times the noise. */
#define CLEAR 0.1
#define FAR 4.0
/* Parts of the time so far that looks and trials may lose. */
#define LOOKS 0.004
#define TRIALS 0.003
/* What an unknown way may lose in a window. */
#define UNKNOWN 0.05
/* A mean is sure if it is so many times its error, and larger than this. */
#define SURE 2.0
#define LEAST 0.003
/* What surely loses less than this is kept. */
#define HARMLESS 0.005
/* A way must be better than doing nothing by this to be taken again. */
#define WORTH 0.01
/* What is believed of noise counts as so many blocks. */
#define PRIOR 2.0
/* Blocks that count. */
#define HORIZON 40.0
/* Windows from one block to the next: at least; after a sure one; doubled each time up to. */
#define GAP 2u
#define GAP_SURE 64u
#define GAP_MAX 512u
/* A failed way rests for so many windows, doubled each time. */
#define REST 16u
#define REST_MAX 1024u
/* Windows that a way has to settle. */
#define PATIENCE 4u
/* Noise of windows: its first guess, blocks of two above, and a new one's weight. */
#define NOISE_FIRST 0.01
#define NOISY 0.02
#define NEW 0.1

void mal_guard_renew(struct mal_guard *guard)
{
	guard->began_s = 0;
	guard->run = 0;
	guard->still = 0;
	guard->noise[0] = guard->noise[1] = NOISE_FIRST * NOISE_FIRST;
}

void mal_guard_reset(struct mal_guard *guard, unsigned int allowed)
{
	*guard = (struct mal_guard){
		.allowed = allowed, .trusted = allowed, .way = allowed, .gap = FIRST_LOOK};
	mal_guard_renew(guard);
}

bool mal_guard_is_trying(const struct mal_guard *guard)
{
	return guard->part == MAL_GUARD_OTHER;
}

/* The error of a way's mean. */
static double error_of(const struct mal_guard *guard, const struct mal_way *way)
{
	double noise = guard->noise[guard->wanted > 1];
	double variance = (PRIOR * noise + way->squares) / (PRIOR + fmax(way->blocks - 1, 0));

	return sqrt(variance / fmax(way->blocks, 1));
}

static bool is_worse(const struct mal_guard *guard, const struct mal_way *way)
{
	return way->blocks >= 2 && way->mean < -fmax(LEAST, SURE * error_of(guard, way));
}

static bool is_better(const struct mal_guard *guard, const struct mal_way *way, double by)
{
	return way->blocks > 0 && way->mean > fmax(by, SURE * error_of(guard, way));
}

/* If it is worse, then by less than matters. */
static bool is_harmless(const struct mal_guard *guard, const struct mal_way *way)
{
	return way->blocks >= 2 && way->mean - SURE * error_of(guard, way) > -HARMLESS;
}

/* Windows of the trusted way alone: what would blocks say of them? Nothing is the truth. */
static void learn_noise(struct mal_guard *guard, double phase_s)
{
	const double *past = guard->past;
	double weight = fmax(NEW, 1.0 / (2 + guard->still)), one, two;

	if (guard->run >= 3) {
		one = log(2 * past[0] / (past[1] + phase_s));
		two = log((past[0] + past[1]) / (past[2] + phase_s));
		guard->still++;
		guard->noise[0] += weight * (one * one - guard->noise[0]);
		guard->noise[1] += weight * (two * two - guard->noise[1]);
	}
	guard->run++;
	memmove(guard->past + 1, guard->past, 2 * sizeof(guard->past[0]));
	guard->past[0] = phase_s;
}

static void learn_block(struct mal_way *way, double gain)
{
	double off = gain - way->mean;

	if (way->blocks >= HORIZON) {
		way->squares *= (HORIZON - 1) / way->blocks;
		way->blocks = HORIZON - 1;
	}
	way->blocks++;
	way->mean += off / way->blocks;
	way->squares += off * (gain - way->mean);
}

static void fail(struct mal_way *way)
{
	way->rest = REST << way->fails < REST_MAX ? REST << way->fails : REST_MAX;
	way->fails += way->fails < 10;
}

/* What a look says of the trusted way. If it is worse, nothing is done until one proves good. */
static void judge_look(struct mal_guard *guard, struct mal_way *way)
{
	guard->gap = guard->gap < GAP_SURE ? GAP_SURE : 2 * guard->gap;
	guard->gap = guard->gap < GAP_MAX ? guard->gap : GAP_MAX;
	if (is_better(guard, way, LEAST) || is_harmless(guard, way))
		return;
	/* Not always after as many windows: loads may have a period. */
	guard->gap = GAP + (unsigned int)way->blocks % 3;
	if (!is_worse(guard, way))
		return;
	fail(way);
	guard->trusted = 0;
	guard->gap = GAP;
}

/* What a trial says of WAY, if nothing is done otherwise. */
static void judge_trial(struct mal_guard *guard, struct mal_way *way)
{
	guard->gap = GAP;
	if (is_better(guard, way, WORTH)) {
		guard->trusted = guard->tried;
		guard->gap = GAP_SURE;
	} else if (is_worse(guard, way)) {
		fail(way);
	}
}

/* A block is over. */
static void judge(struct mal_guard *guard, const struct mal_guard_window *window)
{
	double ratio = log(2 * guard->sum / guard->had / (guard->before + window->phase_s));
	double lost_s = ratio * window->elapsed_s * guard->had;

	guard->since = 0;
	if (guard->tried) {
		struct mal_way *way = &guard->ways[guard->tried];

		learn_block(way, -ratio);
		guard->lost_s = fmax(0, guard->lost_s + lost_s);
		judge_trial(guard, way);
	} else {
		struct mal_way *way = &guard->ways[guard->trusted];

		learn_block(way, ratio);
		guard->looks_s += lost_s;
		judge_look(guard, way);
	}
}

/* The way to try where nothing is done; 0: none. */
static unsigned int next_trial(const struct mal_guard *guard, double elapsed_s)
{
	double budget = TRIALS * guard->run_s, most = -1e9, feared = UNKNOWN;
	unsigned int found = 0;

	/* What is unknown may be as bad as what is known. */
	for (unsigned int i = 1; i < MAL_WAYS; i++)
		feared = fmax(feared, -guard->ways[i].mean);
	for (unsigned int i = 1; i < MAL_WAYS; i++) {
		const struct mal_way *way = &guard->ways[i];
		double hope = way->blocks > 0 ? way->mean + SURE * error_of(guard, way) : 1;
		double loss = way->blocks > 0 ? fmax(UNKNOWN, -way->mean) : feared;

		if ((i & ~guard->allowed) || way->rest || hope <= most || hope < WORTH ||
		    guard->lost_s + loss * elapsed_s > budget)
			continue;
		most = hope;
		found = i;
	}
	return found;
}

/*
 * Can the trusted way be compared with doing nothing now? The first look is free, but where the
 * step began at home and became much faster when it left.
 */
static bool can_look(const struct mal_guard *guard, const struct mal_guard_window *window)
{
	const struct mal_way *way = &guard->ways[guard->trusted];
	double gain = way->blocks > 0 || guard->began_s <= 0
			      ? way->mean
			      : log(guard->began_s / window->phase_s);
	double loss_s = fmax(0, gain) * window->elapsed_s;

	if (!window->apart)
		return false;
	return (way->blocks < 1 && gain < CLEAR) || guard->looks_s + loss_s <= LOOKS * guard->run_s;
}

static void begin(struct mal_guard *guard, unsigned int way)
{
	guard->way = way;
	guard->part = MAL_GUARD_OTHER;
	guard->wanted = guard->noise[0] > NOISY * NOISY ? 2 : 1;
	guard->had = guard->waited = 0;
	guard->sum = 0;
}

static void give_up(struct mal_guard *guard)
{
	guard->way = guard->trusted;
	guard->part = MAL_GUARD_BASE;
	guard->since = 0;
	guard->run = 0;
	guard->gap = guard->gap < GAP_SURE ? GAP_SURE : guard->gap;
}

/* A window of the trusted way, and no block has begun. */
static void go_on(struct mal_guard *guard, const struct mal_guard_window *window)
{
	unsigned int next;

	guard->since++;
	learn_noise(guard, window->phase_s);
	if (!window->apart)
		guard->began_s = window->phase_s;
	if (!window->settled || guard->since < guard->gap)
		return;
	guard->before = window->phase_s;
	if (guard->trusted) {
		if (can_look(guard, window))
			begin(guard, 0);
		return;
	}
	next = next_trial(guard, window->elapsed_s);
	if (next)
		begin(guard, next);
}

/* Is one window of doing nothing enough? */
static bool is_clear(const struct mal_guard *guard, double phase_s)
{
	return !guard->way &&
	       log(phase_s / guard->before) > fmax(CLEAR, FAR * sqrt(guard->noise[0]));
}

/* A window of what is compared with the trusted way. */
static void add(struct mal_guard *guard, double phase_s)
{
	guard->sum += phase_s;
	if (++guard->had < guard->wanted && !is_clear(guard, phase_s))
		return;
	guard->wanted = guard->had;
	guard->tried = guard->way;
	guard->way = guard->trusted;
	guard->part = MAL_GUARD_AFTER;
	guard->waited = 0;
}

void mal_guard_learn(struct mal_guard *guard, const struct mal_guard_window *window)
{
	guard->run_s += window->elapsed_s;
	for (unsigned int way = 0; way < MAL_WAYS; way++)
		guard->ways[way].rest -= guard->ways[way].rest > 0;
	if (guard->part == MAL_GUARD_BASE) {
		go_on(guard, window);
	} else if (!window->settled) {
		if (++guard->waited > PATIENCE)
			give_up(guard);
	} else if (guard->part == MAL_GUARD_OTHER) {
		add(guard, window->phase_s);
	} else {
		guard->part = MAL_GUARD_BASE;
		guard->run = 0;
		judge(guard, window);
		guard->way = guard->trusted;
	}
}
