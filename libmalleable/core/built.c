/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* built.c: the parts that configure found, and those that it left out, as words in two texts. */
#include "libmalleable/core/built.h"

#include <string.h>

bool mal_built_has(const char *part)
{
	size_t length = strlen(part);

	for (const char *at = MAL_BUILT_WITH; (at = strstr(at, part)); at += length)
		if (at[-1] == ' ' && (at[length] == ' ' || !at[length]))
			return true;
	return false;
}

void mal_built_print(FILE *out)
{
	fputs("built with:" MAL_BUILT_WITH "\n", out);
	if (*MAL_BUILT_WITHOUT)
		fputs("built without:" MAL_BUILT_WITHOUT "\n", out);
}
