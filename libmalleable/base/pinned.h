/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * pinned.h: layouts on which processes of two builds have to agree. They are written down beside
 * the version, and a struct that differs does not compile.
 */
#pragma once

#include <stddef.h>

#define MAL_PINNED(type, is, was, version) \
	_Static_assert((is) == (was), "struct " #type \
				      " has another layout, which processes of two builds share: " \
				      "increment " version ", then mend the numbers beside it");
/* The offset of MEMBER in struct TYPE, and its size, for VERSION, a name as a text. */
#define MAL_PIN(type, member, offset, version) \
	MAL_PINNED(type, offsetof(struct type, member), offset, version)
#define MAL_PIN_SIZE(type, size, version) MAL_PINNED(type, sizeof(struct type), size, version)
