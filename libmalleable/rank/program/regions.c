/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * regions.c: the program's files are read by a library of ours that is loaded for that, as it needs
 * a decoder of instructions which other ranks, and programs, shall not see. What is found is kept
 * in a table that is never changed afterwards.
 */
#include "libmalleable/rank/program/regions.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libmalleable/base/clock.h"
#include "libmalleable/base/patience.h"
#include "libmalleable/inspect/sites.h"
#include "libmalleable/rank/program/objects.h"

#define PROVER "libmalleable_prove.so"
/* For all objects together: who starts a large program can wait that long. */
#define DEADLINE_MS 500
/* As inspect/effects.c says it. */
#define COUNTS "an atomic operation of every thread"
/* Of these a program rarely starts with more; what comes after them is bound. */
#define OBJECTS 512

/* A call that starts a region: the address it returns to, 0 in an empty place. */
struct place {
	uintptr_t where;
	bool free;
	bool counts;
	const char *text;
};

static struct {
	struct place *places;
	size_t mask; /* their number is a power of two, less one */
	size_t count, free, unknown;
} table;

/* While it is filled. */
struct proving {
	mal_sites_function *inspect;
	void (*forget)(struct mal_sites *sites);
	uint64_t deadline_ns;
	bool strict;
	const char *trouble;
};

/*
 * Objects that the process started with. These stay loaded, so no other code comes to where they
 * are; those that are loaded later stay the program's to unload.
 */
static struct {
	uintptr_t bases[OBJECTS];
	unsigned int count;
} first;

static struct place *place_of(uintptr_t where)
{
	size_t at = (size_t)(where * UINT64_C(0x9e3779b97f4a7c15) >> 32);

	while (table.places[at & table.mask].where && table.places[at & table.mask].where != where)
		at++;
	return &table.places[at & table.mask];
}

/* Make room for MORE, so that at most half of the places are taken. */
static bool make_room(size_t more)
{
	struct place *old = table.places;
	size_t before = old ? table.mask + 1 : 0, size = 64;

	while (size < 2 * (table.count + more))
		size *= 2;
	if (size <= before)
		return true;
	table.places = calloc(size, sizeof(*table.places));
	if (!table.places) {
		table.places = old;
		return false;
	}
	table.mask = size - 1;
	for (size_t i = 0; i < before; i++)
		if (old[i].where)
			*place_of(old[i].where) = old[i];
	free(old);
	return true;
}

static void add_sites(const struct mal_sites *sites, uintptr_t base, bool strict)
{
	enum mal_proof least = strict ? MAL_PROOF_FREE : MAL_PROOF_OPEN;

	table.unknown += sites->unknown;
	if (!make_room(sites->count)) {
		table.unknown += sites->count;
		return;
	}
	for (size_t i = 0; i < sites->count; i++) {
		const struct mal_site *site = &sites->sites[i];
		struct place *place = place_of(base + site->address);
		bool is_free = site->proof >= least;

		table.count++;
		table.free += is_free;
		place->where = base + site->address;
		place->free = is_free;
		place->counts = !is_free && strstr(site->text, COUNTS);
		if (!is_free &&
		    asprintf((char **)&place->text, "%s%s", site->text,
			     site->proof == MAL_PROOF_OPEN ? ": thread numbers" : "") < 0)
			place->text = NULL;
	}
}

/*
 * Whether code and constants of the file are what is in memory, and not those of another build.
 */
static bool is_loaded(const struct dl_phdr_info *info, const uint8_t *bytes, size_t size)
{
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *header = &info->dlpi_phdr[i];

		if (header->p_type != PT_LOAD || (header->p_flags & (PF_W | PF_X)) == PF_W)
			continue;
		if (header->p_flags & PF_W || header->p_offset > size ||
		    header->p_filesz > size - header->p_offset ||
		    memcmp(bytes + header->p_offset,
			   (const void *)(info->dlpi_addr + header->p_vaddr), header->p_filesz))
			return false;
	}
	return true;
}

