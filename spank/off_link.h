/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * off_link.h: root's link to the off switch that plugstack.conf names (core/off_file.h).
 *
 * slurmd's start and each step renew it. So ranks of launchers, and steps that run already, find
 * the switch where off_file= has it now.
 */
#pragma once

/*
 * Renew the link. For root. Returns the path of the switch for a controller: the link, or what
 * plugstack.conf has if there can be no link.
 */
const char *balance_switch_link(void);
