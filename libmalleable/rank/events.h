/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* events.h: changes of this rank's CPUs as PMIx events, for tools that listen (events=yes). */
#ifndef MAL_RANK_EVENTS_H
#define MAL_RANK_EVENTS_H

/* MPI has been initialised: from now on there may be events, if they are wanted. */
void mal_events_begin(void);

/* Say which CPUs are ours, if these are others than were said last. Primary thread, where a sample is given: at most once a window. */
void mal_events_say(void);

/* Before MPI is finalised. */
void mal_events_end(void);

#endif
