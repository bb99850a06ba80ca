/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* spec.h: the text of --balance: POLICY,KEY=VALUE,... taken apart. */
#ifndef MAL_CORE_SPEC_H
#define MAL_CORE_SPEC_H

#include <stddef.h>

#include "libmalleable/core/error.h"

#define MAL_SPEC_KEYS 16
#define MAL_SPEC_WORD 32

struct mal_spec {
	char policy[MAL_SPEC_WORD]; /* empty: the default one */
	size_t count;
	struct {
		char key[MAL_SPEC_WORD];
		char value[MAL_SPEC_WORD];
	} pairs[MAL_SPEC_KEYS];
};

/*
 * Take TEXT (NULL and "" are the empty spec) apart. Names and values are letters, digits and -_.+ only. Returns 0, or -1
 * with ERR saying what is wrong where. Knows no policy: what names and keys mean is for the caller.
 */
int mal_spec_parse(const char *text, struct mal_spec *spec, struct mal_error *err);

/* The value of KEY (the last one given), or NULL. */
const char *mal_spec_value(const struct mal_spec *spec, const char *key);

#endif
