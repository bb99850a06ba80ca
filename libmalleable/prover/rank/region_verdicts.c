/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * region_verdicts.c: which of the program's regions may have any team, by what is known of the
 * objects that are loaded: from files of an earlier start, or read by one rank of the node
 * (reader.h), while the others take the file of its verdicts. The program waits a moment for that,
 * and then goes on: until it is known, nothing is.
 */
#include "libmalleable/prover/rank/region_verdicts.h"

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

struct object {
	uintptr_t base;
	bool first; /* the process started with it: it stays */
	bool present;
	bool unread;	  /* nothing is known of it yet, or of some regions only */
	size_t index;	  /* among those that are loaded */
	const char *file; /* empty: the program itself */
	struct mal_identity identity;
	struct mal_verdicts verdicts;
	const char *trouble; /* why nothing is known of it, or NULL */
};

static struct mal_loaded loaded;
/* Those that are gone are there until the new ones have been looked at. */
static struct object objects[2 * MAL_LOADED];
static size_t object_count;
static struct mal_reader_share shared;
static uint64_t prover_stamp;

static struct {
	size_t count;		/* of objects that are not read yet */
	uint64_t waited_ns;	/* for them, so far */
	uint64_t looked_ns;	/* when it was looked for news last */
	uint32_t verdicts_kept; /* at that time */
} unread;

static bool answers_hold(const struct mal_verdicts *verdicts, void *handle)
{
	for (size_t i = 0; i < verdicts->question_count; i++)
		if (mal_loaded_tells(&loaded, handle, verdicts->questions[i].symbol) !=
		    verdicts->questions[i].observes_team)
			return false;
	return true;
}

/* If there are any; they may be a part. */
static void load_verdicts(struct object *object, void *handle)
{
	struct mal_verdicts verdicts;

	if (!mal_verdicts_load(&object->identity, prover_stamp, &verdicts))
		return;
	/* Another node's part may have replaced a larger one. */
	if ((verdicts.part && verdicts.count <= object->verdicts.count) ||
	    !answers_hold(&verdicts, handle)) {
		mal_verdicts_free(&verdicts);
		return;
	}
	mal_verdicts_free(&object->verdicts);
	object->verdicts = verdicts;
	object->unread = verdicts.part;
}

static struct object *find_object(uintptr_t base)
{
	for (size_t i = 0; i < object_count; i++)
		if (objects[i].base == base)
			return &objects[i];
	return NULL;
}

/* Object INDEX of those that are loaded. What is known of it stays if it is the same. */
static void look_at(size_t index)
{
	const struct mal_object *from = &loaded.objects[index];
	struct object *object = find_object(from->base);
	struct mal_identity identity;
	void *handle;

	if (object && object->present)
		return;
	if (!object && object_count == 2 * MAL_LOADED)
		return;
	if (!mal_loaded_hold(&loaded, index, &handle))
		return;
	mal_identity_read(from, &identity);
	if (!object || memcmp(&identity, &object->identity, sizeof(identity)) != 0 ||
	    !answers_hold(&object->verdicts, handle)) {
		if (object)
			mal_verdicts_free(&object->verdicts);
		else
			object = &objects[object_count++];
		*object = (struct object){.base = from->base, .identity = identity, .unread = true};
		load_verdicts(object, handle);
	}
	object->index = index;
	object->first = loaded.first[index];
	object->file = from->path;
	object->present = true;
	mal_loaded_let_go(handle);
}

static void forget_absent(void)
{
	size_t kept = 0;

	for (size_t i = 0; i < object_count; i++) {
		if (objects[i].present)
			objects[kept++] = objects[i];
		else
			mal_verdicts_free(&objects[i].verdicts);
	}
	object_count = kept;
}

static void count_unread(void)
{
	unread.count = 0;
	for (size_t i = 0; i < object_count; i++)
		unread.count += objects[i].unread;
}

