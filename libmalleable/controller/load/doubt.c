/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* doubt.c: what ranks measured against what the kernel says of their CPU time. */
#include "libmalleable/controller/load/doubt.h"

#include <stdlib.h>

/* A rank was stopped if it got less than this part of the time that it computed, */
#define STOPPED_PART 0.25
/* and lost at least so much, and so many times as much as usual. */
#define STOPPED_MIN_S 0.1
#define STOPPED_TIMES 4
/* Its own measure is of no use if it saw less than this part of its work, */
#define SEEN_PART 0.5
/* and the rest was this part of the window at least. */
#define UNSEEN_MIN 0.1

struct mal_doubting {
	struct mal_doubt doubt;
	double usual_lost_s[]; /* by rank: moving average */
};

struct mal_doubting *mal_doubting_create(unsigned int ranks)
{
	return calloc(1, sizeof(struct mal_doubting) + ranks * sizeof(double));
}

void mal_doubting_destroy(struct mal_doubting *doubting)
{
	free(doubting);
}

const struct mal_doubt *mal_doubt_read(const struct mal_controller *controller)
{
	return &controller->doubting->doubt;
}

static bool was_stopped(double *usual_lost_s, const struct mal_sample *sample,
			const struct mal_cpu_time *time)
{
	double computed = sample->work_s + sample->serial_s;
	double lost = computed > time->cpu_s ? computed - time->cpu_s : 0, usual = *usual_lost_s;

	*usual_lost_s = (usual + lost) / 2;
	return time->cpu_s < STOPPED_PART * computed &&
	       lost > STOPPED_MIN_S + STOPPED_TIMES * usual;
}

static bool works_unseen(const struct mal_sample *sample, const struct mal_cpu_time *time)
{
	double seen = sample->work_s + sample->serial_s;

	return seen < SEEN_PART * (seen + time->unseen_s) &&
	       time->unseen_s > UNSEEN_MIN * sample->elapsed_s;
}

bool mal_doubt_window(struct mal_controller *controller, const struct mal_sample *samples,
		      const struct mal_cpu_time *times)
{
	struct mal_doubt *doubt = &controller->doubting->doubt;
	bool stopped = false;

	doubt->now = false;
	for (unsigned int rank = 0; rank < controller->step->segment.rank_count; rank++) {
		if (!samples[rank].running)
			continue;
		stopped |= was_stopped(&controller->doubting->usual_lost_s[rank], &samples[rank],
				       &times[rank]);
		if (!works_unseen(&samples[rank], &times[rank]))
			continue;
		doubt->now = true;
		doubt->rank = rank;
		doubt->unseen_s += times[rank].unseen_s;
		doubt->seen_s += samples[rank].work_s + samples[rank].serial_s;
	}
	doubt->stopped += stopped;
	doubt->unseen += doubt->now && !stopped;
	return !stopped;
}
