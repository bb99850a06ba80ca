/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* options.c: the value of --balance in slurmstepd, where nothing has checked it. */
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "spank/options.c"
#include "t/fuzz/fuzz.h"
#include "t/fuzz/spank.h"

spank_err_t spank_getenv(spank_t spank, const char *variable, char *value, int size)
{
	(void)spank;
	(void)variable;
	if (!fuzz_left)
		return ESPANK_ENV_NOEXIST;
	char *line = fuzz_line();
	int length = snprintf(value, (size_t)size, "%s", line);
	free(line);
	return length < size ? ESPANK_SUCCESS : ESPANK_NOSPACE;
}

spank_err_t spank_get_item(spank_t spank, spank_item_t item, ...)
{
	(void)spank;
	(void)item;
	return ESPANK_NOT_AVAIL;
}

spank_err_t spank_option_register(spank_t spank, struct spank_option *option)
{
	(void)spank;
	(void)option;
	return ESPANK_SUCCESS;
}

/* The lowest free number. */
static int free_descriptor(void)
{
	int fd = fcntl(STDERR_FILENO, F_DUPFD, 0);

	if (fd < 0 || close_range((unsigned int)fd, (unsigned int)fd, 0) < 0)
		abort();
	return fd;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct mal_choice choice;
	struct mal_error err;
	int first = free_descriptor();
	char *text;

	fuzz_begin(data, size);
	fuzz_context = S_CTX_REMOTE;
	balance_user_options = (struct mal_user_options){0};
	text = fuzz_line();
	on_balance(0, text, 1);
	check(text);
	free(text);
	balance_options_complete(NULL);
	balance_options_fall_back();
	mal_choose(balance_user_options.spec, "auto,lewi", MAL_POLICY_DEFAULT, &choice, &err);
	/* Else most inputs would find no descriptor for a line. */
	if (free_descriptor() != first)
		abort();
	return 0;
}
