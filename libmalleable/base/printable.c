/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* printable.c: texts of others, made harmless for terminals and logs. */
#include "libmalleable/base/printable.h"

#include <stdarg.h>
#include <stdlib.h>

void mal_make_printable(char *text, size_t length, bool keep_lines)
{
	for (size_t i = 0; i < length; i++)
		if ((text[i] < ' ' || text[i] > '~') && !(keep_lines && text[i] == '\n'))
			text[i] = '?';
}

int mal_print_line(FILE *out, const char *format, ...)
{
	char *text;
	va_list args;
	int length;

	va_start(args, format);
	length = vasprintf(&text, format, args);
	va_end(args);
	if (length < 0)
		return -1;
	mal_make_printable(text, (size_t)length, false);
	length = fprintf(out, "%s\n", text);
	free(text);
	return length < 0 ? -1 : 0;
}
