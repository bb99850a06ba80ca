/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* choose.c: --balance, after a line with the policies that the site allows. */
#include <stdlib.h>

#include "policies/interface/choice.h"
#include "policies/interface/registry.h"
#include "t/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct mal_choice choice;
	struct mal_error err;
	char *allowed, *text;

	fuzz_begin(data, size);
	allowed = fuzz_line();
	text = fuzz_text();
	if (mal_choose(text, *allowed ? allowed : NULL, MAL_POLICY_DEFAULT, &choice, &err) == 0) {
		void *state = choice.policy->create ? choice.policy->create(choice.values) : NULL;

		if (choice.policy->destroy)
			choice.policy->destroy(state);
	}
	free(allowed);
	free(text);
	return 0;
}
