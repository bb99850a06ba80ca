/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* number.c: whole numbers from texts that others wrote. */
#include "libmalleable/base/number.h"

#include <errno.h>
#include <stdlib.h>

bool mal_number_parse(const char *text, unsigned int min, unsigned int max, unsigned int *value)
{
	unsigned long number;
	char *end;

	/* strtoul takes blanks and signs. */
	if (!text || *text < '0' || *text > '9')
		return false;
	errno = 0;
	number = strtoul(text, &end, 10);
	if (*end || errno || number < min || number > max)
		return false;
	*value = (unsigned int)number;
	return true;
}
