/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* number.h: whole numbers from texts that others wrote. */
#pragma once

#include <stdbool.h>

/*
 * Read TEXT, decimal digits and nothing else, into VALUE. Returns false, and leaves VALUE, if it is
 * anything else (NULL too) or not from MIN to MAX. Thread safe.
 */
bool mal_number_parse(const char *text, unsigned int min, unsigned int max, unsigned int *value);
