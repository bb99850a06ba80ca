/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* ask.c: ask the controllers of steps, by malleable_control.h. */
#include "libmalleable/cmd/ask.h"

#include <string.h>

#include "libmalleable/malleable_control.h"

#define DIGITS "0123456789"

bool mal_ask_matches(const char *name, const char *wanted)
{
	size_t length;

	if (!wanted || strcmp(name, wanted) == 0)
		return true;
	length = strlen(wanted);
	return strncmp(name, wanted, length) == 0 && name[length] == '.' &&
	       (strspn(wanted, DIGITS) == length ||
		!name[length + 1 + strspn(name + length + 1, DIGITS)]);
}

json_t *mal_ask_status(const char *socket, int *result)
{
	malleable_control *control;
	json_t *status = NULL;
	char *text = NULL;

	*result = malleable_control_open(socket, &control);
	if (*result == 0)
		*result = malleable_control_status(control, &text);
	if (text)
		status = json_loads(text, 0, NULL);
	malleable_control_free(text);
	malleable_control_close(control);
	return status;
}
