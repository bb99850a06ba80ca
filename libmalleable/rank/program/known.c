/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * known.c: what is known of the objects that are loaded. Their files are read by a library of ours
 * that is loaded for that, as it needs a decoder of instructions which other ranks, and programs,
 * shall not see. It is not loaded where all is known from an earlier start.
 */
#include "libmalleable/rank/program/known.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "libmalleable/base/clock.h"
#include "libmalleable/base/patience.h"

#define PROVER "libmalleable_prove.so"
/* For all objects together: the program waits. Reading files and loading the library add to it. */
#define DEADLINE_MS 150
/*
 * The rank that reads for all takes longer, once: else of a large library (500 ms) nothing would
 * ever be kept, and each start would begin anew.
 */
#define KEEP_DEADLINE_MS 1500
/* More questions about other objects are answered for the worst. */
enum { QUESTIONS = 512 };

static struct mal_loaded loaded;
/* Those that are gone are there until the new ones have been looked at. */
static struct mal_known known[2 * MAL_LOADED];
static size_t known_count;
static _Atomic int32_t *reader;

static struct {
	mal_inspect_function *inspect;
	bool missing;
	uint64_t stamp; /* which one it is */
} prover;

/* One inspection. */
struct asking {
	struct mal_verdicts *verdicts;
	void *handle;
};

static bool find_prover(char *path, size_t size)
{
	struct stat status;
	const char *last;
	Dl_info us;

	if (!dladdr(&loaded, &us) || !(last = strrchr(us.dli_fname, '/')) ||
	    snprintf(path, size, "%.*s/" PROVER, (int)(last - us.dli_fname), us.dli_fname) >=
		    (int)size ||
	    stat(path, &status) < 0)
		return false;
	prover.stamp = mal_identity_hash((uint64_t)status.st_size, &status.st_mtim,
					 sizeof(status.st_mtim));
	return true;
}

static bool load_prover(void)
{
	char path[PATH_MAX];
	void *library;

	if (prover.inspect || prover.missing)
		return prover.inspect;
	library = find_prover(path, sizeof(path)) ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
	if (library)
		*(void **)&prover.inspect = dlsym(library, "mal_inspect");
	prover.missing = !prover.inspect;
	return prover.inspect;
}

static int tells(const char *symbol, void *data)
{
	struct asking *asking = data;
	struct mal_verdicts *verdicts = asking->verdicts;
	struct mal_asked *asked = &verdicts->asked[verdicts->asked_count];

	for (size_t i = 0; i < verdicts->asked_count; i++)
		if (strcmp(verdicts->asked[i].symbol, symbol) == 0)
			return verdicts->asked[i].tells;
	if (verdicts->asked_count == QUESTIONS || !(asked->symbol = strdup(symbol)))
		return true;
	verdicts->asked_count++;
	asked->tells = mal_loaded_tells(&loaded, asking->handle, symbol);
	return asked->tells;
}

static bool answers_hold(const struct mal_verdicts *verdicts, void *handle)
{
	for (size_t i = 0; i < verdicts->asked_count; i++)
		if (mal_loaded_tells(&loaded, handle, verdicts->asked[i].symbol) !=
		    verdicts->asked[i].tells)
			return false;
	return true;
}

static const char *inspect_bytes(struct mal_known *object, const struct mal_object *from,
				 void *handle, uint64_t deadline_ns, const uint8_t *bytes,
				 size_t size)
{
	struct asking asking = {&object->verdicts, handle};
	struct mal_inspect_by by = {deadline_ns, tells, &asking};
	struct mal_error err;

	if (!mal_identity_is_of(from, bytes, size))
		return "its file is not what runs";
	if (!load_prover())
		return PROVER " cannot be loaded";
	object->verdicts.asked = calloc(QUESTIONS, sizeof(*object->verdicts.asked));
	if (!object->verdicts.asked ||
	    prover.inspect(bytes, size, &by, &object->verdicts.found, &err) < 0)
		return "its file cannot be read";
	return object->verdicts.found.trouble;
}

static const char *inspect_file(struct mal_known *object, const struct mal_object *from,
				void *handle, uint64_t deadline_ns)
{
	int fd = open(*from->path ? from->path : "/proc/self/exe", O_RDONLY | O_CLOEXEC);
	const char *trouble = "its file cannot be read";
	struct stat status;
	void *bytes;

	if (fd < 0)
		return trouble;
	if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0) {
		bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
		if (bytes != MAP_FAILED) {
			trouble = inspect_bytes(object, from, handle, deadline_ns, bytes,
						(size_t)status.st_size);
			munmap(bytes, (size_t)status.st_size);
		}
	}
	close(fd);
	return trouble;
}

static uint64_t ms_to_ns(int milliseconds)
{
	return (uint64_t)mal_patience_ms(milliseconds) * 1000000;
}

/*
 * Wait until no other rank reads, and be the one that does. Returns false at the deadline, and
 * where ranks cannot find what others have read. A process that was killed is not waited for.
 */
