/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* segment.c: create, seal, map and check the shared memory of a step on one node. */
#include "libmalleable/core/segment.h"

#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libmalleable/base/number.h"
#include "libmalleable/base/raw.h"
#include "libmalleable/core/env.h"
#include "libmalleable/core/variables.h"

#define SEGMENT_MAGIC UINT64_C(0x6d616c6c6561626c)
#define SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)
#define SNAPSHOT_TRIES 1000

static size_t round_to_line(size_t size)
{
	return (size + MAL_CACHE_LINE - 1) / MAL_CACHE_LINE * MAL_CACHE_LINE;
}

/* Set the addresses of the parts. Pages that nobody touches take no memory. */
static size_t lay_out(struct mal_segment *segment, char *base)
{
	size_t at = round_to_line(sizeof(struct mal_header));

	segment->header = (struct mal_header *)base;
	segment->cpus = (struct mal_cpu_slot *)(base + at);
	at += segment->cpu_count * sizeof(struct mal_cpu_slot);
	segment->requests = (struct mal_request_slot *)(base + at);
	at += round_to_line(segment->rank_count * sizeof(struct mal_request_slot));
	segment->ranks = (struct mal_rank_slot *)(base + at);
	at += segment->rank_count * sizeof(struct mal_rank_slot);
	segment->threads = (struct mal_thread_slot *)(base + at);
	at += (size_t)segment->rank_count * segment->thread_count * sizeof(struct mal_thread_slot);
	segment->regions = (struct mal_region_slot *)(base + at);
	at += (size_t)segment->rank_count * MAL_NAMED_REGIONS * sizeof(struct mal_region_slot);
	segment->lanes = base + at;
	at += segment->rank_count * mal_lanes_size(segment);
	segment->size = at;
	return at;
}

