/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* phrases.c: words for what ranks and policies did. */
#include "libmalleable/controller/report/phrases.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "libmalleable/base/printable.h"

#ifdef HAVE_SECCOMP
const char mal_phrase_no_filter[] = "";
#else
const char mal_phrase_no_filter[] = "built without libseccomp: no filter of system calls\n";
#endif
#ifdef HAVE_PMIX
const char mal_phrase_not_joined[] = "";
#else
const char mal_phrase_not_joined[] = "built without PMIx: each node reports by itself\n";
#endif

void mal_text_add(struct mal_text *text, const char *format, ...)
{
	va_list args;
	int used;

	va_start(args, format);
	used = vsnprintf(text->bytes + text->length, text->size - text->length, format, args);
	va_end(args);
	if (used > 0 && (size_t)used < text->size - text->length)
		text->length += (size_t)used;
}

/* Where it was told 1 thread, bound regions are why no team grows: then all have to be free. */
static bool is_mostly_free(const struct mal_rank_slot *slot)
{
	uint64_t free = atomic_load(&slot->count.free), runs = atomic_load(&slot->count.regions);
	uint32_t proves = atomic_load(&slot->proves);

	return free && proves && (proves == MAL_PROVES ? 2 : 1) * free >= runs;
}

enum mal_mode_reason mal_phrase_reason(const struct mal_controller *controller, unsigned int rank)
{
	const struct mal_rank_slot *slot = &controller->step->segment.ranks[rank];
	uint32_t reason = atomic_load(&slot->reason);

	if (atomic_load(&slot->unmanaged))
		return reason == MAL_REASON_CROWDED || reason == MAL_REASON_LIBGOMP ||
				       reason == MAL_REASON_TOOL
			       ? (enum mal_mode_reason)reason
			       : MAL_REASON_RUNTIME;
	/* What a program could know matters to its bound regions alone. */
	if ((reason == MAL_REASON_THREAD_DATA || reason == MAL_REASON_CANCELS ||
	     reason == MAL_REASON_REPORTED) &&
	    is_mostly_free(slot))
		return MAL_REASON_NONE;
	return reason <= MAL_REASON_REPORTED ? (enum mal_mode_reason)reason : MAL_REASON_NONE;
}

bool mal_phrase_is_absent(const struct mal_controller *controller, enum mal_absent library)
{
	return atomic_load(&controller->step->segment.header->absent) >> library & 1;
}

static const char *const reasons[] = {
	[MAL_REASON_NONE] = "",
	[MAL_REASON_USER] = "as requested",
	[MAL_REASON_RUNTIME] = "no OpenMP runtime with OMPT: its threads share the rank's CPUs",
	[MAL_REASON_CROWDED] =
		"more threads than CPUs: it keeps libgomp, libomp is slow then (OMP_NUM_THREADS)",
	[MAL_REASON_LIBGOMP] =
		"variables or calls of OpenMP that libomp takes otherwise: it keeps libgomp",
	[MAL_REASON_TOOL] = "another OMPT tool goes first: its threads share the rank's CPUs",
	[MAL_REASON_NUMBER] = "it was started with another number of threads than CPUs",
	[MAL_REASON_THREAD_DATA] = "the program keeps data for each thread (see max_threads=)",
	[MAL_REASON_DYNAMIC] = "the runtime chooses the number of threads (OMP_DYNAMIC)",
	[MAL_REASON_REDUCTION] = "sums must be the same each time (KMP_DETERMINISTIC_REDUCTION)",
	[MAL_REASON_BITS] = "results must be the same, and no region was classified (bits=)",
	[MAL_REASON_DISPLAY] =
		"the runtime prints its threads (OMP_DISPLAY_AFFINITY, KMP_AFFINITY)",
	[MAL_REASON_CANCELS] = "the program may leave loops early (OMP_CANCELLATION)",
	[MAL_REASON_SYSTEM] =
		"the system allows it no more threads (ulimit -u or -v, a limit of processes)",
	[MAL_REASON_REPORTED] = "the program relies on its number of threads (see max_threads=)",
};

const char *mal_phrase_of_reason(enum mal_mode_reason reason)
{
	return reasons[reason];
}

/* What helps whatever the rank has. */
static const char *const to_try[MAL_REASON_REPORTED + 1] = {
	[MAL_REASON_USER] = "teams keep their size as requested: try without mode=cpuset",
	[MAL_REASON_RUNTIME] = "its threads are not seen (no OpenMP with OMPT)",
	[MAL_REASON_CROWDED] = "it has more threads than CPUs, and keeps libgomp",
	[MAL_REASON_LIBGOMP] = "it keeps libgomp, for variables or calls of OpenMP",
	[MAL_REASON_TOOL] = "another OMPT tool goes first",
	[MAL_REASON_NUMBER] = "it was started with another number of threads than CPUs",
	[MAL_REASON_THREAD_DATA] = "the program keeps data for each thread",
	[MAL_REASON_DYNAMIC] = "the runtime chooses the number of threads: try without OMP_DYNAMIC",
	[MAL_REASON_REDUCTION] =
		"sums must be the same each time: try without KMP_DETERMINISTIC_REDUCTION",
	[MAL_REASON_BITS] = "results must be the same, and no region was classified: try bits=free",
	[MAL_REASON_DISPLAY] =
		"the runtime prints its threads: try without OMP_DISPLAY_AFFINITY and KMP_AFFINITY",
	[MAL_REASON_CANCELS] = "the program may leave loops early: try without OMP_CANCELLATION",
	[MAL_REASON_SYSTEM] = "the system allows it no more threads: try a higher ulimit -u or -v",
	[MAL_REASON_REPORTED] = "the program relies on its number of threads",
};

