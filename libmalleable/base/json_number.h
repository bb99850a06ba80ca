/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* json_number.h: numbers that may not be known. */
#pragma once

#include <jansson.h>
#include <math.h>

/* NUMBER as JSON, null where that has no such number; the caller's reference. Thread safe. */
static inline json_t *mal_json_number(double number)
{
	return isfinite(number) ? json_real(number) : json_null();
}
