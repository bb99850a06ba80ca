/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * prove.c: a region may have any team if it cannot tell which it has, and every other one has
 * exactly the team that the program knows of. What the program was told elsewhere matters no more,
 * as long as it was not told 1.
 */
#include "libmalleable/prover/prove.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libmalleable/base/clock.h"
#include "libmalleable/core/env.h"
#include "libmalleable/prover/rank/region_verdicts.h"
#include "libmalleable/rank/cpus/threads.h"
#include "libmalleable/rank/state/rank.h"

/* When the program went on although it was not read. */
static uint64_t begun_ns;

static void say(const char *text)
{
	if (!mal.slot->bound_reason[0])
		snprintf(mal.slot->bound_reason, sizeof(mal.slot->bound_reason), "%s", text);
}

/*
 * A bound region has the same threads after a free one of another size only where libomp keeps
 * those that a smaller team leaves (kmp_runtime.cpp, __kmp_allocate_team).
 */
static const char *threads_end(void)
{
	const char *mode = getenv("KMP_HOT_TEAMS_MODE"), *level = getenv("KMP_HOT_TEAMS_MAX_LEVEL");

	if (!mode || strcmp(mode, "1") != 0)
		return "threads may end with a smaller team (KMP_HOT_TEAMS_MODE)";
	if (level && strcmp(level, "0") == 0)
		return "threads may end with a smaller team (KMP_HOT_TEAMS_MAX_LEVEL)";
	return NULL;
}

void mal_prove(void)
{
	struct mal_header *header = mal.segment.header;
	struct mal_reader_share shared = {&header->reader, &header->verdicts_kept, &header->awaited,
					  mal_threads_start_background,
					  mal_threads_background_works};
	const char *trouble = threads_end();
	uint64_t begin = mal_ticks();

	/* What the user says of the mode stands above what can be proved. */
	if (!getenv(MAL_ENV_PROVE) || mal.mode != MAL_MODE_AUTO || mal.proofs.on)
		return;
	mal.proofs_own.on = !trouble && mal_regions_open(shared, &trouble);
	if (!mal.proofs.on)
		say(trouble);
	atomic_store(&mal.slot->proves, mal.proofs.on ? MAL_PROVES : MAL_PROVES_NOT);
	atomic_store(&mal.slot->unread, mal.proofs.on && mal_regions_are_unread());
	begun_ns = mal_now_ns();
	mal_count(&mal.slot->count.overhead_ticks, mal_ticks() - begin);
}

void mal_prove_reported_one(void)
{
	if (!mal.proofs.on)
		return;
	atomic_store(&mal.proofs_own.reported_one, true);
	atomic_store(&mal.slot->proves, MAL_PROVES_ONE);
}

/* A region starts. Why it is bound is another question once the program is read. */
static void note_unread(void)
{
	if (!atomic_load(&mal.slot->unread))
		return;
	if (mal_regions_are_unread())
		return;
	mal.slot->bound_reason[0] = '\0';
	atomic_store(&mal.slot->beside_ms, (uint32_t)((mal_now_ns() - begun_ns) / 1000000));
	atomic_store(&mal.slot->unread, false);
}

__attribute__((noinline)) static struct mal_region_verdict ask(const void *key)
{
	struct mal_fpstate saved = mal_fpstate_save();
	struct mal_region_verdict verdict = mal_region_of(key);

	note_unread();
	mal_fpstate_restore(&saved);
	return verdict;
}

struct mal_region_verdict mal_prove_region(const void *key)
{
	if (!mal.proofs.on || (uintptr_t)key & MAL_NO_FUNCTION)
		return (struct mal_region_verdict){.stays = true};
	return ask(key);
}

__attribute__((noinline)) static void say_why(const void *key)
{
	struct mal_fpstate saved = mal_fpstate_save();
	char text[sizeof(mal.slot->bound_reason)] = "a region of which nothing is known";

	if (!((uintptr_t)key & MAL_NO_FUNCTION))
		mal_region_why(key, text, sizeof(text));
	say(text);
	mal_fpstate_restore(&saved);
}

void mal_prove_note_bound(const void *key)
{
	if (!mal.slot->bound_reason[0])
		say_why(key);
}

bool mal_prove_all_free(void)
{
	char text[sizeof(mal.slot->bound_reason)];

	if (mal_regions_are_free(text, sizeof(text)))
		return true;
	say(text);
	return false;
}
