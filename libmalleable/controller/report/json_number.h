/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* json_number.h: numbers in reports that may not be known. */
#ifndef MAL_CONTROLLER_REPORT_JSON_NUMBER_H
#define MAL_CONTROLLER_REPORT_JSON_NUMBER_H

#include <jansson.h>
#include <math.h>

/* NUMBER as JSON, null for NaN; the caller's reference. Thread safe. */
static inline json_t *mal_json_number(double number)
{
	return isnan(number) ? json_null() : json_real(number);
}

#endif
