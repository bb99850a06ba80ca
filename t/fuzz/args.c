/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* args.c: arguments in plugstack.conf, one per line, and the partition, which is the last line. */
#include <stdlib.h>

#include "spank/args.c"
#include "t/fuzz/fuzz.h"
#include "t/fuzz/spank.h"

#define MAX 80

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct mal_site none = {
		.libdir = "/nonexistent", .agent_user = "nobody", .share = 1};
	char *arguments[MAX];
	int count = 0;

	fuzz_begin(data, size);
	fuzz_context = fuzz_byte() % 2 ? S_CTX_LOCAL : S_CTX_REMOTE;
	balance_config = none;
	scoped_count = 0;
	while (fuzz_left && count < MAX)
		arguments[count++] = fuzz_line();
	balance_args_parse(count, arguments);
	balance_args_use_partition(count ? arguments[count - 1] : "");
	while (count--)
		free(arguments[count]);
	return 0;
}
