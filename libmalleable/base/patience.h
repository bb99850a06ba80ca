/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * patience.h: the factor for all deadlines of ours, for machines that are slow or stall.
 *
 * Each process sets it once, at its start: from plugstack.conf in Slurm's daemons, from the command
 * line in those that they start, from MALLEABLE_PATIENCE in ranks and in the malleable command. So
 * root never waits longer than root or the site has set.
 */
#pragma once

#include <stdbool.h>

#define MAL_PATIENCE_MAX 1000

/* Set the factor: 1, the default, to MAL_PATIENCE_MAX; what is beyond these is cut. */
void mal_patience_set(unsigned int factor);

/*
 * Set it from TEXT; NULL leaves it. Returns false, and leaves it too, if that is no number from 1
 * to MAL_PATIENCE_MAX.
 */
bool mal_patience_take(const char *text);

unsigned int mal_patience(void);

/* How long a wait may take for which MS are meant: MS times the factor, INT_MAX at most. */
int mal_patience_ms(int ms);
