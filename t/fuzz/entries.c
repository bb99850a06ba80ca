/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* entries.c: root's entry of a step, and the line with the job's cgroup. */
#include "libmalleable/base/input.h"
#include "t/fuzz/fuzz.h"
#include "t/fuzz/spank.h"

static void read_input(const char *path, char *text, size_t size)
{
	(void)path;
	text[fuzz_take(text, size - 1)] = '\0';
}

/* All of it, but for what is defined above. */
#define mal_input_text read_input
#include "spank/entries.c"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct balance_entry entry;
	struct balance_cgroup cgroup;
	struct mal_error err;

	fuzz_begin(data, size);
	if (balance_entry_read(1, 2, &entry))
		balance_entry_write(1, &entry, &err);
	if (balance_entries_get_cgroup(1, &cgroup))
		balance_entries_set_cgroup(1, &cgroup, &err);
	return 0;
}
