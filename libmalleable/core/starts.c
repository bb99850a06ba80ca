/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * starts.c: whether each program of a balanced step loaded our library.
 *
 * Invariant: nothing is missed where a program ran without us (t/unit/test_core.c:
 * starts_are_counted; t/t2016-absent.t).
 */
#include "libmalleable/core/starts.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

/* Of this process's step, also where a child has closed the descriptor; NULL: none. */
static struct mal_header *mine;

static struct mal_header *map(int fd)
{
	struct mal_header *header;

	if (mal_segment_look(fd) != MAL_SEGMENT_THERE)
		return NULL;
	header = mmap(NULL, sizeof(*header), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (header == MAP_FAILED)
		return NULL;
	if (header->version == MAL_SEGMENT_VERSION)
		return header;
	munmap(header, sizeof(*header));
	return NULL;
}

void mal_starts_open(void)
{
	int saved = errno;

	mine = map(mal_segment_named(environ));
	errno = saved;
}

void mal_starts_count(enum mal_start what, int by)
{
	if (mine)
		atomic_fetch_add(&mine->starts[what], (uint32_t)by);
}

void mal_starts_miss(enum mal_absent library)
{
	if (mine)
		atomic_fetch_or(&mine->absent, 1u << library);
}

void mal_starts_begin(int fd)
{
	struct mal_header *header = map(fd);

	if (!header)
		return;
	atomic_fetch_add(&header->starts[MAL_START_BEGUN], 1);
	munmap(header, sizeof(*header));
}

bool mal_starts_are_whole(const struct mal_header *header)
{
	uint32_t started = atomic_load(&header->starts[MAL_START_BEGUN]);

	return started && started == atomic_load(&header->starts[MAL_START_LOADED]) &&
	       started == atomic_load(&header->starts[MAL_START_ENDED]) &&
	       !atomic_load(&header->starts[MAL_START_HID_MPI]);
}
