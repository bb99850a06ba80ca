/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* others.h: whether the rank's other threads sleep, as the kernel sees them. */
#ifndef MAL_RANK_CPUS_OTHERS_H
#define MAL_RANK_CPUS_OTHERS_H

#include <stdbool.h>

/*
 * Whether no thread of this process runs but the caller and the team, made by anybody at any time.
 * Takes about 10 us, and 1 us for each thread, 10 us if it has run since the last look. More than
 * a few hundred are not looked at, and count as running.
 */
bool mal_others_sleep(void);

#endif
