/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* admin_switch.c: the administrator's off switch, in a running step. */
#include "libmalleable/controller/admin_switch.h"

#include "libmalleable/controller/cpus/idle.h"
#include "libmalleable/controller/planning.h"
#include "libmalleable/controller/state/off.h"

void mal_admin_switch_update(struct mal_controller *controller)
{
	if (!mal_off_look(controller))
		return;
	if (mal_off_is(controller)) {
		mal_idle_leave(controller);
		mal_plan_home(controller);
	} else {
		mal_plan_begin(controller);
	}
	mal_idle_hand_out(controller);
}
