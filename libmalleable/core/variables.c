/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* variables.c: environments as lists. */
#include "libmalleable/core/variables.h"

#define LARGEST 4096

/* The barrier keeps the compiler from making this a call of the C library's. */
char *mal_behind(char *text, const char *prefix)
{
	for (; *prefix; text++, prefix++) {
		__asm__ volatile("" ::: "memory");
		if (*text != *prefix)
			return NULL;
	}
	return text;
}

char *const *mal_variable_at(char *const *variables, const char *name)
{
	for (; variables && *variables; variables++) {
		const char *rest = mal_behind(*variables, name);

		if (rest && *rest == '=')
			return variables;
	}
	return NULL;
}

char *mal_variable(char *const *variables, const char *name)
{
	char *const *found = mal_variable_at(variables, name);

	return found ? mal_behind(*found, name) + 1 : NULL;
}

void mal_variable_remove(char **variables, const char *name)
{
	char **found;

	while ((found = (char **)mal_variable_at(variables, name)))
		do
			found[0] = found[1];
		while (*found++);
}

size_t mal_variables_room(char *const *variables, size_t extra)
{
	size_t count = 1;

	while (variables[count - 1])
		count++;
	count = count * sizeof(*variables) + extra;
	return count <= LARGEST ? count : 0;
}

char *mal_variables_copy(char *const *variables, char **copy)
{
	do
		*copy++ = *variables;
	while (*variables++);
	return (char *)copy;
}
