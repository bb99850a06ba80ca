/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * known.c: what is known of the objects that are loaded: from files of an earlier start, or read by
 * one rank of the node (reader.h). The program waits a moment for that, and then goes on: until it
 * is known, nothing is.
 */
#include "libmalleable/rank/prover/known.h"

#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "libmalleable/base/clock.h"
#include "libmalleable/base/patience.h"

/* So long a program waits, all in all. Small ones are read until then. */
#define WAIT_MS 100
/* How often it is looked for news, also while the program waits. */
#define PAUSE_NS 1000000

static struct mal_loaded loaded;
/* Those that are gone are there until the new ones have been looked at. */
static struct mal_known known[2 * MAL_LOADED];
static size_t known_count;
static struct mal_reading shared;
static uint64_t prover_stamp;

static struct {
	size_t count;	    /* of objects that are not read yet */
	uint64_t waited_ns; /* for them, so far */
	uint64_t looked_ns; /* when it was looked for news last */
	uint32_t kept;	    /* files, at that time */
} unread;

static bool answers_hold(const struct mal_verdicts *verdicts, void *handle)
{
	for (size_t i = 0; i < verdicts->asked_count; i++)
		if (mal_loaded_tells(&loaded, handle, verdicts->asked[i].symbol) !=
		    verdicts->asked[i].tells)
			return false;
	return true;
}

/* Returns whether there are any; they may be a part. */
static bool load_verdicts(struct mal_known *object, void *handle)
{
	struct mal_verdicts verdicts;

	if (!mal_verdicts_load(&object->identity, prover_stamp, &verdicts))
		return false;
	/* Another node's part may have replaced a larger one. */
	if ((verdicts.part && verdicts.found.count <= object->verdicts.found.count) ||
	    !answers_hold(&verdicts, handle)) {
		mal_verdicts_free(&verdicts);
		return false;
	}
	mal_verdicts_free(&object->verdicts);
	object->verdicts = verdicts;
	object->unread = verdicts.part;
	return true;
}

static struct mal_known *find_known(uintptr_t base)
{
	for (size_t i = 0; i < known_count; i++)
		if (known[i].base == base)
			return &known[i];
	return NULL;
}

/* Object INDEX of those that are loaded. What is known of it stays if it is the same. */
static void look_at(size_t index)
{
	const struct mal_object *from = &loaded.objects[index];
	struct mal_known *object = find_known(from->base);
	struct mal_identity identity;
	void *handle;

	if (object && object->present)
		return;
	if (!object && known_count == 2 * MAL_LOADED)
		return;
	if (!mal_reader_hold(from, loaded.first[index], &handle))
		return;
	mal_identity_read(from, &identity);
	if (!object || memcmp(&identity, &object->identity, sizeof(identity)) != 0 ||
	    !answers_hold(&object->verdicts, handle)) {
		if (object)
			mal_verdicts_free(&object->verdicts);
		else
			object = &known[known_count++];
		*object = (struct mal_known){
			.base = from->base, .identity = identity, .unread = true};
		load_verdicts(object, handle);
		object->large =
			object->unread && mal_verdicts_are_large(&object->identity, prover_stamp);
	}
	object->index = index;
	object->first = loaded.first[index];
	object->file = from->path;
	object->present = true;
	if (handle)
		dlclose(handle);
}

static void forget_absent(void)
{
	size_t kept = 0;

	for (size_t i = 0; i < known_count; i++) {
		if (known[i].present)
			known[kept++] = known[i];
		else
			mal_verdicts_free(&known[i].verdicts);
	}
	known_count = kept;
}

static bool any_is_indirect(void)
{
	for (size_t i = 0; i < known_count; i++)
		for (size_t j = 0; j < known[i].verdicts.found.count; j++)
			if (known[i].verdicts.found.verdicts[j].indirect)
				return true;
	return false;
}

/* Look at what is loaded now. */
static void look_at_all(void)
{
	mal_loaded_read(&loaded);
	for (size_t i = 0; i < known_count; i++)
		known[i].present = false;
	for (size_t i = 0; i < loaded.count; i++)
		if (loaded.objects[i].regions)
			look_at(i);
	/* Of other objects it matters what can be called by a pointer. */
	for (size_t i = 0; i < loaded.count && any_is_indirect(); i++)
		if (loaded.objects[i].tells)
			look_at(i);
	forget_absent();
	unread.count = 0;
	for (size_t i = 0; i < known_count; i++)
		unread.count += known[i].unread;
}

static bool take(struct mal_known *object, struct mal_read *read)
{
	void *handle;
	bool taken;

	if (!mal_reader_hold(&loaded.objects[object->index], object->first, &handle))
		return false;
	taken = answers_hold(&read->verdicts, handle);
	if (taken) {
		mal_verdicts_free(&object->verdicts);
		object->verdicts = read->verdicts;
		object->trouble = read->trouble;
		object->unread = false;
		read->verdicts = (struct mal_verdicts){0};
	}
	if (handle)
		dlclose(handle);
	return taken;
}

