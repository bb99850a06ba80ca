/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * reveal.c: make versions of our symbols default ones, in the table that ld.so reads (Symbol
 * Versioning, Linux Standard Base 5.0, 10.7).
 *
 * Invariant: who looks for a function of OpenMP by its name is told the same as who calls it
 * (t/t2008-identity.t).
 */
#include "libmalleable/rank/program/reveal.h"

#include <link.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#include "libmalleable/base/symbols.h"

/* VERSION in libmalleable.map: 1 is the file itself. */
#define SHOWN 3
#define HIDDEN 0x8000

static const void *find(ElfW(Sxword) tag)
{
	const ElfW(Dyn) *entry = _DYNAMIC;
	const char *us = mal_object_of(_DYNAMIC);

	while (entry->d_tag != DT_NULL && entry->d_tag != tag)
		entry++;
	if (entry->d_tag == DT_NULL || !us)
		return NULL;
	/* Most machines' ld.so has relocated it in place. */
	return entry->d_un.d_ptr < (uintptr_t)us ? us + entry->d_un.d_ptr
						 : (const char *)entry->d_un.d_ptr;
}

/* One more than the highest symbol's number, from HASH, a GNU hash table. */
static uint32_t count_symbols(const uint32_t *hash)
{
	const uint32_t *buckets = hash + 4 + hash[2] * (sizeof(ElfW(Addr)) / sizeof(*hash));
	const uint32_t *chains = buckets + hash[0];
	uint32_t last = 0;

	for (uint32_t i = 0; i < hash[0]; i++)
		last = buckets[i] > last ? buckets[i] : last;
	if (last < hash[1])
		return 0;
	while (!(chains[last - hash[1]] & 1))
		last++;
	return last + 1;
}

void mal_reveal(void)
{
	uintptr_t size = (uintptr_t)sysconf(_SC_PAGESIZE), begin;
	ElfW(Half) *versions = (ElfW(Half) *)find(DT_VERSYM);
	const uint32_t *hash = find(DT_GNU_HASH);
	static _Atomic int once;
	uint32_t count;

	if (!versions || !hash || once++)
		return;
	count = count_symbols(hash);
	begin = (uintptr_t)versions & ~(size - 1);
	size = (uintptr_t)(versions + count) - begin;
	if (mprotect((void *)begin, size, PROT_READ | PROT_WRITE) < 0)
		return;
	for (uint32_t i = 0; i < count; i++)
		if (versions[i] == (SHOWN | HIDDEN))
			versions[i] = SHOWN;
	mprotect((void *)begin, size, PROT_READ);
}
