/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* cpumask.c: lists of CPUs. A list that is written must be read back unchanged. */
#include <stdlib.h>
#include <string.h>

#include "libmalleable/base/cpumask.h"
#include "t/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct mal_cpumask mask, again;
	struct mal_error err;
	char text[8192], narrow[16], *list;

	fuzz_begin(data, size);
	list = fuzz_text();
	if (mal_cpumask_parse(list, &mask, &err) == 0) {
		mal_cpumask_format(&mask, narrow, sizeof(narrow));
		mal_cpumask_format(&mask, text, sizeof(text));
		if (mal_cpumask_parse(text, &again, &err) < 0 ||
		    memcmp(&mask, &again, sizeof(mask)) != 0)
			abort();
	}
	free(list);
	return 0;
}
