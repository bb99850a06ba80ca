/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * region_verdicts.c: which of the program's regions may have any team, by what is known of the
 * objects that are loaded: from files of an earlier start, or read by one rank of the node
 * (reader.h), while the others take the file of its verdicts. The program waits a moment for that,
 * and then goes on: until it is known, nothing is.
 */
#include "libmalleable/rank/prover/region_verdicts.h"

#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "libmalleable/base/clock.h"
#include "libmalleable/base/patience.h"
#include "libmalleable/base/readable.h"

/* Names of C++ functions are long. */
enum { WHY_LONGEST = 2560 };
/* So long a program waits, all in all. Small ones are read until then. */
#define WAIT_MS 100
/* How often it is looked for news, also while the program waits. */
#define PAUSE_NS 1000000

struct known {
	uintptr_t base;
	bool first; /* the process started with it: it stays */
	bool present;
	bool unread;	  /* nothing is known of it yet, or of some regions only */
	bool large;	  /* and it takes long to find out */
	size_t index;	  /* among those that are loaded */
	const char *file; /* empty: the program itself */
	struct mal_identity identity;
	struct mal_verdicts verdicts;
	const char *trouble; /* why nothing is known of it, or NULL */
};

static struct mal_loaded loaded;
/* Those that are gone are there until the new ones have been looked at. */
static struct known known[2 * MAL_LOADED];
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
static bool load_verdicts(struct known *object, void *handle)
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

static struct known *find_known(uintptr_t base)
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
	struct known *object = find_known(from->base);
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
		*object = (struct known){.base = from->base, .identity = identity, .unread = true};
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

static bool take(struct known *object, struct mal_read *read)
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
		struct known *object = find_known(then->objects[list[i].index].base);

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

/*
 * Look at what is loaded now, if that has changed, and for what was read since. The first looks
 * wait a moment for it to be read.
 */
static void look(void)
{
	if (mal_objects_changes() != loaded.changes) {
		look_at_all();
		if (unread.count)
			wait_for_news();
	} else if (unread.count) {
		look_for_news(mal_now_ns());
	}
}

/* Whether a pointer may lead from OBJECT to a function of another one that can tell. */
static bool others_tell(const struct known *object)
{
	look();
	if (loaded.more)
		return true;
	for (size_t i = 0; i < loaded.count; i++) {
		const struct known *other = find_known(loaded.objects[i].base);

		if (other == object || (!other && !loaded.objects[i].tells))
			continue;
		if (!other || other->unread || other->trouble || other->verdicts.found.taken_tells)
			return true;
	}
	return false;
}

static bool is_free(const struct known *object, const struct mal_verdict *verdict)
{
	return verdict->free && !(verdict->indirect && others_tell(object));
}

static const struct known *object_of(uintptr_t function)
{
	for (size_t i = 0; i < known_count; i++)
		if (function - known[i].base >= known[i].identity.text_begin &&
		    function - known[i].base < known[i].identity.text_end)
			return &known[i];
	return NULL;
}

static const struct mal_verdict *verdict_on(const struct known *object, uintptr_t function)
{
	return mal_inspection_find(&object->verdicts.found, function - object->base);
}

/* Its file's name without the directories: the text that a rank may write is short. */
static const char *name_of(const struct known *object)
{
	const char *last = strrchr(object->file, '/');

	return last ? last + 1 : object->file;
}

static void write_why(const struct known *object, const struct mal_verdict *verdict, char *text,
		      size_t size)
{
	const char *reason = verdict->reason ? verdict->reason : "a pointer may lead to what tells";
	char whole[WHY_LONGEST];

	if (verdict->name)
		snprintf(whole, sizeof(whole), "%s: %s", verdict->name, reason);
	else
		snprintf(whole, sizeof(whole), "%#llx%s%s: %s",
			 (unsigned long long)verdict->address, *object->file ? " of " : "",
			 name_of(object), reason);
	mal_make_readable(mal_demangler(RTLD_NOLOAD), whole, text, size);
}

static void write_trouble(const struct known *object, char *text, size_t size)
{
	snprintf(text, size, "%s: %s", *object->file ? name_of(object) : "the program",
		 object->unread	   ? "it is read in the background"
		 : object->trouble ? object->trouble
				   : "a region of which nothing is known");
}

bool mal_regions_open(struct mal_reading reading, const char **trouble)
{
	shared = reading;
	unread.waited_ns = 0;
	if (!mal_reader_open(reading, &prover_stamp, trouble))
		return false;
	look();
	for (size_t i = 0; i < known_count; i++) {
		if (!known[i].trouble) {
			*trouble = NULL;
			return true;
		}
		*trouble = known[i].trouble;
	}
	return !*trouble;
}

struct mal_region_kind mal_region_of(const void *function)
{
	const struct mal_verdict *verdict;
	const struct known *object;

	look();
	object = object_of((uintptr_t)function);
	verdict = object ? verdict_on(object, (uintptr_t)function) : NULL;
	if (!verdict && object && object->unread)
		atomic_store(shared.awaited, (uintptr_t)function - object->base);
	if (!verdict)
		return (struct mal_region_kind){.stays =
							object && object->first && !object->unread};
	return (struct mal_region_kind){.free = is_free(object, verdict),
					.alone = verdict->alone,
					.sums = verdict->sums,
					.stays = object->first && !verdict->indirect};
}

void mal_region_why(const void *function, char *text, size_t size)
{
	const struct known *object = object_of((uintptr_t)function);
	const struct mal_verdict *verdict = object ? verdict_on(object, (uintptr_t)function) : NULL;

	if (verdict)
		write_why(object, verdict, text, size);
	else if (object)
		write_trouble(object, text, size);
	else
		snprintf(text, size, "a region of which nothing is known");
}

/* Whether all regions of OBJECT are free; adds to COUNT how many there are. */
static bool all_are_free(const struct known *object, size_t *count, char *text, size_t size)
{
	const struct mal_inspection *found = &object->verdicts.found;

	for (size_t i = 0; i < found->count; i++) {
		if (is_free(object, &found->verdicts[i]))
			continue;
		write_why(object, &found->verdicts[i], text, size);
		return false;
	}
	if (object->unread || object->trouble || found->unknown) {
		write_trouble(object, text, size);
		return false;
	}
	*count += found->count;
	return true;
}

bool mal_regions_are_free(char *text, size_t size)
{
	size_t count = 0;

	look();
	*text = '\0';
	for (size_t i = 0; i < loaded.count; i++) {
		const struct known *object = find_known(loaded.objects[i].base);

		if (!loaded.objects[i].regions)
			continue;
		if (!object || !all_are_free(object, &count, text, size))
			return false;
	}
	return count && !loaded.more;
}

bool mal_regions_are_unread(void)
{
	return unread.count > 0;
}
