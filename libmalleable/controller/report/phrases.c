/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* phrases.c: words for what ranks and policies did. */
#include "libmalleable/controller/report/phrases.h"

#include <stdio.h>

enum mal_mode_reason mal_phrase_reason(const struct mal_controller *controller, unsigned int rank)
{
	const struct mal_rank_slot *slot = &controller->step->segment.ranks[rank];
	uint32_t reason = atomic_load(&slot->reason);

	if (atomic_load(&slot->unmanaged))
		return MAL_REASON_RUNTIME;
	return reason <= MAL_REASON_REPORTED ? (enum mal_mode_reason)reason : MAL_REASON_NONE;
}

static const char *const reasons[] = {
	[MAL_REASON_NONE] = "",
	[MAL_REASON_USER] = "as asked for",
	[MAL_REASON_RUNTIME] = "no OpenMP runtime with OMPT: its threads share the rank's CPUs",
	[MAL_REASON_NUMBER] = "it was started with another number of threads than CPUs",
	[MAL_REASON_THREAD_DATA] = "the program keeps data for each thread (see mode=team)",
	[MAL_REASON_DYNAMIC] = "the runtime chooses the number of threads (OMP_DYNAMIC)",
	[MAL_REASON_REDUCTION] = "sums are to be the same each time (KMP_DETERMINISTIC_REDUCTION)",
	[MAL_REASON_SYSTEM] =
		"the system lets it have no more threads (ulimit -u, a limit of processes)",
	[MAL_REASON_REPORTED] = "the program relies on its number of threads (see max_threads=)",
};

const char *mal_phrase_of_reason(enum mal_mode_reason reason)
{
	return reasons[reason];
}

const char *mal_phrase_schedule(const struct mal_controller *controller, char *text, size_t size)
{
	uint32_t schedule = atomic_load(&controller->step->segment.header->schedule);
	const char *kind = "";

	switch (schedule & 0xffff) {
	case MAL_SCHEDULE_OWN: return "";
	case MAL_SCHEDULE_STATIC: kind = "static"; break;
	case MAL_SCHEDULE_DYNAMIC: kind = "dynamic"; break;
	case MAL_SCHEDULE_GUIDED: kind = "guided"; break;
	default: break;
	}
	if (schedule >> 16)
		snprintf(text, size, "%s,%u", kind, schedule >> 16);
	else
		snprintf(text, size, "%s", kind);
	return text;
}
