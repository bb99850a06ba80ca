/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* objects.c: the loaded objects' dynamic symbols and segments (System V ABI, chapter 5; dl_iterate_phdr(3)). */
#include "libmalleable/rank/objects.h"

#include <dlfcn.h>
#include <link.h>
#include <stdint.h>
#include <string.h>

/* The part of an object that dynamic linking needs. */
struct dynamic {
	const ElfW(Sym) * symbols;
	const char *names;
	const uint32_t *gnu_hash;
	const uint32_t *hash;
};

/* Walks over undefined symbols; stops where it returns true. */
typedef bool (*look)(const char *name, void *data);

static void read_entry(const struct dl_phdr_info *info, const ElfW(Dyn) * entry, struct dynamic *dynamic)
{
	uintptr_t address = (uintptr_t)entry->d_un.d_ptr;
	/* glibc relocates these addresses in place, but not those of the kernel's vdso. */
	const void *at = (const void *)(address < info->dlpi_addr ? address + info->dlpi_addr : address);

	if (entry->d_tag == DT_SYMTAB)
		dynamic->symbols = at;
	else if (entry->d_tag == DT_STRTAB)
		dynamic->names = at;
	else if (entry->d_tag == DT_GNU_HASH)
		dynamic->gnu_hash = at;
	else if (entry->d_tag == DT_HASH)
		dynamic->hash = at;
}

/*
 * The symbols below this number may be undefined: a GNU hash table starts with the first defined one, the older table
 * counts all.
 */
static uint32_t symbols_to_look_at(const struct dynamic *dynamic)
{
	if (dynamic->gnu_hash)
		return dynamic->gnu_hash[1];
	return dynamic->hash ? dynamic->hash[1] : 0;
}

static bool any_undefined(const struct dl_phdr_info *info, look is_looked_for, void *data)
{
	struct dynamic dynamic = {0};

	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Dyn) * entry;

		if (info->dlpi_phdr[i].p_type != PT_DYNAMIC)
			continue;
		for (entry = (const void *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr); entry->d_tag != DT_NULL;
		     entry++)
			read_entry(info, entry, &dynamic);
	}
	if (!dynamic.symbols || !dynamic.names)
		return false;
	for (uint32_t i = 1; i < symbols_to_look_at(&dynamic); i++)
		if (dynamic.symbols[i].st_shndx == SHN_UNDEF &&
		    is_looked_for(dynamic.names + dynamic.symbols[i].st_name, data))
			return true;
	return false;
}

/* Ours, and the runtimes themselves. */
static bool is_no_part_of_the_program(const struct dl_phdr_info *info)
{
	return strstr(info->dlpi_name, "/libmalleable") || strstr(info->dlpi_name, "/libgomp.so") ||
	       strstr(info->dlpi_name, "/libomp.so");
}

static bool is_missing(const char *name, void *runtime)
{
	bool of_gomp = strncmp(name, "GOMP_", 5) == 0 || strncmp(name, "omp_", 4) == 0 ||
		       strncmp(name, "GOACC_", 6) == 0 || strncmp(name, "acc_", 4) == 0;

	return of_gomp && !dlsym(runtime, name);
}

static bool opens_regions(const char *name, void *nothing)
{
	(void)nothing;
	return strcmp(name, "__kmpc_fork_call") == 0 || strncmp(name, "GOMP_parallel", 13) == 0;
}

static int calls_more(struct dl_phdr_info *info, size_t size, void *runtime)
{
	(void)size;
	return !is_no_part_of_the_program(info) && any_undefined(info, is_missing, runtime);
}

static int keeps_thread_data(struct dl_phdr_info *info, size_t size, void *nothing)
{
	bool has_data = false;

	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++)
		has_data |= info->dlpi_phdr[i].p_type == PT_TLS && info->dlpi_phdr[i].p_memsz > 0;
	return has_data && !is_no_part_of_the_program(info) && any_undefined(info, opens_regions, nothing);
}

bool mal_objects_call_more_than(void *runtime)
{
	return dl_iterate_phdr(calls_more, runtime) != 0;
}

bool mal_objects_keep_thread_data(void)
{
	return dl_iterate_phdr(keeps_thread_data, NULL) != 0;
}
