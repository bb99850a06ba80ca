/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* built.h: the parts that configure can leave out, and whether this build has them. */
#pragma once

#include <stdbool.h>
#include <stdio.h>

/* PART as in configure's --without-PART. */
bool mal_built_has(const char *part);

/* A line with the parts that it has, and one with those that it has not. */
void mal_built_print(FILE *out);
