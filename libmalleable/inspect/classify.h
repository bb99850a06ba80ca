/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* classify.h: free or bound, for one region. */
#ifndef MAL_INSPECT_CLASSIFY_H
#define MAL_INSPECT_CLASSIFY_H

#include "libmalleable/inspect/starts.h"

/* Only for want of memory it returns -1. */
int mal_classify(struct mal_program *program, const struct mal_start *start,
		 struct mal_finding *finding);

#endif