static bool take_turn(uint64_t deadline_ns)
{
	const struct timespec pause = {.tv_nsec = 1000000};
	int32_t other = 0;

	while (!atomic_compare_exchange_strong(reader, &other, getpid())) {
		if (other == MAL_EACH_READS || mal_now_ns() >= deadline_ns)
			return false;
		if (kill(other, 0) < 0 && errno == ESRCH)
			continue;
		other = 0;
		nanosleep(&pause, NULL);
	}
	return true;
}

static bool load_verdicts(struct mal_known *object, void *handle)
{
	if (!mal_verdicts_load(&object->identity, prover.stamp, &object->verdicts))
		return false;
	if (answers_hold(&object->verdicts, handle))
		return true;
	mal_verdicts_free(&object->verdicts);
	return false;
}

/* The rank that reads for all has more time, if there is a place to keep what it finds. */
static bool read_and_keep(struct mal_known *object, const struct mal_object *from, void *handle,
			  uint64_t begin_ns)
{
	uint64_t deadline_ns = begin_ns + ms_to_ns(KEEP_DEADLINE_MS);
	uint64_t begin_cpu_ns = mal_clock_ns(CLOCK_THREAD_CPUTIME_ID);

	if (!mal_verdicts_can_store()) {
		object->trouble =
			inspect_file(object, from, handle, begin_ns + ms_to_ns(DEADLINE_MS));
		return false;
	}
	object->trouble = inspect_file(object, from, handle, deadline_ns);
	/* What was not reached is bound. Another start comes further if this one had no CPU. */
	if (object->trouble ||
	    (mal_now_ns() >= deadline_ns &&
	     mal_clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin_cpu_ns < ms_to_ns(KEEP_DEADLINE_MS) / 2))
		return false;
	return mal_verdicts_store(&object->identity, prover.stamp, &object->verdicts);
}

static void find_verdicts(struct mal_known *object, const struct mal_object *from, void *handle,
			  uint64_t begin_ns)
{
	uint64_t deadline_ns = begin_ns + ms_to_ns(DEADLINE_MS);
	bool kept;

	if (load_verdicts(object, handle))
		return;
	if (take_turn(deadline_ns)) {
		kept = load_verdicts(object, handle) ||
		       read_and_keep(object, from, handle, begin_ns);
		atomic_store(reader, kept ? 0 : MAL_EACH_READS);
	} else {
		object->trouble = inspect_file(object, from, handle, deadline_ns);
	}
}

/* Where an object may be unloaded by another thread, hold it. Returns false if it is gone. */
static bool hold(const struct mal_object *object, bool first, void **handle)
{
	struct link_map *map;

	*handle = first ? NULL : dlopen(object->path, RTLD_LAZY | RTLD_NOLOAD);
	return first || (*handle && dlinfo(*handle, RTLD_DI_LINKMAP, &map) == 0 &&
			 map->l_addr == object->base);
}

static struct mal_known *find_known(uintptr_t base)
{
	for (size_t i = 0; i < known_count; i++)
		if (known[i].base == base)
			return &known[i];
	return NULL;
}

/* Object INDEX of those that are loaded. What is known of it stays if it is the same. */
static void look_at(size_t index, uint64_t begin_ns)
{
	const struct mal_object *from = &loaded.objects[index];
	struct mal_known *object = find_known(from->base);
	struct mal_identity identity;
	void *handle;

	if (object && object->present)
		return;
	if (!object && known_count == 2 * MAL_LOADED)
		return;
	if (hold(from, loaded.first[index], &handle)) {
		mal_identity_read(from, &identity);
		if (!object || memcmp(&identity, &object->identity, sizeof(identity)) != 0 ||
		    !answers_hold(&object->verdicts, handle)) {
			if (object)
				mal_verdicts_free(&object->verdicts);
			else
				object = &known[known_count++];
			*object = (struct mal_known){.base = from->base, .identity = identity};
			find_verdicts(object, from, handle, begin_ns);
		}
		object->first = loaded.first[index];
		object->file = from->path;
		object->present = true;
	}
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

const struct mal_loaded *mal_known_look(void)
{
	uint64_t begin_ns = mal_now_ns();

	if (mal_objects_changes() == loaded.changes)
		return &loaded;
	mal_loaded_read(&loaded);
	for (size_t i = 0; i < known_count; i++)
		known[i].present = false;
	for (size_t i = 0; i < loaded.count; i++)
		if (loaded.objects[i].regions)
			look_at(i, begin_ns);
	/* Of other objects it matters what can be called by a pointer. */
	for (size_t i = 0; i < loaded.count && any_is_indirect(); i++)
		if (loaded.objects[i].tells)
			look_at(i, begin_ns);
	forget_absent();
	return &loaded;
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

bool mal_known_open(_Atomic int32_t *turn, const char **trouble)
{
#if defined(HAVE_ZYDIS) && defined(__x86_64__)
	char path[PATH_MAX];

	*trouble = find_prover(path, sizeof(path)) ? NULL : PROVER " is missing";
#elif defined(__x86_64__)
	*trouble = "built without Zydis";
#else
	*trouble = "not for x86_64";
#endif
	reader = turn;
	return !*trouble;
}
