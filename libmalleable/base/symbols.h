/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* symbols.h: loaded objects and their dynamic symbols. */
#pragma once

#include <dlfcn.h>
#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Where the object that has ADDRESS is loaded; NULL: none has. */
static inline const void *mal_object_of(const void *address)
{
	Dl_info info;

	return dladdr(address, &info) ? info.dli_fbase : NULL;
}

/* From where to where the object is in memory, its gaps included. */
struct mal_span {
	uintptr_t begin, end;
};
struct mal_span mal_span_of(const struct dl_phdr_info *info);

/* NEXT: the next definition of the function NAME after the caller's own. */
#define MAL_NEXT(name) \
	static __typeof__(name) *next; \
\
	if (!next) \
	*(void **)&next = dlsym(RTLD_NEXT, #name)

/* The part of an object that dynamic linking needs. */
struct mal_symbols {
	const ElfW(Sym) * symbols;
	const char *names;
	const uint32_t *gnu_hash;
	const uint32_t *hash;
	const ElfW(Rela) * relocations[2]; /* of data, of calls */
	size_t sizes[2];
	const ElfW(Dyn) * entries;
};

/* Called for each undefined symbol; returns true to stop. */
typedef bool mal_symbols_look(const char *name, void *data);

/* Returns false if the object has none. */
bool mal_symbols_read(const struct dl_phdr_info *info, struct mal_symbols *symbols);

/* Whether LOOK stops at an undefined symbol of the object. */
bool mal_symbols_any(const struct dl_phdr_info *info, mal_symbols_look *look, void *data);
