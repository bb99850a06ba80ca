/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* handlers.h: what exceptions run. */
#ifndef MAL_INSPECT_HANDLERS_H
#define MAL_INSPECT_HANDLERS_H

#include "libmalleable/inspect/analysis.h"

/* Bind a region that goes on after an exception that it caught: that is not followed. */
void mal_check_handlers(struct mal_analysis *analysis);

#endif
