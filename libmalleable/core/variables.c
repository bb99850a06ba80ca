/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* variables.c: environments as lists. */
#include "libmalleable/core/variables.h"

#include <stddef.h>
#include <string.h>

char *const *mal_variable_at(char *const *variables, const char *name)
{
	size_t length = strlen(name);

	for (; variables && *variables; variables++)
		if (strncmp(*variables, name, length) == 0 && (*variables)[length] == '=')
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
