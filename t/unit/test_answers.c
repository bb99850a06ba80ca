/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test_answers.c: what the malleable command prints of answers from controllers, or fake ones. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libmalleable/control/steps.h"
#include "t/unit/unit.h"

#include "libmalleable/cmd/status.c"

static const char *answer;
static char *printed;

char *__wrap_mal_channel_ask(const char *path, const char *request, int timeout_ms, size_t *length,
			     struct mal_error *err);

char *__wrap_mal_channel_ask(const char *path, const char *request, int timeout_ms, size_t *length,
			     struct mal_error *err)
{
	(void)path;
	(void)request;
	(void)timeout_ms;
	(void)err;
	*length = strlen(answer);
	return strdup(answer);
}

/* With a list and with bars. */
static void print(const char *text)
{
	const struct mal_controller_process controller = {.socket = "/x", .uid = 2, .gid = 3};
	struct mal_error err;
	json_t *status;
	size_t size;
	FILE *out;

	answer = text;
	status = mal_step_status(&controller, &err);
	assert_non_null(status);
	free(printed);
	out = open_memstream(&printed, &size);
	print_step(out, status, &(struct arguments){.ranks = true, .regions = true});
	print_step(out, status, &(struct arguments){.ranks = true, .bars = true});
	fclose(out);
	json_decref(status);
}

static void nothing_but_text_is_printed(void **state)
{
	(void)state;
	print("{\"version\":1,\"step\":\"1\\u001b[2J\",\"cpus\":\"\\u001b]0;x\\u0007\","
	      "\"rejected\":\"a \\u009b "
	      "b\",\"ranks\":"
	      "[{\"running\":true,\"cpus\":\"0\\r\\n\\u001b[31m\"}]}");
	for (const char *letter = printed; *letter; letter++)
		assert_true(*letter == '\n' || (*letter >= ' ' && *letter <= '~'));
	assert_non_null(strstr(printed, "0??"));
	assert_non_null(strstr(printed, "a ?? b"));
}

static void any_number_is_printed(void **state)
{
	(void)state;
	print("{\"version\":1,\"step\":\"1\",\"running_s\":1e300,\"ranks\":"
	      "[{\"running\":true,\"count\":1,\"lent\":11e300,\"borrowed\":8}]}");
	assert_non_null(strstr(printed, " 0:00:00"));
	assert_non_null(strstr(printed, " ------------------------ "));
	print("{\"version\":1,\"step\":\"1\",\"running_s\":3661.5,\"ranks\":"
	      "[{\"running\":true,\"count\":2,\"lent\":1,\"borrowed\":0,\"load\":1}]}");
	assert_non_null(strstr(printed, " 1:01:01"));
	assert_non_null(strstr(printed, " #-                       "));
}

/* Names that begin alike are told apart. */
static void names_of_regions_are_whole(void **state)
{
	(void)state;
	print("{\"version\":1,\"step\":\"1\",\"ranks\":[],\"regions\":"
	      "[{\"name\":\"physics/radiation/longwave/cloud fraction, columns: a\"}]}");
	assert_non_null(strstr(printed, "columns: a  "));
}

static void without_regions_there_is_no_table_of_them(void **state)
{
	(void)state;
	print("{\"version\":1,\"step\":\"1\",\"ranks\":[],\"regions\":[]}");
	assert_non_null(strstr(printed, "\n  no named region has run\n"));
	assert_null(strstr(printed, "OpenMP"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_but_text_is_printed),
		cmocka_unit_test(any_number_is_printed),
		cmocka_unit_test(names_of_regions_are_whole),
		cmocka_unit_test(without_regions_there_is_no_table_of_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
