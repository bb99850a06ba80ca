/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * events.h: report changes of this rank's CPUs as PMIx events, for tools that listen (events=yes).
 *
 * Primary thread only.
 */
#ifndef MAL_RANK_PMIX_EVENTS_H
#define MAL_RANK_PMIX_EVENTS_H

/* MPI is initialised: report events from now on, if the user wants them. */
void mal_events_begin(void);

/*
 * Report our CPUs if they changed since the last report. Called where a sample is given: at most
 * once a window.
 */
void mal_events_say(void);

/* Before MPI is finalised. */
void mal_events_end(void);

#endif
