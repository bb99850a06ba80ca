/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * summary.h: collect the nodes' summaries at the end of a step, so that the first node's controller
 * reports on all nodes.
 *
 * The lowest rank of each node publishes its controller's summary through PMIx, that of Slurm or of
 * a launcher, in MPI_Finalize. The step's rank 0 waits there for the others, which cannot leave
 * MPI_Finalize before it. Where PMIx or a part of it is missing each node reports by itself.
 * Primary thread only.
 */
#pragma once

/* MPI is initialised: announce a summary of this node. */
void mal_summary_begin(void);

/*
 * The primary thread entered MPI_Finalize, and the MPI library has not yet. PROGRESS lets that make
 * progress; POLL is called between two looks, so that the rank lends its CPUs meanwhile.
 */
void mal_summary_end(void (*progress)(void), void (*poll)(void));