/* Look at what is loaded now. */
static void look_at_all(void)
{
	mal_loaded_read(&loaded);
	for (size_t i = 0; i < object_count; i++)
		objects[i].present = false;
	for (size_t i = 0; i < loaded.count; i++)
		if (loaded.objects[i].regions)
			look_at(i);
	forget_absent();
	count_unread();
}

static void take(struct object *object, struct mal_reader_job *job)
{
	void *handle;

	if (!mal_loaded_hold(&loaded, object->index, &handle))
		return;
	if (answers_hold(&job->verdicts, handle)) {
		mal_verdicts_free(&object->verdicts);
		object->verdicts = job->verdicts;
		object->trouble = job->trouble;
		object->unread = false;
		job->verdicts = (struct mal_verdicts){0};
		/* Its reader may go on, and the object come again. */
		atomic_store(&job->done, false);
	}
	mal_loaded_let_go(handle);
}

/* What our own reader has found. */
static void take_read(void)
{
	const struct mal_loaded *then;
	struct mal_reader_job *jobs;
	bool all = mal_reader_is_free();
	size_t count;

	jobs = mal_reader_jobs(&then, &count);
	for (size_t i = 0; i < count; i++) {
		struct object *object = find_object(then->objects[jobs[i].index].base);

		if (atomic_load(&jobs[i].done) && object && object->unread &&
		    memcmp(&object->identity, &jobs[i].identity, sizeof(jobs[i].identity)) == 0)
			take(object, &jobs[i]);
	}
	if (all)
		mal_reader_clear();
}

/* What another rank has kept. */
static void take_kept(void)
{
	unread.verdicts_kept = atomic_load(shared.verdicts_kept);
	for (size_t i = 0; i < object_count; i++) {
		void *handle;

		if (!objects[i].unread || !mal_loaded_hold(&loaded, objects[i].index, &handle))
			continue;
		load_verdicts(&objects[i], handle);
		mal_loaded_let_go(handle);
	}
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
	for (size_t i = 0; i < object_count; i++)
		if (objects[i].unread)
			mal_reader_add(objects[i].index, &objects[i].identity);
	if (mal_reader_begin(&loaded))
		return;
	for (size_t i = 0; i < object_count; i++)
		if (objects[i].unread) {
			objects[i].unread = false;
			objects[i].trouble = "cannot start a thread to read its file";
		}
	unread.count = 0;
}

/* Look for news of what is not read yet, and begin to read what nobody reads. */
static void look_for_news(uint64_t now_ns)
{
	bool idle;

	if (now_ns - unread.looked_ns < PAUSE_NS)
		return;
	unread.looked_ns = now_ns;
	/* What it found by then is taken, and not read once more. */
	idle = mal_reader_is_free();
	take_read();
	if (atomic_load(shared.verdicts_kept) != unread.verdicts_kept)
		take_kept();
	count_unread();
	if (!unread.count || !idle || !take_turn())
		return;
	/* Whoever had the turn before has kept something meanwhile. */
	take_kept();
	begin_to_read();
	count_unread();
}

