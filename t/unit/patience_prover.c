/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* patience_prover.c: the prover's part of test_patience.c. */
#include <link.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include "libmalleable/prover/rank/reader.h"
#include "libmalleable/prover/rank/region_verdicts.h"
#include "t/unit/silence.h"
#include "t/unit/unit.h"

#pragma GCC diagnostic ignored "-Wunused-parameter"

/* The program is its only object, now and then, and another rank reads it for ever. */
static int first_object(struct dl_phdr_info *info, size_t size, void *data)
{
	struct mal_object *object = data;

	*object = (struct mal_object){.base = info->dlpi_addr,
				      .path = "",
				      .headers = info->dlpi_phdr,
				      .header_count = info->dlpi_phnum,
				      .regions = true};
	return 1;
}

unsigned long long mal_objects_changes(void)
{
	static unsigned long long changes;

	return ++changes;
}

void mal_loaded_read(struct mal_loaded *loaded)
{
	loaded->count = !loaded->count;
	loaded->first[0] = true;
	dl_iterate_phdr(first_object, &loaded->objects[0]);
}

bool mal_loaded_tells(const struct mal_loaded *loaded, void *handle, const char *symbol)
{
	return true;
}

bool mal_reader_open(struct mal_reader_share share, uint64_t *stamp, const char **trouble)
{
	return true;
}

bool mal_loaded_hold(const struct mal_loaded *loaded, size_t index, void **handle)
{
	*handle = NULL;
	return true;
}

void mal_loaded_let_go(void *handle)
{
}

bool mal_reader_is_free(void)
{
	return true;
}

struct mal_reader_job *mal_reader_jobs(const struct mal_loaded **of, size_t *count)
{
	*count = 0;
	return NULL;
}

void mal_reader_clear(void)
{
}

void mal_reader_give_way(void)
{
}

void mal_reader_add(size_t index, const struct mal_identity *identity)
{
	fail();
}

bool mal_reader_begin(const struct mal_loaded *from)
{
	return false;
}

/* Another process reads the program, and does not come to an end. */
static void reader(void)
{
	_Atomic int32_t turn = getppid();
	_Atomic uint32_t kept = 0;
	_Atomic uint64_t awaited = 0;
	struct mal_reader_share shared = {&turn, &kept, &awaited, NULL, NULL};
	const char *trouble;

	setenv("XDG_CACHE_HOME", "/proc", 1);
	assert_true(mal_regions_open(shared, &trouble));
	/* It is gone, and will be there again. */
	assert_true(mal_regions_open(shared, &trouble));
}

const struct silence_wait silence_waits_of_prover[] = {
	{"the reader of programs", reader, 100},
	{0},
};
