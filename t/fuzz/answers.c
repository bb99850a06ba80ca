/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * answers.c: what a controller, or a fake one, answers the malleable command: status and
 * requests.
 */
#include <stdlib.h>
#include <string.h>

#include "libmalleable/base/channel.h"
/* All of it, but for what is defined below. */
#define mal_channel_ask real_ask
#define mal_channel_is_open real_is_open
#include "libmalleable/base/channel.c"
#undef mal_channel_ask
#undef mal_channel_is_open
#include "libmalleable/cmd/status.c"
#include "libmalleable/control/steps.h"
#include "t/fuzz/fuzz.h"

char *mal_channel_ask(const char *path, const char *request, int timeout_ms, size_t *length,
		      struct mal_error *err)
{
	(void)path;
	(void)request;
	(void)timeout_ms;
	(void)err;
	/* The real function returns NULL for an empty answer. */
	*length = fuzz_left;
	return fuzz_left ? fuzz_text() : NULL;
}

bool mal_channel_is_open(const char *path)
{
	return path;
}

int mal_as_user(uid_t uid, gid_t gid, long deadline_ms, int (*act)(void *argument, FILE *out),
		void *argument, FILE *out)
{
	(void)uid, (void)gid, (void)deadline_ms;
	return act(argument, out);
}

long mal_as_user_deadline(void)
{
	return 0;
}

/* Only plain text may reach a terminal. */
static void look_at(const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if (text[i] != '\n' && (text[i] < ' ' || text[i] > '~'))
			abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct mal_controller_process controller = {.socket = "/1.0", .uid = 3, .gid = 4};
	static char printed[1 << 20];
	FILE *out;
	struct mal_error err;
	json_t *status;
	char *answer;

	fuzz_begin(data, size);
	answer = fuzz_text();
	if (mal_step_read_answer(answer, &err) < 0)
		look_at(err.text, strlen(err.text));
	free(answer);
	fuzz_begin(data, size);
	status = mal_step_status(&controller, &err);
	if (!status)
		return 0;
	out = fmemopen(printed, sizeof(printed), "w");
	is_wanted(mal_json_text_of(status, "step"), "1.0");
	print_step(out, status, &(struct arguments){.ranks = true, .regions = true});
	print_step(out, status, &(struct arguments){.ranks = true, .bars = true});
	fflush(out);
	look_at(printed, (size_t)ftell(out));
	fclose(out);
	json_decref(status);
	return 0;
}
