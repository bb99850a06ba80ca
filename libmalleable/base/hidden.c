/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* hidden.c: words for a program that others must not read. */
#include "libmalleable/base/hidden.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "libmalleable/base/input.h"
#include "libmalleable/base/number.h"

/* More than a command line may have (execve(2)). */
#define BYTES_MAX (8u << 20)

int mal_hidden_make(const char *const *words)
{
	int fd = memfd_create("malleable-hidden", MFD_CLOEXEC);

	for (; fd >= 0 && *words; words++) {
		size_t size = strlen(*words) + 1;

		if (write(fd, *words, size) == (ssize_t)size)
			continue;
		close(fd);
		fd = -1;
	}
	return fd;
}

static size_t count_words(const char *text, size_t size)
{
	size_t count = 0;

	for (size_t at = 0; at < size; at += strlen(text + at) + 1)
		count++;
	return count;
}

void mal_hidden_take(int *argc, char ***argv)
{
	size_t kept = *argc < 3 ? 0 : (size_t)*argc - 2, size;
	char *text, **all;
	unsigned int fd;

	if (!kept || strcmp((*argv)[kept], MAL_HIDDEN_OPTION) != 0 ||
	    !mal_number_parse((*argv)[kept + 1], 0, INT_MAX, &fd))
		return;
	text = (char *)mal_input_read((int)fd, BYTES_MAX, &size, NULL);
	all = text ? calloc(kept + count_words(text, size) + 1, sizeof(*all)) : NULL;
	if (!all) {
		free(text);
		return;
	}
	close((int)fd);
	memcpy(all, *argv, kept * sizeof(*all));
	for (size_t at = 0; at < size; at += strlen(text + at) + 1)
		all[kept++] = text + at;
	*argv = all;
	*argc = (int)kept;
}
