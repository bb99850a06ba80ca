/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* variables.c: environments as lists. */
#include "libmalleable/core/variables.h"

#include <string.h>

#define LARGEST 4096

char *const *mal_variable_at(char *const *variables, const char *name)
{
	size_t length = strlen(name);

	for (; variables && *variables; variables++)
		if (**variables == *name && strncmp(*variables, name, length) == 0 &&
		    (*variables)[length] == '=')
			return variables;
	return NULL;
}

char *mal_variable(char *const *variables, const char *name)
{
	char *const *found = mal_variable_at(variables, name);

	return found ? *found + strlen(name) + 1 : NULL;
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
