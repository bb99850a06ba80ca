/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* find.h: items that are sorted by their addresses. */
#ifndef MAL_INSPECT_FIND_H
#define MAL_INSPECT_FIND_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static inline int mal_compare_address(const void *address, const void *item)
{
	uint64_t of_item;

	memcpy(&of_item, item, sizeof(of_item));
	return (*(const uint64_t *)address > of_item) - (*(const uint64_t *)address < of_item);
}

/*
 * The one of COUNT items of SIZE bytes that is at ADDRESS, or NULL. Each begins with its address;
 * they are sorted by that.
 */
static inline const void *mal_find_address(const void *items, size_t count, size_t size,
					   uint64_t address)
{
	return count ? bsearch(&address, items, count, size, mal_compare_address) : NULL;
}

#endif
