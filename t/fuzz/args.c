/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* args.c: arguments in plugstack.conf, one per line, and the partition, which is the last line. */
#include <stdlib.h>
#include <string.h>

#include "libmalleable/loadable/site.h"
#include "t/fuzz/fuzz.h"

#define MAX 80

static void complain(const char *argument, const char *why)
{
	if (!*why || strlen(argument) > 100000)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct mal_site site = mal_site_default;
	struct mal_site_arguments all = {.site = &site};
	char *arguments[MAX];
	int count = 0;

	fuzz_begin(data, size);
	all.complain = fuzz_byte() % 2 ? complain : NULL;
	while (fuzz_left && count < MAX)
		arguments[count++] = fuzz_line();
	mal_site_parse(&all, count, arguments);
	mal_site_check(&all);
	mal_site_use_partition(&all, count ? arguments[count - 1] : "");
	mal_site_use_step(&all, &(struct mal_site_step){.user = "a", .program = "/b/c"});
	while (count--)
		free(arguments[count]);
	return 0;
}
