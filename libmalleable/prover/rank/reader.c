/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * reader.c: reads the files of objects, by a library of ours that is loaded for that, as it needs a
 * decoder of instructions which other ranks, and programs, shall not see. It is not loaded where
 * all is known from an earlier start.
 */
#include "libmalleable/prover/rank/reader.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "libmalleable/base/clock.h"
#include "libmalleable/core/starts.h"

#define PROVER "libmalleable_prove.so"
/* What it needs, and programs do not. */
#define ZYDIS "libZydis.so"
/* Another rank, of this node or another one, may write a file of the same name just now. */
enum { STORE_TRIES = 10 };
#define STORE_PAUSE_NS 10000000
/* How much of what was found may be lost, in CPU time. */
#define PART_NS 50000000

static struct {
	mal_inspect_function *inspect;
	bool missing;
	uint64_t stamp; /* which one it is */
} prover;

/* The thread writes only while it is at work, and the others only while it is not. */
static struct {
	struct mal_reader_share shared;
	struct mal_loaded loaded;
	struct mal_reader_job jobs[2 * MAL_LOADED];
	size_t count;
	_Atomic bool gives_way;
	_Atomic int32_t tid;
} reader;

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
	else if (strstr(dlerror() ?: "", ZYDIS))
		mal_starts_miss(MAL_ABSENT_ZYDIS);
	prover.missing = !prover.inspect;
	return prover.inspect;
}

/* Held for no longer than each answer takes: what the program unloads shall be gone. */
static bool observes_team(const char *symbol, void *data)
{
	const struct mal_reader_job *job = data;
	void *handle;
	bool told;

	if (!mal_loaded_hold(&reader.loaded, job->index, &handle))
		return true;
	told = mal_loaded_tells(&reader.loaded, handle, symbol);
	mal_loaded_let_go(handle);
	return told;
}

static uint64_t next(void *data)
{
	(void)data;
	return atomic_load(reader.shared.awaited);
}

static uint64_t cpu_ns(void)
{
	return mal_clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

/* For all ranks that await it, and for the next start where this one ends now. */
static void found(uint64_t address, void *data)
{
	struct mal_reader_job *job = data;

	if (address != atomic_load(reader.shared.awaited) && cpu_ns() - job->stored_ns < PART_NS)
		return;
	if (mal_verdicts_store(&job->identity, prover.stamp, &job->verdicts))
		atomic_fetch_add(reader.shared.verdicts_kept, 1);
	job->stored_ns = cpu_ns();
}

static bool is_what_runs(size_t index, const uint8_t *bytes, size_t size)
{
	void *handle;
	bool same;

	if (!mal_loaded_hold(&reader.loaded, index, &handle))
		return false;
	same = mal_identity_is_of(&reader.loaded.objects[index], bytes, size);
	mal_loaded_let_go(handle);
	return same;
}

static const char *inspect_bytes(struct mal_reader_job *job, const uint8_t *bytes, size_t size)
{
	struct mal_verdicts earlier;
	struct mal_inspect_options options = {.observes_team = observes_team,
					      .next = next,
					      .found = found,
					      .earlier = &earlier,
					      .data = job};
	struct mal_error err;
	int result;

	if (!is_what_runs(job->index, bytes, size))
		return "the file differs from the running program";
	if (!load_prover())
		return PROVER " cannot be loaded";
	mal_verdicts_load(&job->identity, prover.stamp, &earlier);
	job->stored_ns = cpu_ns();
	result = prover.inspect(bytes, size, &options, &job->verdicts, &err);
	mal_verdicts_free(&earlier);
	return result < 0 ? "its file cannot be read" : job->verdicts.trouble;
}

static const char *inspect_file(struct mal_reader_job *job)
{
	const char *path = reader.loaded.objects[job->index].path;
	int fd = open(*path ? path : "/proc/self/exe", O_RDONLY | O_CLOEXEC);
	const char *trouble = "its file cannot be read";
	struct stat status;
	void *bytes;

	if (fd < 0)
		return trouble;
	if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0) {
		bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
		if (bytes != MAP_FAILED) {
			trouble = inspect_bytes(job, bytes, (size_t)status.st_size);
			munmap(bytes, (size_t)status.st_size);
		}
	}
	close(fd);
	return trouble;
}

/* For the other ranks, and the next start. */
static bool keep(const struct mal_reader_job *job)
{
	const struct timespec pause = {.tv_nsec = STORE_PAUSE_NS};

	if (job->trouble || !mal_verdicts_can_store())
		return false;
	for (int i = 0; i < STORE_TRIES; i++) {
		if (mal_verdicts_store(&job->identity, prover.stamp, &job->verdicts)) {
			atomic_fetch_add(reader.shared.verdicts_kept, 1);
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

	/* Before it gives way, as the program may need the dynamic linker's lock meanwhile. */
	load_prover();
	atomic_store(&reader.tid, (int32_t)syscall(SYS_gettid));
	if (atomic_load(&reader.gives_way))
		give_way(0);
	for (size_t i = 0; i < reader.count; i++) {
		struct mal_reader_job *job = &reader.jobs[i];

		job->trouble = inspect_file(job);
		all_kept &= keep(job);
		atomic_store(&job->done, true);
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
	struct mal_reader_job *job = &reader.jobs[reader.count++];

	*job = (struct mal_reader_job){.index = index, .identity = *identity};
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

struct mal_reader_job *mal_reader_jobs(const struct mal_loaded **of, size_t *count)
{
	*of = &reader.loaded;
	*count = reader.count;
	return reader.jobs;
}

void mal_reader_clear(void)
{
	for (size_t i = 0; i < reader.count; i++)
		mal_verdicts_free(&reader.jobs[i].verdicts);
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

bool mal_reader_open(struct mal_reader_share share, uint64_t *stamp, const char **trouble)
{
#ifdef __x86_64__
	char path[PATH_MAX];

	*trouble = find_prover(path, sizeof(path)) ? NULL : PROVER " is missing";
#else
	*trouble = "not for x86_64";
#endif
	reader.shared = share;
	*stamp = prover.stamp;
	return !*trouble;
}
