/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* list.h: the policies and their parameters, for users to read. */
#pragma once

#include <stdio.h>

/* Print the policies, those in DIRECTORY too, their parameters, and the keys of all of them. */
void mal_policies_print(FILE *out, const char *directory);
