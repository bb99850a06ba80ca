/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* off.c: the administrator's off switch, in a running step. */
#include "libmalleable/controller/off.h"

#include "libmalleable/controller/idle.h"
#include "libmalleable/controller/planning.h"
#include "libmalleable/core/admin.h"
#include "libmalleable/core/clock.h"

#define LOOK_S 1.0

void mal_off_update(struct mal_controller *controller)
{
	uint64_t now = mal_ticks();
	bool off;

	if (!controller->off_file || (controller->off_looked && mal_ticks_to_s(now - controller->off_looked) < LOOK_S))
		return;
	controller->off_looked = now;
	off = mal_admin_is_off(controller->off_file);
	if (off == controller->off)
		return;
	controller->off = off;
	controller->was_off = true;
	if (off) {
		mal_idle_leave(controller);
		mal_plan_home(controller);
	} else {
		mal_plan_begin(controller);
	}
	mal_idle_share_out(controller);
}
