/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* find.h: items that are sorted by their addresses. */
#ifndef MAL_INSPECT_FIND_H
#define MAL_INSPECT_FIND_H

#include <stddef.h>
#include <stdint.h>

/*
 * The one of COUNT items of SIZE bytes that is at ADDRESS, or NULL. Each begins with its address;
 * they are sorted by that.
 */
const void *mal_find_address(const void *items, size_t count, size_t size, uint64_t address);

#endif
