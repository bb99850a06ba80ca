/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* libomp.c: find LLVM's runtime, and read its symbols (System V ABI, ch. 4; glibc's dl-cache.h). */
#include "libmalleable/rank/program/libomp.h"

#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libmalleable/base/raw.h"
#include "libmalleable/core/variables.h"

#if defined(__aarch64__)
#define MACHINE EM_AARCH64
#define CACHE_FLAGS 0x0a03 /* of glibc, for this machine */
#else
#define MACHINE EM_X86_64
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

/* The file PATH in memory, of *SIZE bytes. NULL: it cannot be read. */
static const unsigned char *map(const char *path, size_t *size)
{
	long fd = MAL_RAW(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC), at = -1;
	struct stat status;

	if (fd < 0)
		return NULL;
	if (MAL_RAW(SYS_fstat, fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0)
		at = MAL_RAW(SYS_mmap, NULL, status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	MAL_RAW(SYS_close, fd);
	*size = (size_t)status.st_size;
	return at > 0 ? (const unsigned char *)at : NULL;
}

/* Whether COUNT items of SIZE bytes from OFFSET on are in a file of WHOLE bytes. */
static bool fits(size_t whole, uint64_t offset, uint64_t count, uint64_t size)
{
	return offset <= whole && count <= (whole - offset) / size;
}

/* Find the dynamic symbols. */
static bool read_symbols(struct mal_libomp *libomp)
{
	const ElfW(Ehdr) *header = (const void *)libomp->bytes;
	const ElfW(Shdr) * sections;

	if (libomp->size < sizeof(*header) || memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
	    header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_machine != MACHINE ||
	    !fits(libomp->size, header->e_shoff, header->e_shnum, sizeof(*sections)))
		return false;
	sections = (const void *)(libomp->bytes + header->e_shoff);
	for (unsigned int i = 0; i < header->e_shnum; i++) {
		const ElfW(Shdr) *symbols = &sections[i], *names = &sections[symbols->sh_link];

		if (symbols->sh_type != SHT_DYNSYM || symbols->sh_link >= header->e_shnum ||
		    !fits(libomp->size, symbols->sh_offset, symbols->sh_size, 1) ||
		    !fits(libomp->size, names->sh_offset, names->sh_size, 1) || !names->sh_size ||
		    libomp->bytes[names->sh_offset + names->sh_size - 1])
			continue;
		libomp->symbols = (const void *)(libomp->bytes + symbols->sh_offset);
		libomp->count = symbols->sh_size / sizeof(*libomp->symbols);
		libomp->names = (const char *)libomp->bytes + names->sh_offset;
		return true;
	}
	return false;
}

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
	libomp->bytes = map(libomp->path, &libomp->size);
	if (!libomp->bytes)
		return false;
	if (read_symbols(libomp))
		return true;
	mal_libomp_close(libomp);
	return false;
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
	if (!fits(size, sizeof(*cache), cache->count, sizeof(cache->entries[0])))
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
	const unsigned char *bytes = map(CACHE, &size), *at = NULL;
	bool found = false;

	if (!bytes)
		return false;
	for (size_t i = 0; !at && i + sizeof(struct cache) < size; i += 4)
		if (memcmp(bytes + i, CACHE_MAGIC, sizeof(CACHE_MAGIC) - 1) == 0)
			at = bytes + i;
	if (at)
		found = try_entries(libomp, (const void *)at, size - (size_t)(at - bytes));
	MAL_RAW(SYS_munmap, bytes, size);
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
	for (size_t i = 1; i < libomp->count; i++)
		if (libomp->symbols[i].st_shndx != SHN_UNDEF &&
		    strcmp(libomp->names + libomp->symbols[i].st_name, name) == 0)
			return true;
	return false;
}

void mal_libomp_close(const struct mal_libomp *libomp)
{
	MAL_RAW(SYS_munmap, libomp->bytes, libomp->size);
}
