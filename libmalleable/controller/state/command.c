/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* command.c: what the step runs. */
#include "libmalleable/controller/state/command.h"

#include <stdio.h>
#include <stdlib.h>

struct mal_command {
	size_t length;
	char words[4096 + 1]; /* the last byte stays 0 */
};

struct mal_command *mal_command_create(void)
{
	return calloc(1, sizeof(struct mal_command));
}

void mal_command_destroy(struct mal_command *command)
{
	free(command);
}

void mal_command_note(struct mal_controller *controller, int32_t pid)
{
	struct mal_command *command = controller->command;
	char path[64];
	FILE *file;

	if (command->length)
		return;
	snprintf(path, sizeof(path), "/proc/%d/cmdline", (int)pid);
	file = fopen(path, "re");
	if (!file)
		return;
	command->length = fread(command->words, 1, sizeof(command->words) - 1, file);
	fclose(file);
}

const char *mal_command_words(const struct mal_controller *controller, size_t *length)
{
	*length = controller->command->length;
	return controller->command->words;
}
