/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* error.c: an error text, written at the point of failure. */
#include "libmalleable/base/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "libmalleable/base/printable.h"

int mal_fail(struct mal_error *err, const char *format, ...)
{
	int saved = errno;
	va_list args;

	if (err) {
		va_start(args, format);
		vsnprintf(err->text, sizeof(err->text), format, args);
		va_end(args);
		mal_make_printable(err->text, strlen(err->text), false);
	}
	errno = saved;
	return -1;
}
