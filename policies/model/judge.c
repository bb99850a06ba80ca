/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* judge.c: which way of running a step is the best? */
#include "policies/model/judge.h"

#include <math.h>
#include <string.h>

/* Doing nothing challenges so early that little is lost, so late that short programs go on. */
#define FIRST_LOOK 11u
/* A block begins when no CPU has moved for so many windows, or CPUs always move. */
#define STEADY 3u
/* So many windows after the first move it is seen at once that it loses much. */
#define FIRST 3u
/* A gain that is seen without a block, or in one window of it if so many times the noise. */
#define CLEAR 0.1
#define FAR 4.0
/* Part of the time so far that trials may lose. */
#define TRIALS 0.004
/* What an unknown way may lose in a window. */
#define UNKNOWN 0.05
/* A mean is sure if it is so many times its error, and larger than this. */
#define SURE 2.0
#define LEAST 0.003
/* A way that does more must be better by this, where more than this is left to gain. */
#define WORTH 0.01
/* Where so much is left it may be worse by less than this. */
#define MUCH 0.05
#define HARMLESS 0.005
/* What is believed of noise counts as so many blocks. */
#define PRIOR 2.0
/* Blocks that count. */
#define HORIZON 40.0
/* Windows from one block to the next, and to the same way's next trial after a sure one. */
#define GAP 2u
#define REST 64u
/* Windows that a way has to settle. */
#define PATIENCE 4u
/* Noise of windows: its first guess, blocks of two above, and a new one's weight. */
#define NOISE_FIRST 0.01
#define NOISY 0.02
#define NEW 0.1

void mal_judge_renew(struct mal_judge *judge)
{
	judge->home.last_s = judge->home.fast_s = 0;
	judge->run = 0;
	judge->still = 0;
	judge->noise[0] = judge->noise[1] = NOISE_FIRST * NOISE_FIRST;
}

void mal_judge_reset(struct mal_judge *judge, unsigned int allowed, unsigned int first)
{
	*judge = (struct mal_judge){.allowed = allowed, .trusted = first, .way = first};
	judge->ways[0].rest = FIRST_LOOK;
	mal_judge_renew(judge);
}

bool mal_judge_is_trying(const struct mal_judge *judge)
{
	return judge->part == MAL_JUDGE_OTHER;
}

/* Whether WAY does more than the trusted one. */
static bool does_more(const struct mal_judge *judge, unsigned int way)
{
	return way & ~judge->trusted;
}

/* The error of a way's mean. */
static double error_of(const struct mal_judge *judge, const struct mal_way *way)
{
	double noise = judge->noise[judge->wanted > 1];
	double variance = (PRIOR * noise + way->squares) / (PRIOR + fmax(way->blocks - 1, 0));

	return sqrt(variance / fmax(way->blocks, 1));
}

/* The square of a difference. One far from the others is a change of the load, not noise. */
static double clip(double difference, double noise)
{
	return fmin(difference * difference, FAR * FAR * noise);
}

/* Windows of the trusted way alone: what would blocks say of them? Nothing is the truth. */
static void learn_noise(struct mal_judge *judge, double phase_s)
{
	double *past = judge->past;
	double weight = fmax(NEW, 1.0 / (2 + judge->still)), one, two;

	if (judge->run >= MAL_JUDGE_PAST) {
		one = log(2 * past[0] / (past[1] + phase_s));
		two = log(2 * (past[1] + past[2]) / (past[3] + past[4] + past[0] + phase_s));
		judge->still++;
		judge->noise[0] += weight * (clip(one, judge->noise[0]) - judge->noise[0]);
		judge->noise[1] += weight * (clip(two, judge->noise[1]) - judge->noise[1]);
	}
	judge->run++;
	memmove(past + 1, past, (MAL_JUDGE_PAST - 1) * sizeof(past[0]));
	past[0] = phase_s;
}

