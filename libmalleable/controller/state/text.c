/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* text.c: lines one after the other in a buffer. */
#include "libmalleable/controller/state/text.h"

#include <stdarg.h>
#include <stdio.h>

void mal_text_add(struct mal_text *text, const char *format, ...)
{
	va_list args;
	int used;

	va_start(args, format);
	used = vsnprintf(text->at, text->left, format, args);
	va_end(args);
	if (used < 0 || (size_t)used >= text->left)
		return;
	text->at += used;
	text->left -= (size_t)used;
	text->length += (size_t)used;
}
