/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * admin_switch.h: the administrator's off switch, in a running step (core/off_file.h).
 *
 * Invariant: While balancing is switched off no rank has a CPU that Slurm did not give it
 * (t/unit/test_idle.c: left_when_off).
 */
#pragma once

#include "libmalleable/controller/state/controller.h"

/*
 * Look at the switch, once a second at most. When it is thrown the ranks go back to the CPUs that
 * Slurm gave them, and lend none, until it is back; then the policy begins anew.
 */
void mal_admin_switch_update(struct mal_controller *controller);
