/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* json_number.h: numbers that may not be known, and values that may be missing. */
#pragma once

#include <jansson.h>
#include <math.h>
#include <stdio.h>

/* NUMBER as JSON, null where that has no such number; the caller's reference. Thread safe. */
static inline json_t *mal_json_number(double number)
{
	return isfinite(number) ? json_real(number) : json_null();
}

/* The number KEY of OBJECT, 0 if missing; and the text, empty if missing. Thread safe. */
static inline double mal_json_number_of(const json_t *object, const char *key)
{
	return json_number_value(json_object_get(object, key));
}

/* The number KEY of OBJECT, NaN: it is not known. Thread safe. */
static inline double mal_json_known(const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);

	return json_is_number(value) ? json_number_value(value) : NAN;
}

/* VALUE with DIGITS behind the point, and UNIT, or - if it is not known, in TEXT. Returns TEXT. */
static inline const char *mal_number_format(double value, int digits, const char *unit,
					    char text[32])
{
	snprintf(text, 32, isfinite(value) ? "%.*f%s" : "-", digits, value, unit);
	return text;
}

static inline const char *mal_json_text_of(const json_t *object, const char *key)
{
	const char *value = json_string_value(json_object_get(object, key));

	return value ? value : "";
}
