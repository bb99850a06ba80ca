/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * children.h: what the program sees of its CPUs, and which CPUs its child processes get, and the
 * threads that the C library makes for it (timers, asynchronous I/O, name look-ups).
 *
 * We bind each thread to one CPU. The program sees what it would have without us: the CPUs that it
 * chose itself, or the user by variables of OpenMP, or those that its rank started with. Its
 * children run on those of them that the rank still owns.
 */
#pragma once

/*
 * Before a fork, behind it in the parent, and in the child while it still counts as a rank: let it
 * use those CPUs.
 */
void mal_children_fork(void);
void mal_children_fork_done(void);
void mal_children_forked(void);

/* Find what comes after ours: in a forked child another thread may have left the loader locked. */
void mal_children_open(void);

/* Count this program in its step as one that loaded this library (core/starts.h). Once. */
void mal_children_count_load(void);