/* More threads than CPUs spread where CPUs are lent: what to try where a rank has not THREADS. */
static void add_more_threads(const struct mal_rank_slot *slot, unsigned int threads, char *text,
			     size_t size)
{
	unsigned int cpus = mal_cpumask_count(&slot->home);
	size_t used = strlen(text);

	if (!cpus || threads > cpus || atomic_load(&slot->chosen) || !atomic_load(&slot->uses_mpi))
		return;
	snprintf(text + used, size - used, ": try %s--balance=max_threads=%u",
		 cpus == 1 ? "two CPUs a rank, or " : "", 2 * cpus);
}

/* What to try beside the words for REASON, in TEXT of SIZE bytes, where SLOT shows that it may. */
static void add_to_try(const struct mal_rank_slot *slot, enum mal_mode_reason reason, char *text,
		       size_t size)
{
	size_t used = strlen(text);

	if (reason == MAL_REASON_TOOL)
		snprintf(text + used, size - used, ": try without it");
	if (reason == MAL_REASON_RUNTIME &&
	    atomic_load(&slot->team) <= mal_cpumask_count(&slot->home))
		snprintf(text + used, size - used, ": try more threads than CPUs");
	if (reason == MAL_REASON_NUMBER && atomic_load(&slot->chosen) & MAL_CHOSEN_BY_KEY)
		snprintf(text + used, size - used, ": try without max_threads=");
	else if (reason == MAL_REASON_CROWDED ||
		 (reason == MAL_REASON_NUMBER && atomic_load(&slot->chosen)))
		snprintf(text + used, size - used, ": try without OMP_NUM_THREADS");
	if (reason == MAL_REASON_THREAD_DATA || reason == MAL_REASON_REPORTED)
		add_more_threads(slot, atomic_load(&slot->reported), text, size);
}

const char *mal_phrase_to_try(const struct mal_controller *controller, enum mal_mode_reason reason,
			      char *text, size_t size)
{
	const struct mal_segment *segment = &controller->step->segment;
	char name[96];

	snprintf(text, size, "%s", to_try[reason] ?: "");
	for (unsigned int rank = 0; rank < segment->rank_count; rank++)
		if (controller->ranks[rank].known &&
		    mal_phrase_reason(controller, rank) == reason) {
			if (reason == MAL_REASON_TOOL &&
			    *mal_phrase_bound(controller, rank, name, sizeof(name)))
				snprintf(text, size, "%s", name);
			add_to_try(&segment->ranks[rank], reason, text, size);
			break;
		}
	return text;
}

enum mal_mode_reason mal_phrase_main_reason(const struct mal_controller *controller,
					    struct mal_kept_teams *kept)
{
	unsigned int count[MAL_REASON_REPORTED + 1] = {0}, known = 0;
	enum mal_mode_reason max = MAL_REASON_USER;

	for (unsigned int rank = 0; rank < controller->step->segment.rank_count; rank++) {
		if (!controller->ranks[rank].known)
			continue;
		known++;
		count[mal_phrase_reason(controller, rank)]++;
	}
	for (int reason = MAL_REASON_USER; reason <= MAL_REASON_REPORTED; reason++)
		if (count[reason] > count[max])
			max = (enum mal_mode_reason)reason;
	if (kept)
		*kept = (struct mal_kept_teams){known - count[MAL_REASON_NONE], known};
	return count[max] ? max : MAL_REASON_NONE;
}

const char *mal_phrase_bound(const struct mal_controller *controller, unsigned int rank, char *text,
			     size_t size)
{
	const char *bound = controller->step->segment.ranks[rank].bound_reason;
	size_t length = size <= MAL_BOUND_TEXT ? size - 1 : MAL_BOUND_TEXT;

	/* The rank may write meanwhile. */
	memcpy(text, bound, length);
	text[length] = '\0';
	mal_make_printable(text, strlen(text), false);
	return text;
}

/* What to try where SLOT's rank was told one thread. */
static const char *to_try_for_one(const struct mal_rank_slot *slot)
{
	uint32_t chosen = atomic_load(&slot->chosen);

	/* Without MPI no rank waits for another one. */
	if (!atomic_load(&slot->uses_mpi))
		return "";
	if (chosen & MAL_CHOSEN_BY_BITS)
		return ": try --balance=bits=keep";
	if (chosen & MAL_CHOSEN_BY_KEY)
		return ": try max_threads=2";
	if (chosen)
		return ": try without OMP_NUM_THREADS";
	return mal_cpumask_count(&slot->home) == 1
		       ? ": try two CPUs a rank, or --balance=max_threads=2"
		       : "";
}

const char *mal_phrase_reported_one(const struct mal_controller *controller, char *text,
				    size_t size)
{
	const struct mal_segment *segment = &controller->step->segment;

	text[0] = '\0';
	for (unsigned int rank = 0; rank < segment->rank_count && !text[0]; rank++)
		if (controller->ranks[rank].known &&
		    atomic_load(&segment->ranks[rank].proves) == MAL_PROVES_ONE)
			snprintf(text, size, "the program sees 1 thread, so no team grows%s",
				 to_try_for_one(&segment->ranks[rank]));
	return text;
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