static int map(struct mal_segment *segment, int fd, struct mal_error *err)
{
	char *base = mmap(NULL, segment->size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (base == MAP_FAILED)
		return mal_fail_errno(err, "cannot map the segment");
	lay_out(segment, base);
	return 0;
}

static void initialise(struct mal_segment *segment)
{
	struct mal_header *header = segment->header;

	header->version = MAL_SEGMENT_VERSION;
	header->rank_count = segment->rank_count;
	header->cpu_count = segment->cpu_count;
	header->thread_count = segment->thread_count;
	for (unsigned int cpu = 0; cpu < segment->cpu_count; cpu++) {
		mal_word_set(&segment->cpus[cpu].word,
			     (struct mal_cpu_state){MAL_NOBODY, MAL_NOBODY, false});
		segment->cpus[cpu].target = MAL_NOBODY;
	}
	header->magic = SEGMENT_MAGIC;
}

int mal_segment_create(struct mal_segment *segment, unsigned int rank_count,
		       const struct mal_cpumask *allocation, struct mal_error *err)
{
	unsigned int last = 0;
	int fd;

	memset(segment, 0, sizeof(*segment));
	if (rank_count == 0 || rank_count > MAL_MAX_RANKS)
		return mal_fail(err, "%u ranks on this node: 1 to %d can be balanced", rank_count,
				MAL_MAX_RANKS);
	for (unsigned int cpu = 0; (cpu = mal_cpumask_next(allocation, cpu)) < MAL_MAX_CPUS; cpu++)
		last = cpu;
	segment->rank_count = rank_count;
	segment->cpu_count = last + 1;
	segment->thread_count = 2 * segment->cpu_count < 16 ? 16 : 2 * segment->cpu_count;
	lay_out(segment, NULL);
	fd = memfd_create("malleable", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (fd < 0)
		return mal_fail_errno(err, "cannot create the segment");
	if (ftruncate(fd, (off_t)segment->size) < 0 || fcntl(fd, F_ADD_SEALS, SEALS) < 0) {
		mal_fail_errno(err, "cannot size and seal the segment");
	} else if (map(segment, fd, err) == 0) {
		initialise(segment);
		return fd;
	}
	close(fd);
	return -1;
}

int mal_segment_create_for_ranks(unsigned int rank_count, const struct mal_cpumask *allocation,
				 struct mal_error *err)
{
	struct mal_segment segment;
	int fd = mal_segment_create(&segment, rank_count, allocation, err);
	int inherited;

	if (fd < 0)
		return -1;
	mal_segment_close(&segment);
	inherited = fcntl(fd, F_DUPFD, MAL_SEGMENT_FD_MIN);
	close(fd);
	return inherited < 0 ? mal_fail_errno(err, "cannot place the segment's descriptor")
			     : inherited;
}

int mal_segment_open(struct mal_segment *segment, int fd, struct mal_error *err)
{
	struct mal_header header;
	struct stat status;
	int seals = fcntl(fd, F_GET_SEALS);

	memset(segment, 0, sizeof(*segment));
	if (seals < 0 || (seals & SEALS) != SEALS)
		return mal_fail(err, "descriptor %d is not a sealed segment", fd);
	if (fstat(fd, &status) < 0 ||
	    pread(fd, &header, sizeof(header), 0) != (ssize_t)sizeof(header))
		return mal_fail(err, "the segment cannot be read");
	if (header.magic != SEGMENT_MAGIC || header.version != MAL_SEGMENT_VERSION)
		return mal_fail(err, "the segment is of another version of this software");
	if (header.rank_count == 0 || header.rank_count > MAL_MAX_RANKS || header.cpu_count == 0 ||
	    header.cpu_count > MAL_MAX_CPUS || header.thread_count == 0 ||
	    header.thread_count > 2 * MAL_MAX_CPUS)
		return mal_fail(err, "the segment's counts are out of range");
	segment->rank_count = header.rank_count;
	segment->cpu_count = header.cpu_count;
	segment->thread_count = header.thread_count;
	if (lay_out(segment, NULL) != (size_t)status.st_size)
		return mal_fail(err, "the segment's size does not fit its counts");
	return map(segment, fd, err);
}

/* Without it one line too many is printed, or a less exact one. */
static void write_true(int fd, size_t at)
{
	static const uint32_t yes = true;

	if (pwrite(fd, &yes, sizeof(yes), (off_t)at) < 0)
		return;
}

void mal_segment_note_unbalanced(int fd)
{
	write_true(fd, offsetof(struct mal_header, refused));
}

int mal_segment_named(char *const *environment)
{
	unsigned int fd;

	return mal_number_parse(mal_variable(environment, MAL_ENV_SEGMENT_FD), 0, INT_MAX, &fd)
		       ? (int)fd
		       : -1;
}

/* Whether descriptor FD is a segment, of any version. */
static bool read_header(int fd, struct mal_header *header)
{
	long seals = MAL_RAW(SYS_fcntl, fd, F_GET_SEALS);

	return seals >= 0 && (seals & SEALS) == SEALS &&
	       MAL_RAW(SYS_pread64, fd, header, sizeof(*header), 0) == (long)sizeof(*header) &&
	       header->magic == SEGMENT_MAGIC;
}

enum mal_segment_look mal_segment_look(int fd)
{
	struct mal_header header;

	if (!read_header(fd, &header))
		return MAL_SEGMENT_NONE;
	return header.version == MAL_SEGMENT_VERSION && header.over ? MAL_SEGMENT_OVER
								    : MAL_SEGMENT_THERE;
}

void mal_segment_note_unloadable(int fd)
{
	struct mal_header header;

	if (read_header(fd, &header) && header.version == MAL_SEGMENT_VERSION && !header.over)
		write_true(fd, offsetof(struct mal_header, unloadable));
}

void mal_segment_close(struct mal_segment *segment)
{
	if (segment->header)
		munmap(segment->header, segment->size);
	memset(segment, 0, sizeof(*segment));
}

uint64_t mal_segment_busy(const struct mal_segment *segment, unsigned int rank)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < segment->thread_count; i++)
		sum += atomic_load_explicit(&mal_thread_slot(segment, rank, i)->busy,
					    memory_order_relaxed);
	return sum;
}

void mal_snapshot_write(struct mal_rank_slot *rank, const struct mal_snapshot *snapshot)
{
	uint32_t sequence = atomic_load_explicit(&rank->snapshot_sequence, memory_order_relaxed);

	atomic_store_explicit(&rank->snapshot_sequence, sequence | 1, memory_order_relaxed);
	atomic_thread_fence(memory_order_release);
	rank->snapshot = *snapshot;
	atomic_store_explicit(&rank->snapshot_sequence, (sequence | 1) + 1, memory_order_release);
}

bool mal_snapshot_read(const struct mal_rank_slot *rank, struct mal_snapshot *snapshot)
{
	for (int i = 0; i < SNAPSHOT_TRIES; i++) {
		uint32_t before =
			atomic_load_explicit(&rank->snapshot_sequence, memory_order_acquire);

		if (before & 1)
			continue;
		*snapshot = rank->snapshot;
		atomic_thread_fence(memory_order_acquire);
		if (atomic_load_explicit(&rank->snapshot_sequence, memory_order_relaxed) == before)
			return true;
	}
	return false;
}
