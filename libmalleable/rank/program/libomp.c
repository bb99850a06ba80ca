/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libomp.c: find the file of LLVM's runtime (glibc's dl-cache.h).
 *
 * Invariant: a function is found where the file defines it, and nowhere else (t/unit/test_gomp.c:
 * libomp_is_where_ld_so_finds_it; t/t2006-builds.t).
 */
#include "libmalleable/rank/program/libomp.h"

#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "libmalleable/core/variables.h"

/* Of glibc's libraries, for this machine. */
#if defined(__aarch64__)
#define CACHE_FLAGS 0x0a03
#else
#define CACHE_FLAGS 0x0303
#endif
#define CACHE "/etc/ld.so.cache"
/* Begins the cache, or its second part, behind one of an older form. */
#define CACHE_MAGIC "glibc-ld.so.cache1.1"

struct cache {
	char magic[sizeof(CACHE_MAGIC) - 1];
	uint32_t count, strings_size;
	uint32_t unused[5];
	struct entry {
		int32_t flags;
		uint32_t name, path; /* offsets from the cache's begin */
		uint32_t system;
		uint64_t hardware; /* 0: for any machine */
	} entries[];
};

/* Try the file of LENGTH characters at DIRECTORY, or in it where NAME is not empty. */
static bool try(struct mal_libomp *libomp, const char *directory, size_t length, const char *name)
{
	if (!length || length + sizeof("/" MAL_LIBOMP) > sizeof(libomp->path))
		return false;
	memcpy(libomp->path, directory, length);
	libomp->path[length] = '\0';
	if (*name)
		strcat(strcat(libomp->path, "/"), name);
	/* These end a name in LD_PRELOAD. */
	if (strpbrk(libomp->path, ": "))
		return false;
	return mal_elf_file_open(&libomp->file, libomp->path);
}

static bool try_all(struct mal_libomp *libomp, const char *directories)
{
	while (directories && *directories) {
		size_t length = strcspn(directories, ":;");

		if (try(libomp, directories, length, MAL_LIBOMP))
			return true;
		directories += length + (directories[length] != '\0');
	}
	return false;
}

/* The text at OFFSET in a cache of SIZE bytes. */
static const char *text_at(const struct cache *cache, size_t size, uint32_t offset)
{
	const char *text = (const char *)cache + offset;

	return offset < size && memchr(text, 0, size - offset) ? text : "";
}

static bool try_entries(struct mal_libomp *libomp, const struct cache *cache, size_t size)
{
	if (!mal_elf_file_fits(size, sizeof(*cache), cache->count, sizeof(cache->entries[0])))
		return false;
	for (uint32_t i = 0; i < cache->count; i++) {
		const struct entry *entry = &cache->entries[i];
		const char *path = text_at(cache, size, entry->path);

		if (entry->flags == CACHE_FLAGS && !entry->hardware &&
		    strcmp(text_at(cache, size, entry->name), MAL_LIBOMP) == 0 &&
		    try(libomp, path, strlen(path), ""))
			return true;
	}
	return false;
}

static bool try_cache(struct mal_libomp *libomp)
{
	size_t size;
	const unsigned char *bytes = mal_elf_file_map(CACHE, &size), *at = NULL;
	bool found = false;

	if (!bytes)
		return false;
	for (size_t i = 0; !at && i + sizeof(struct cache) < size; i += 4)
		if (memcmp(bytes + i, CACHE_MAGIC, sizeof(CACHE_MAGIC) - 1) == 0)
			at = bytes + i;
	if (at)
		found = try_entries(libomp, (const void *)at, size - (size_t)(at - bytes));
	mal_elf_file_unmap(bytes, size);
	return found;
}

bool mal_libomp_open(struct mal_libomp *libomp, const char *neighbor)
{
	const char *last = strrchr(neighbor, '/');

	return try_all(libomp, mal_variable(environ, "LD_LIBRARY_PATH")) || try_cache(libomp) ||
	       try_all(libomp, "/lib64:/usr/lib64:/lib:/usr/lib") ||
	       (last && try(libomp, neighbor, (size_t)(last - neighbor), MAL_LIBOMP));
}

bool mal_libomp_has(const struct mal_libomp *libomp, const char *name)
{
	const struct mal_elf_file *file = &libomp->file;

	for (size_t i = 1; i < file->symbol_count; i++)
		if (file->symbols[i].st_shndx != SHN_UNDEF &&
		    strcmp(mal_elf_file_name(file, file->symbols[i].st_name), name) == 0)
			return true;
	return false;
}
