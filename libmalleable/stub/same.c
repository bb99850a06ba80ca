/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * same.c: what is the same in the library and in its stub.
 *
 * Invariant: each number below 0 has a text of its own (t/unit/test_team.c: names_errors).
 */
#include "libmalleable/malleable.h"

int malleable_version(void)
{
	return MALLEABLE_API;
}

const char *malleable_error(int error)
{
	switch (error) {
	case MALLEABLE_E_INVALID: return "an argument is out of range";
	case MALLEABLE_E_THREAD: return "not on this thread, or not in this place";
	case MALLEABLE_E_REFUSED: return "parallel regions of the rank borrow by themselves";
	case MALLEABLE_E_FULL: return "there is no room for more";
	case MALLEABLE_E_NESTING: return "an end without a begin";
	default: return error < 0 ? "unknown error" : "no error";
	}
}
