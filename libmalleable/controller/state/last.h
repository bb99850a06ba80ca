/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* last.h: what the ranks did in the last window. */
#ifndef MAL_CONTROLLER_STATE_LAST_H
#define MAL_CONTROLLER_STATE_LAST_H

#include "libmalleable/controller/state/controller.h"

/* Of so many RANKS, no window yet: all is 0. NULL: out of memory. */
struct mal_last *mal_last_create(unsigned int ranks);

/* NULL-safe. */
void mal_last_destroy(struct mal_last *last);

/* A window has ended with SAMPLES, by rank. */
void mal_last_keep(struct mal_controller *controller, const struct mal_sample *samples);

/* What RANK did. */
const struct mal_sample *mal_last_sample(const struct mal_controller *controller,
					 unsigned int rank);

/* Was any window one that counts in the totals? */
void mal_last_set_measured(struct mal_controller *controller);
bool mal_last_is_measured(const struct mal_controller *controller);

#endif
