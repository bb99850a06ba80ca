/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* spec.h: parse the text of --balance: POLICY,KEY=VALUE,... */
#pragma once

#include <stddef.h>

#include "libmalleable/base/error.h"

/* KEY=VALUE pairs at most, and bytes of a name or a value, its end included. */
#define MAL_SPEC_KEYS 16
#define MAL_SPEC_WORD 32

struct mal_spec {
	char policy[MAL_SPEC_WORD]; /* empty: the default policy */
	size_t count;
	struct {
		char key[MAL_SPEC_WORD];
		char value[MAL_SPEC_WORD];
	} pairs[MAL_SPEC_KEYS];
};

/*
 * Parse TEXT into SPEC (NULL and "" give an empty one). Names and values consist of letters, digits
 * and -_.+ only. Returns 0, or -1 with ERR. Does not check policies and keys. Thread safe.
 */
int mal_spec_parse(const char *text, struct mal_spec *spec, struct mal_error *err);
