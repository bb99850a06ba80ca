/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * listed.c: the loaded objects, from the dynamic linker's own list (link.h).
 *
 * Invariant: objects that are loaded are known by what they are (t/unit/test_objects.c:
 * objects_are_described).
 */
#include "libmalleable/rank/program/listed.h"

#include <stdbool.h>

static bool ready;
static size_t first_count;

int mal_listed_each(int (*look)(struct dl_phdr_info *, size_t, void *), void *data)
{
	int result = 0;

	if (ready)
		return dl_iterate_phdr(look, data);
	for (const struct link_map *map = _r_debug.r_map; map && !result; map = map->l_next) {
		const ElfW(Phdr) dynamic = {.p_type = PT_DYNAMIC,
					    .p_vaddr = (ElfW(Addr))map->l_ld - map->l_addr};
		struct dl_phdr_info info = {.dlpi_addr = map->l_addr,
					    .dlpi_name = map->l_name,
					    .dlpi_phdr = &dynamic,
					    .dlpi_phnum = 1};

		result = look(&info, sizeof(info), data);
	}
	return result;
}

void mal_listed_ready(void)
{
	ready = true;
}

static int count_one(struct dl_phdr_info *info, size_t size, void *data)
{
	(void)info;
	(void)size;
	(void)data;
	first_count++;
	return 0;
}

/* This library is loaded with them, before any code of the program runs. */
__attribute__((constructor)) static void count_first(void)
{
	mal_listed_each(count_one, NULL);
}

size_t mal_listed_first(void)
{
	return first_count;
}
