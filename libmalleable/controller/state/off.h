/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * off.h: the state of the administrator's off switch (core/admin.h); admin_switch.h says what
 * follows from it.
 */
#ifndef MAL_CONTROLLER_STATE_OFF_H
#define MAL_CONTROLLER_STATE_OFF_H

#include "libmalleable/controller/state/controller.h"

/* The switch is FILE, NULL: there is none. NULL: out of memory. */
struct mal_off *mal_off_create(const char *file);

/* NULL-safe. */
void mal_off_destroy(struct mal_off *off);

/* Look at the switch, once a second at most. Returns whether it was turned since. */
bool mal_off_look(struct mal_controller *controller);

/* Is balancing switched off now, was it at any time? */
bool mal_off_is(const struct mal_controller *controller);
bool mal_off_was(const struct mal_controller *controller);

#endif
