/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * geopm.h: the names of GEOPM's profile calls that libgeopm.so of ours answers, as geopm_prof(3)
 * documents them. They return 0, or a number below 0.
 */
#pragma once

#include <stdint.h>

int geopm_prof_region(const char *name, uint64_t hint, uint64_t *region);
int geopm_prof_enter(uint64_t region);
int geopm_prof_exit(uint64_t region);
int geopm_prof_epoch(void);
