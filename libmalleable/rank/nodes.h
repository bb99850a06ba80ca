/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * nodes.h: at the end of a step over several nodes their summaries come together, so that the first node's controller can report on
 * all of them.
 *
 * One rank of each node, its lowest, gives the summary of its node's controller to PMIx when it comes into MPI_Finalize; the step's rank 0
 * waits there for those of the others, which cannot leave MPI_Finalize before it. Where PMIx or a part of this is missing each node
 * reports by itself.
 */
#ifndef MAL_RANK_NODES_H
#define MAL_RANK_NODES_H

/* MPI has been initialised: say that this node will have a summary. */
void mal_nodes_begin(void);

/* The primary thread is in MPI_Finalize, before the MPI library is. PROGRESS lets that go on with what it has to do. */
void mal_nodes_end(void (*progress)(void));

#endif
