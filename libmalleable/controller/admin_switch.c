/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* admin_switch.c: the administrator's off switch, in a running step. */
#include "libmalleable/controller/admin_switch.h"

#include "libmalleable/base/clock.h"
#include "libmalleable/controller/cpus/evict.h"
#include "libmalleable/controller/cpus/idle.h"
#include "libmalleable/controller/planning.h"
#include "libmalleable/core/off_file.h"

#define LOOK_S 1.0

/* Look at the switch, once a second at most. Returns whether it was turned since. */
static bool is_turned(struct mal_controller *controller)
{
	const char *file = controller->step->arguments.off_file;
	uint64_t now = mal_ticks(), looked = controller->off_switch.looked;
	bool off_now;

	if (!file || (looked && mal_ticks_to_s(now - looked) < LOOK_S))
		return false;
	controller->off_switch_own.looked = now;
	off_now = mal_admin_is_off(file);
	if (off_now == controller->off_switch.off_now)
		return false;
	controller->off_switch_own.off_now = off_now;
	controller->off_switch_own.ever_off = true;
	return true;
}

void mal_admin_switch_update(struct mal_controller *controller)
{
	if (!is_turned(controller))
		return;
	if (controller->off_switch.off_now) {
		mal_evict_idle(controller);
		mal_plan_home(controller);
	} else {
		mal_plan_begin(controller);
	}
	mal_idle_hand_out(controller);
}
