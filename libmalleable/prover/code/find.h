/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* find.h: lists that grow; items that are sorted by their addresses. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Room for one more in the list at LIST, COUNT items of SIZE bytes: it doubles. */
static inline bool mal_grow(void *list, size_t count, size_t size)
{
	void *items;

	if (count & (count - 1))
		return true;
	memcpy(&items, list, sizeof(items));
	items = realloc(items, (count ? 2 * count : 1) * size);
	if (items)
		memcpy(list, &items, sizeof(items));
	return items;
}

/* Compares two items, or an address with an item; each item begins with its address. */
static inline int mal_by_address(const void *left, const void *right)
{
	uint64_t a, b;

	memcpy(&a, left, sizeof(a));
	memcpy(&b, right, sizeof(b));
	return (a > b) - (a < b);
}

/* The one of COUNT sorted items of SIZE bytes that is at ADDRESS, or NULL. */
static inline const void *mal_find_address(const void *items, size_t count, size_t size,
					   uint64_t address)
{
	return count ? bsearch(&address, items, count, size, mal_by_address) : NULL;
}

/* The last of COUNT sorted items of SIZE bytes that is at ADDRESS or before it, or NULL. */
static inline const void *mal_find_before(const void *items, size_t count, size_t size,
					  uint64_t address)
{
	const char *first = items;
	size_t low = 0, high = count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (mal_by_address(first + middle * size, &address) <= 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? first + (low - 1) * size : NULL;
}

static inline void mal_sort_by_address(void *items, size_t count, size_t size)
{
	if (count)
		qsort(items, count, size, mal_by_address);
}