/* What our own reader has found. */
static bool take_read(void)
{
	const struct mal_loaded *then;
	struct mal_read *list;
	bool news = false, all = mal_reader_is_free();
	size_t count;

	list = mal_reader_list(&then, &count);
	for (size_t i = 0; i < count; i++) {
		struct mal_known *object = find_known(then->objects[list[i].index].base);

		if (atomic_load(&list[i].done) && object && object->unread &&
		    memcmp(&object->identity, &list[i].identity, sizeof(list[i].identity)) == 0)
			news |= take(object, &list[i]);
	}
	if (all)
		mal_reader_clear();
	return news;
}

/* What another rank has kept. */
static bool take_kept(void)
{
	bool news = false;

	unread.kept = atomic_load(shared.kept);
	for (size_t i = 0; i < known_count; i++) {
		void *handle;

		if (!known[i].unread ||
		    !mal_reader_hold(&loaded.objects[known[i].index], known[i].first, &handle))
			continue;
		news |= load_verdicts(&known[i], handle);
		if (handle)
			dlclose(handle);
	}
	return news;
}

/* Whether this rank is to read. A process that was killed is not waited for. */
static bool take_turn(void)
{
	int32_t other = 0;

	if (atomic_compare_exchange_strong(shared.turn, &other, getpid()))
		return true;
	return other == MAL_EACH_READS || other == getpid() ||
	       (kill(other, 0) < 0 && errno == ESRCH &&
		atomic_compare_exchange_strong(shared.turn, &other, getpid()));
}

static void begin_to_read(void)
{
	for (size_t i = 0; i < known_count; i++)
		if (known[i].unread)
			mal_reader_add(known[i].index, &known[i].identity);
	if (mal_reader_begin(&loaded))
		return;
	for (size_t i = 0; i < known_count; i++)
		if (known[i].unread) {
			known[i].unread = false;
			known[i].trouble = "no thread can be started that reads its file";
		}
	unread.count = 0;
}

/* Look for news of what is not read yet, and begin to read what nobody reads. */
static void look_for_news(uint64_t now_ns)
{
	bool news, idle;

	if (now_ns - unread.looked_ns < PAUSE_NS)
		return;
	unread.looked_ns = now_ns;
	/* What it found by then is taken, and not read once more. */
	idle = mal_reader_is_free();
	news = take_read();
	if (atomic_load(shared.kept) != unread.kept)
		news |= take_kept();
	/* It may call by pointers. */
	if (news)
		look_at_all();
	if (!unread.count || !idle || !take_turn())
		return;
	/* Whoever had the turn before has kept something meanwhile. */
	if (take_kept())
		look_at_all();
	begin_to_read();
}

/* Whether an object may be read soon. */
static bool some_are_small(void)
{
	for (size_t i = 0; i < known_count; i++)
		if (known[i].unread && !known[i].large)
			return true;
	return false;
}

/* The next start shall not wait for them again. */
static void note_large(void)
{
	for (size_t i = 0; i < known_count; i++) {
		if (!known[i].unread || known[i].large)
			continue;
		known[i].large = true;
		if (atomic_load(shared.turn) == getpid())
			mal_verdicts_note_large(&known[i].identity, prover_stamp);
	}
}

static void wait_for_news(void)
{
	const struct timespec pause = {.tv_nsec = PAUSE_NS};
	uint64_t most_ns = (uint64_t)mal_patience_ms(WAIT_MS) * 1000000, begin_ns = mal_now_ns();
	uint64_t now_ns = begin_ns;

	for (;;) {
		look_for_news(now_ns);
		if (!some_are_small() || unread.waited_ns + (now_ns - begin_ns) >= most_ns)
			break;
		nanosleep(&pause, NULL);
		now_ns = mal_now_ns();
	}
	unread.waited_ns += now_ns - begin_ns;
	if (unread.count)
		mal_reader_give_way();
	note_large();
}

const struct mal_loaded *mal_known_look(void)
{
	if (mal_objects_changes() != loaded.changes) {
		look_at_all();
		if (unread.count)
			wait_for_news();
	} else if (unread.count) {
		look_for_news(mal_now_ns());
	}
	return &loaded;
}

bool mal_known_are_unread(void)
{
	return unread.count > 0;
}

void mal_known_await(uint64_t address)
{
	atomic_store(shared.awaited, address);
}

const struct mal_known *mal_known_list(size_t *count)
{
	*count = known_count;
	return known;
}

const struct mal_known *mal_known_at(uintptr_t base)
{
	return find_known(base);
}

bool mal_known_open(struct mal_reading reading, const char **trouble)
{
	shared = reading;
	unread.waited_ns = 0;
	return mal_reader_open(reading, &prover_stamp, trouble);
}