/* Seconds of a phase in the last COUNT windows of the trusted way, as far as there are. */
static double past_of(const struct mal_judge *judge, unsigned int count)
{
	double sum = 0;

	count = count < judge->run ? count : judge->run;
	for (unsigned int i = 0; i < count; i++)
		sum += judge->past[i];
	return sum / count;
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

/* WAY is trusted from now on: what is known of the others is against it. */
static void trust(struct mal_judge *judge, unsigned int way)
{
	struct mal_way winner = judge->ways[way];

	for (unsigned int i = 0; i < MAL_WAYS; i++) {
		struct mal_way *other = &judge->ways[i];

		if (i == judge->trusted)
			*other =
				(struct mal_way){winner.blocks, -winner.mean, winner.squares, REST};
		else if (other->blocks > 0)
			*other = (struct mal_way){fmin(other->blocks, winner.blocks),
						  other->mean - winner.mean,
						  other->squares + winner.squares, other->rest};
	}
	judge->ways[way] = (struct mal_way){0};
	judge->trusted = way;
	judge->run = 0;
}

/* Whether what was tried, WAY, proved to be better than the trusted one. */
static bool is_better(const struct mal_judge *judge, const struct mal_way *way)
{
	double error = SURE * error_of(judge, way);

	if (!does_more(judge, judge->tried))
		return way->mean > fmax(way->blocks < 2 ? CLEAR : LEAST, error);
	return way->mean > fmax(WORTH, error) ||
	       (way->blocks >= 2 && judge->left > MUCH && way->mean - error > -HARMLESS);
}

/* A block is over. */
static void conclude(struct mal_judge *judge, const struct mal_judge_window *window)
{
	struct mal_way *way = &judge->ways[judge->tried];
	double ratio =
		log(2 * judge->sum / judge->had / (judge->before + judge->after / judge->had));
	bool more = does_more(judge, judge->tried);

	judge->lost_s = fmax(0, judge->lost_s + ratio * window->elapsed_s * judge->had);
	learn_block(way, -ratio);
	if (is_better(judge, way))
		trust(judge, judge->tried);
	else if (way->mean + SURE * error_of(judge, way) < (more ? -HARMLESS : LEAST))
		way->rest = REST;
	else if (more)
		way->rest = GAP << (unsigned int)fmin(way->blocks, 5);
	else
		/* Not always after as many windows: loads may have a period. */
		way->rest = GAP + (unsigned int)way->blocks % 3;
}

/* What WAY is expected to lose, as a part of the time. */
static double expected_loss(const struct mal_judge *judge, unsigned int way)
{
	if (judge->ways[way].blocks > 0)
		return fmax(0, -judge->ways[way].mean);
	if (way == 0 && judge->home.fast_s > 0)
		return fmax(0, log(judge->home.fast_s / past_of(judge, MAL_JUDGE_PAST)));
	return UNKNOWN;
}

/* How much better WAY may be, as a logarithm. */
static double hope_of(const struct mal_judge *judge, unsigned int way)
{
	const struct mal_way *known = &judge->ways[way];
	double hope = known->blocks > 0 ? known->mean + SURE * error_of(judge, known) : 1;

	/* With more, time may at best be that of even work. */
	return does_more(judge, way) ? fmin(hope, judge->left) : hope;
}

/* Whether the first moves lose much: phases take far longer than before CPUs moved. */
static bool loses_much(const struct mal_judge *judge)
{
	double least = fmin(judge->past[0], judge->past[1]);

	return judge->home.ago >= GAP && judge->home.ago <= FIRST && judge->ways[0].blocks < 1 &&
	       judge->home.fast_s > 0 &&
	       log(least / judge->home.fast_s) > fmax(CLEAR, FAR * sqrt(judge->noise[0]));
}

/* Is it time for a block? MOVES: the trusted way is about to move CPUs. */
static bool is_time(const struct mal_judge *judge, bool moves)
{
	bool rests = !moves && judge->steady >= STEADY;

	return rests || judge->restless >= FIRST_LOOK || loses_much(judge);
}

/* Whether WAY may challenge the trusted one now. */
static bool may_challenge(const struct mal_judge *judge, unsigned int way,
			  const struct mal_judge_window *window)
{
	const struct mal_way *known = &judge->ways[way];
	double loss = expected_loss(judge, way);

	if ((way & ~judge->allowed) || (known->rest && (way || !loses_much(judge))) ||
	    (!does_more(judge, way) && !window->apart))
		return false;
	/* The first block is free, but of what is known to be slow. */
	return (known->blocks < 1 && loss < CLEAR) ||
	       judge->lost_s + loss * window->elapsed_s <= TRIALS * judge->run_s;
}

/* The way that challenges now; the trusted one: none. It differs in one thing. */
static unsigned int choose(const struct mal_judge *judge, const struct mal_judge_window *window)
{
	unsigned int found = judge->trusted;
	double max = WORTH;

	for (unsigned int bit = 1; bit < MAL_WAYS; bit <<= 1) {
		unsigned int way = judge->trusted ^ bit;
		double hope = hope_of(judge, way);

		if (!may_challenge(judge, way, window))
			continue;
		/* What does less is tried for safety, whatever is hoped of it. */
		if (!does_more(judge, way))
			hope = fmax(hope, 2 * WORTH);
		if (hope <= max)
			continue;
		max = hope;
		found = way;
	}
	return found;
}

static void begin(struct mal_judge *judge, unsigned int way)
{
	judge->way = way;
	judge->part = MAL_JUDGE_OTHER;
	judge->wanted = judge->noise[0] > NOISY * NOISY ? 2 : 1;
	judge->had = judge->waited = judge->rested = 0;
	judge->before = past_of(judge, judge->wanted);
	judge->sum = judge->after = 0;
}

static void give_up(struct mal_judge *judge)
{
	unsigned int way = judge->part == MAL_JUDGE_OTHER ? judge->way : judge->tried;

	judge->ways[way].rest = REST;
	judge->way = judge->trusted;
	judge->part = MAL_JUDGE_BASE;
	judge->run = 0;
}

/* A window of the trusted way, and no block has begun. */
static void go_on(struct mal_judge *judge, const struct mal_judge_window *window)
{
	learn_noise(judge, window->phase_s);
	judge->left += NEW * (window->left - judge->left);
	judge->home.ago = window->apart ? judge->home.ago + 1 : 0;
	if (window->apart)
		return;
	judge->home.fast_s = judge->home.last_s > 0 ? fmin(window->phase_s, judge->home.last_s)
						    : window->phase_s;
	judge->home.last_s = window->phase_s;
}

bool mal_judge_begin(struct mal_judge *judge, const struct mal_judge_window *window, bool moves)
{
	unsigned int next;

	if (judge->part != MAL_JUDGE_BASE || !window->settled || judge->run < GAP ||
	    !is_time(judge, moves))
		return false;
	next = choose(judge, window);
	if (next == judge->trusted)
		return false;
	begin(judge, next);
	judge->restless = 0;
	return true;
}

/* Is one window of doing less enough? */
static bool is_clear(const struct mal_judge *judge, double phase_s)
{
	return !does_more(judge, judge->way) &&
	       log(phase_s / judge->before) > fmax(CLEAR, FAR * sqrt(judge->noise[0]));
}

/* A window of what is compared with the trusted way. */
static void add(struct mal_judge *judge, double phase_s)
{
	judge->sum += phase_s;
	if (++judge->had < judge->wanted && !is_clear(judge, phase_s))
		return;
	judge->wanted = judge->had;
	judge->tried = judge->way;
	judge->way = judge->trusted;
	judge->part = MAL_JUDGE_AFTER;
	judge->waited = 0;
}

double mal_judge_times(const struct mal_judge *judge, unsigned int way)
{
	const struct mal_way *other = &judge->ways[judge->trusted ^ way];

	if (other->blocks <= 0)
		return 0;
	return exp(judge->trusted & way ? other->mean : -other->mean);
}

/*
 * Where only lending is allowed it begins once a window without it leaves much to gain. What was
 * measured of it goes on from there.
 */
static void begin_lending(struct mal_judge *judge, const struct mal_judge_window *window)
{
	if (judge->allowed == MAL_WAY_LEND && judge->part == MAL_JUDGE_BASE && window->worked &&
	    !window->apart && judge->ways[MAL_WAY_LEND].blocks < 1)
		judge->trusted = judge->way = window->left >= MUCH ? MAL_WAY_LEND : 0;
}

void mal_judge_prefer_lending(struct mal_judge *judge)
{
	if (judge->trusted != MAL_WAY_MOVE)
		return;
	judge->trusted = judge->way = MAL_WAY_LEND;
	judge->run = judge->steady = 0;
}

void mal_judge_learn(struct mal_judge *judge, const struct mal_judge_window *window)
{
	begin_lending(judge, window);
	judge->run_s += window->elapsed_s;
	for (unsigned int way = 0; way < MAL_WAYS; way++)
		judge->ways[way].rest -= judge->ways[way].rest > 0;
	judge->steady = window->still ? judge->steady + 1 : 0;
	judge->restless = judge->steady >= STEADY ? 0 : judge->restless + 1;
	if (judge->part == MAL_JUDGE_BASE) {
		go_on(judge, window);
	} else if (!window->settled) {
		if (++judge->waited > PATIENCE)
			give_up(judge);
	} else if (judge->part == MAL_JUDGE_OTHER) {
		add(judge, window->phase_s);
	} else {
		judge->after += window->phase_s;
		if (++judge->rested < judge->had)
			return;
		judge->part = MAL_JUDGE_BASE;
		judge->run = 0;
		conclude(judge, window);
		judge->way = judge->trusted;
	}
}
