/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* totals.h: what windows add up to: time as it was, without balancing, and at best. */
#ifndef MAL_CONTROLLER_TOTALS_H
#define MAL_CONTROLLER_TOTALS_H

#include "libmalleable/controller/controller.h"

/* Add one window. */
void mal_totals_add(struct mal_controller *controller, const struct mal_sample *samples);

/* Share of the attainable: (off - elapsed) / (off - ideal), NaN where there was nothing to gain. */
double mal_totals_share(const struct mal_totals *totals);

#endif
