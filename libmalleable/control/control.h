/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* control.h: handles of steps as the malleable command uses them, beside malleable_control.h. */
#pragma once

#include "libmalleable/control/steps.h"
#include "libmalleable/malleable_control.h"

/* Open the step of CONTROLLER, which the caller keeps. Returns NULL without memory. */
malleable_control *mal_control_of(const struct mal_controller_process *controller);

/* Send the words of an order, such as "rank=0 count=2". Returns as malleable_control_set_cpus(). */
int mal_control_order(malleable_control *control, const char *words);

/* How many CPUs have not come yet to the ranks that are to have them, or an error. */
int mal_control_coming(malleable_control *control);
