/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * deadline.h: one deadline for all waits of slurmstepd together, at a step's start and at its end.
 * Times are multiplied by the site's factor (base/patience.h).
 */
#pragma once

/* From now on all waits together may take MS at most. */
void balance_deadline_set(int ms);

/* How long the next wait may take: MAX ms, or less if less is left; 0: do not wait. */
int balance_deadline_left(int max);

/*
 * Set an earlier deadline, MS from now at the latest, until balance_deadline_restore() gets the
 * result.
 */
long balance_deadline_shorten(int ms);
void balance_deadline_restore(long before);
