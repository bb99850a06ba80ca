/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * children.h: what the program sees of its CPUs, and which CPUs its child processes get.
 *
 * We bind each thread to one CPU. Unless the program did so itself it sees the CPUs that its rank
 * started with, and its children run on those that the rank uses.
 */
#ifndef MAL_RANK_CPUS_CHILDREN_H
#define MAL_RANK_CPUS_CHILDREN_H

/* In a forked child, while it still counts as a rank: let it use all CPUs of the rank. */
void mal_children_forked(void);

#endif