static const char *prove_bytes(const struct proving *proving, const struct dl_phdr_info *info,
			       const uint8_t *bytes, size_t size)
{
	struct mal_sites sites;
	struct mal_error err;
	const char *trouble;

	if (!is_loaded(info, bytes, size))
		return "its file is not what runs";
	if (proving->inspect(bytes, size, proving->deadline_ns, &sites, &err) < 0)
		return "its file cannot be read";
	trouble = sites.trouble;
	if (!trouble)
		add_sites(&sites, info->dlpi_addr, proving->strict);
	proving->forget(&sites);
	return trouble;
}

static const char *prove_file(const struct proving *proving, const struct dl_phdr_info *info)
{
	const char *path = *info->dlpi_name ? info->dlpi_name : "/proc/self/exe";
	const char *trouble = "its file cannot be read";
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat status;
	void *bytes;

	if (fd < 0)
		return trouble;
	if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0) {
		bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
		if (bytes != MAP_FAILED) {
			trouble = prove_bytes(proving, info, bytes, (size_t)status.st_size);
			munmap(bytes, (size_t)status.st_size);
		}
	}
	close(fd);
	return trouble;
}

static int note_first(struct dl_phdr_info *info, size_t size, void *data)
{
	(void)size;
	(void)data;
	if (first.count == OBJECTS)
		return 1;
	first.bases[first.count++] = info->dlpi_addr;
	return 0;
}

/* The library is loaded with them, before any code of the program runs. */
__attribute__((constructor)) static void note_all_first(void)
{
	dl_iterate_phdr(note_first, NULL);
}

static bool stays(uintptr_t base)
{
	for (unsigned int i = 0; i < first.count; i++)
		if (first.bases[i] == base)
			return true;
	return false;
}

static void prove_object(const struct dl_phdr_info *info, void *data)
{
	struct proving *proving = data;
	const char *trouble =
		stays(info->dlpi_addr) ? prove_file(proving, info) : "it may be unloaded";

	if (!trouble)
		return;
	/* It has regions of which nothing is known. */
	table.unknown++;
	if (!proving->trouble)
		proving->trouble = trouble;
}

/* POSIX lets programs call what dlsym() returns; in ISO C that takes a union. */
static bool load_prover(struct proving *proving)
{
	char path[PATH_MAX];
	const char *last;
	Dl_info us;
	void *library;

	if (!dladdr(&table, &us) || !(last = strrchr(us.dli_fname, '/')) ||
	    snprintf(path, sizeof(path), "%.*s/" PROVER, (int)(last - us.dli_fname),
		     us.dli_fname) >= (int)sizeof(path))
		return false;
	library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!library)
		return false;
	*(void **)&proving->inspect = dlsym(library, "mal_inspect_sites");
	*(void **)&proving->forget = dlsym(library, "mal_sites_free");
	return proving->inspect && proving->forget;
}

bool mal_regions_prove(bool strict, const char **trouble)
{
	struct proving proving = {.strict = strict,
				  .deadline_ns = mal_now_ns() +
						 (uint64_t)mal_patience_ms(DEADLINE_MS) * 1000000};

	if (!load_prover(&proving)) {
		*trouble = PROVER " cannot be loaded";
		return false;
	}
	mal_objects_with_regions(prove_object, &proving);
	*trouble = proving.trouble;
	return table.count > 0 || !proving.trouble;
}

bool mal_region_is_free(const void *where, const char **why)
{
	const struct place *place = table.places ? place_of((uintptr_t)where) : NULL;

	if (place && place->where && place->free)
		return true;
	*why = place && place->text ? place->text : "a region of which nothing is known";
	return false;
}

bool mal_region_counts(const void *where)
{
	const struct place *place = table.places ? place_of((uintptr_t)where) : NULL;

	return place && place->where && place->counts;
}

bool mal_regions_are_free(void)
{
	return table.count && table.free == table.count && !table.unknown;
}
