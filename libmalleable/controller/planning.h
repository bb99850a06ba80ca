/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* planning.h: from samples to a plan in the segment, by way of the policy. */
#ifndef MAL_CONTROLLER_PLANNING_H
#define MAL_CONTROLLER_PLANNING_H

#include "libmalleable/controller/controller.h"

/*
 * Ask the policy, check its plan, and publish it. SAMPLES is NULL at the start of the step. Returns true if CPUs move.
 * A policy whose plan is unfit is not asked again: the step is only observed from then on.
 */
bool mal_plan_make(struct mal_controller *controller, const struct mal_sample *samples);

#endif
