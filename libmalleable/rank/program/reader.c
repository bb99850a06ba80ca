/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * reader.c: reads the files of objects, by a library of ours that is loaded for that, as it needs a
 * decoder of instructions which other ranks, and programs, shall not see. It is not loaded where
 * all is known from an earlier start.
 */
#include "libmalleable/rank/program/reader.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define PROVER "libmalleable_prove.so"
/* More questions about other objects are answered for the worst. */
enum { QUESTIONS = 512 };
/* Another rank, of this node or another one, may write a file of the same name just now. */
enum { STORE_TRIES = 10 };
#define STORE_PAUSE_NS 10000000

static struct {
	mal_inspect_function *inspect;
	bool missing;
	uint64_t stamp; /* which one it is */
} prover;

/* The thread writes only while it is at work, and the others only while it is not. */
static struct {
	struct mal_reading shared;
	struct mal_loaded loaded;
	struct mal_read list[2 * MAL_LOADED];
	size_t count;
	_Atomic bool gives_way;
	_Atomic int32_t tid;
} reader;

/* One inspection. */
struct inspection {
	struct mal_verdicts *verdicts;
	size_t index;
};

static bool find_prover(char *path, size_t size)
{
	struct stat status;
	const char *last;
	Dl_info us;

	if (!dladdr(&reader, &us) || !(last = strrchr(us.dli_fname, '/')) ||
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

bool mal_reader_hold(const struct mal_object *object, bool first, void **handle)
{
	struct link_map *map;

	*handle = first ? NULL : dlopen(object->path, RTLD_LAZY | RTLD_NOLOAD);
	if (first ||
	    (*handle && dlinfo(*handle, RTLD_DI_LINKMAP, &map) == 0 && map->l_addr == object->base))
		return true;
	if (*handle)
		dlclose(*handle);
	return false;
}

static bool hold(size_t index, void **handle)
{
	return mal_reader_hold(&reader.loaded.objects[index], reader.loaded.first[index], handle);
}

static void let_go(void *handle)
{
	if (handle)
		dlclose(handle);
}

/* Held for no longer than each answer takes: what the program unloads shall be gone. */
static bool answer(size_t index, const char *symbol)
{
	void *handle;
	bool told;

	if (!hold(index, &handle))
		return true;
	told = mal_loaded_tells(&reader.loaded, handle, symbol);
	let_go(handle);
	return told;
}

static int tells(const char *symbol, void *data)
{
	struct inspection *inspection = data;
	struct mal_verdicts *verdicts = inspection->verdicts;
	struct mal_asked *asked = &verdicts->asked[verdicts->asked_count];

	for (size_t i = 0; i < verdicts->asked_count; i++)
		if (strcmp(verdicts->asked[i].symbol, symbol) == 0)
			return verdicts->asked[i].tells;
	if (verdicts->asked_count == QUESTIONS || !(asked->symbol = strdup(symbol)))
		return true;
	verdicts->asked_count++;
	asked->tells = answer(inspection->index, symbol);
	return asked->tells;
}

static bool is_what_runs(size_t index, const uint8_t *bytes, size_t size)
{
	void *handle;
	bool same;

	if (!hold(index, &handle))
		return false;
	same = mal_identity_is_of(&reader.loaded.objects[index], bytes, size);
	let_go(handle);
	return same;
}

static const char *inspect_bytes(struct mal_read *read, const uint8_t *bytes, size_t size)
{
	struct inspection inspection = {&read->verdicts, read->index};
	struct mal_inspect_by by = {.tells = tells, .data = &inspection};
	struct mal_error err;

	if (!is_what_runs(read->index, bytes, size))
		return "its file is not what runs";
	if (!load_prover())
		return PROVER " cannot be loaded";
	read->verdicts.asked = calloc(QUESTIONS, sizeof(*read->verdicts.asked));
	if (!read->verdicts.asked ||
	    prover.inspect(bytes, size, &by, &read->verdicts.found, &err) < 0)
		return "its file cannot be read";
	return read->verdicts.found.trouble;
}

static const char *inspect_file(struct mal_read *read)
{
	const char *path = reader.loaded.objects[read->index].path;
	int fd = open(*path ? path : "/proc/self/exe", O_RDONLY | O_CLOEXEC);
	const char *trouble = "its file cannot be read";
	struct stat status;
	void *bytes;

	if (fd < 0)
		return trouble;
	if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0) {
		bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
		if (bytes != MAP_FAILED) {
			trouble = inspect_bytes(read, bytes, (size_t)status.st_size);
			munmap(bytes, (size_t)status.st_size);
		}
	}
	close(fd);
	return trouble;
}

/* For the other ranks, and the next start. */
static bool keep(const struct mal_read *read)
{
	const struct timespec pause = {.tv_nsec = STORE_PAUSE_NS};

	if (read->trouble || !mal_verdicts_can_store())
		return false;
	for (int i = 0; i < STORE_TRIES; i++) {
		if (mal_verdicts_store(&read->identity, prover.stamp, &read->verdicts)) {
			atomic_fetch_add(reader.shared.kept, 1);
			return true;
		}
		nanosleep(&pause, NULL);
	}
	return false;
}

/* One CPU is shared 1024 to 15 then (sched(7)); a thread that sleeps leaves all of its CPU. */
static void give_way(int32_t tid)
{
	setpriority(PRIO_PROCESS, (id_t)tid, 19);
}

static void *work(void *nothing)
{
	bool all_kept = true;

	atomic_store(&reader.tid, (int32_t)syscall(SYS_gettid));
	if (atomic_load(&reader.gives_way))
		give_way(0);
	for (size_t i = 0; i < reader.count; i++) {
		struct mal_read *read = &reader.list[i];

		read->trouble = inspect_file(read);
		all_kept &= keep(read);
		atomic_store(&read->done, true);
	}
	atomic_store(reader.shared.turn, all_kept ? 0 : MAL_EACH_READS);
	atomic_store(&reader.tid, 0);
	return nothing;
}

bool mal_reader_is_free(void)
{
	return !reader.shared.works();
}

void mal_reader_add(size_t index, const struct mal_identity *identity)
{
	struct mal_read *read = &reader.list[reader.count++];

	*read = (struct mal_read){.index = index, .identity = *identity};
}

bool mal_reader_begin(const struct mal_loaded *from)
{
	reader.loaded = *from;
	for (size_t i = 0; i < from->count; i++)
		reader.loaded.objects[i].path = reader.loaded.paths[i];
	if (reader.shared.start(work))
		return true;
	reader.count = 0;
	return false;
}

struct mal_read *mal_reader_list(const struct mal_loaded **of, size_t *count)
{
	*of = &reader.loaded;
	*count = reader.count;
	return reader.list;
}

void mal_reader_clear(void)
{
	for (size_t i = 0; i < reader.count; i++)
		mal_verdicts_free(&reader.list[i].verdicts);
	reader.count = 0;
}

void mal_reader_give_way(void)
{
	int32_t tid;

	if (atomic_exchange(&reader.gives_way, true))
		return;
	tid = atomic_load(&reader.tid);
	if (tid)
		give_way(tid);
}

bool mal_reader_open(struct mal_reading reading, uint64_t *stamp, const char **trouble)
{
#if defined(HAVE_ZYDIS) && defined(__x86_64__)
	char path[PATH_MAX];

	*trouble = find_prover(path, sizeof(path)) ? NULL : PROVER " is missing";
#elif defined(__x86_64__)
	*trouble = "built without Zydis";
#else
	*trouble = "not for x86_64";
#endif
	reader.shared = reading;
	*stamp = prover.stamp;
	return !*trouble;
}
