/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* find.c: items that are sorted by their addresses. */
#include "libmalleable/inspect/find.h"

#include <stdlib.h>
#include <string.h>

static int compare_address(const void *address, const void *item)
{
	uint64_t of_item;

	memcpy(&of_item, item, sizeof(of_item));
	return (*(const uint64_t *)address > of_item) - (*(const uint64_t *)address < of_item);
}

const void *mal_find_address(const void *items, size_t count, size_t size, uint64_t address)
{
	return count ? bsearch(&address, items, count, size, compare_address) : NULL;
}
