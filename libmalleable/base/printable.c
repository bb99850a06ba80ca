/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* printable.c: texts of others, made harmless for terminals and logs. */
#include "libmalleable/base/printable.h"

void mal_make_printable(char *text, size_t length, bool keep_lines)
{
	for (size_t i = 0; i < length; i++)
		if ((text[i] < ' ' || text[i] > '~') && !(keep_lines && text[i] == '\n'))
			text[i] = '?';
}