static void wait_for_news(void)
{
	const struct timespec pause = {.tv_nsec = PAUSE_NS};
	uint64_t most_ns = (uint64_t)mal_patience_ms(WAIT_MS) * 1000000, begin_ns = mal_now_ns();
	uint64_t now_ns = begin_ns;

	for (;;) {
		look_for_news(now_ns);
		if (!unread.count || unread.waited_ns + (now_ns - begin_ns) >= most_ns)
			break;
		nanosleep(&pause, NULL);
		now_ns = mal_now_ns();
	}
	unread.waited_ns += now_ns - begin_ns;
	if (unread.count)
		mal_reader_give_way();
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
static bool others_tell(const struct object *object)
{
	look();
	if (loaded.more)
		return true;
	for (size_t i = 0; i < loaded.count; i++) {
		const struct object *other = find_object(loaded.objects[i].base);

		if (other == object || (!other && !loaded.objects[i].observes_team))
			continue;
		if (!other || other->unread || other->trouble || other->verdicts.indirect_observes)
			return true;
	}
	return false;
}

static bool is_free(const struct object *object, const struct mal_verdict *verdict)
{
	return verdict->free && !(verdict->indirect && others_tell(object));
}

static const struct object *object_of(uintptr_t function)
{
	for (size_t i = 0; i < object_count; i++)
		if (function - objects[i].base >= objects[i].identity.text_begin &&
		    function - objects[i].base < objects[i].identity.text_end)
			return &objects[i];
	return NULL;
}

static const struct mal_verdict *verdict_on(const struct object *object, uintptr_t function)
{
	return mal_verdict_find(&object->verdicts, function - object->base);
}

/* Its file's name without the directories: the text that a rank may write is short. */
static const char *name_of(const struct object *object)
{
	const char *last = strrchr(object->file, '/');

	return last ? last + 1 : object->file;
}

static void write_why(const struct object *object, const struct mal_verdict *verdict, char *text,
		      size_t size)
{
	const char *reason =
		verdict->reason ? verdict->reason : "an indirect call may read the thread number";
	char whole[WHY_LONGEST];

	if (verdict->name)
		snprintf(whole, sizeof(whole), "%s: %s", verdict->name, reason);
	else
		snprintf(whole, sizeof(whole), "%#llx%s%s: %s",
			 (unsigned long long)verdict->address, *object->file ? " of " : "",
			 name_of(object), reason);
	mal_make_readable(mal_demangler(RTLD_NOLOAD), whole, text, size);
}

static void write_trouble(const struct object *object, char *text, size_t size)
{
	snprintf(text, size, "%s: %s", *object->file ? name_of(object) : "the program",
		 object->unread	   ? "it is being read in the background"
		 : object->trouble ? object->trouble
				   : "a region of which nothing is known");
}

bool mal_regions_open(struct mal_reader_share share, const char **trouble)
{
	shared = share;
	unread.waited_ns = 0;
	if (!mal_reader_open(share, &prover_stamp, trouble))
		return false;
	look();
	for (size_t i = 0; i < object_count; i++) {
		if (!objects[i].trouble) {
			*trouble = NULL;
			return true;
		}
		*trouble = objects[i].trouble;
	}
	return !*trouble;
}

struct mal_region_verdict mal_region_of(const void *function)
{
	const struct mal_verdict *verdict;
	const struct object *object;

	look();
	object = object_of((uintptr_t)function);
	verdict = object ? verdict_on(object, (uintptr_t)function) : NULL;
	if (!verdict && object && object->unread)
		atomic_store(shared.awaited, (uintptr_t)function - object->base);
	if (!verdict)
		return (struct mal_region_verdict){.stays = object && object->first &&
							    !object->unread};
	return (struct mal_region_verdict){.free = is_free(object, verdict),
					   .alone = verdict->alone,
					   .sums = verdict->sums,
					   .stays = object->first && !verdict->indirect};
}

void mal_region_why(const void *function, char *text, size_t size)
{
	const struct object *object = object_of((uintptr_t)function);
	const struct mal_verdict *verdict = object ? verdict_on(object, (uintptr_t)function) : NULL;

	if (verdict)
		write_why(object, verdict, text, size);
	else if (object)
		write_trouble(object, text, size);
	else
		snprintf(text, size, "a region of which nothing is known");
}

/* Whether all regions of OBJECT are free; adds to COUNT how many there are. */
static bool all_are_free(const struct object *object, size_t *count, char *text, size_t size)
{
	const struct mal_verdicts *verdicts = &object->verdicts;

	for (size_t i = 0; i < verdicts->count; i++) {
		if (is_free(object, &verdicts->list[i]))
			continue;
		write_why(object, &verdicts->list[i], text, size);
		return false;
	}
	if (object->unread || object->trouble || verdicts->unknown) {
		write_trouble(object, text, size);
		return false;
	}
	*count += verdicts->count;
	return true;
}

bool mal_regions_are_free(char *text, size_t size)
{
	size_t count = 0;

	look();
	*text = '\0';
	for (size_t i = 0; i < loaded.count; i++) {
		const struct object *object = find_object(loaded.objects[i].base);

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
