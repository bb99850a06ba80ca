/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* step_word.c: which step, and which of its ranks, a user's word means. */
#include "libmalleable/core/step_word.h"

#include <string.h>

#include "libmalleable/core/rundir.h"

bool mal_step_has_pid(const char *socket)
{
	return strncmp(socket, MAL_SOCKET_DIR "/", strlen(MAL_SOCKET_DIR "/")) != 0;
}

/*
 * The rank in WORD, which is the LENGTH first letters of a step's NAME, a dot and a number.
 * Empty: the step itself; NULL: another step.
 */
static const char *find_rank(const char *word, const char *name, size_t length)
{
	if (strncmp(word, name, length) != 0)
		return NULL;
	if (!word[length])
		return "";
	if (word[length] != '.' || !word[length + 1] ||
	    word[length + 1 + strspn(word + length + 1, "0123456789")])
		return NULL;
	return word + length + 1;
}

const char *mal_step_word(const char *word, const char *name, const char *socket, bool *whole)
{
	const char *rank = find_rank(word, name, strlen(name)), *pid = strrchr(name, '.');

	*whole = rank != NULL;
	if (!rank && pid && mal_step_has_pid(socket))
		rank = find_rank(word, name, (size_t)(pid - name));
	return rank;
}
