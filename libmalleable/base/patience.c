/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* patience.c: the factor for all deadlines of ours. */
#include "libmalleable/base/patience.h"

#include <limits.h>

#include "libmalleable/base/number.h"

static unsigned int patience = 1;

void mal_patience_set(unsigned int factor)
{
	patience = factor < 1 ? 1 : factor < MAL_PATIENCE_MAX ? factor : MAL_PATIENCE_MAX;
}

bool mal_patience_take(const char *text)
{
	return !text || mal_number_parse(text, 1, MAL_PATIENCE_MAX, &patience);
}

unsigned int mal_patience(void)
{
	return patience;
}

int mal_patience_ms(int ms)
{
	return ms < INT_MAX / (int)patience ? ms * (int)patience : INT_MAX;
}
