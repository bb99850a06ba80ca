/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * rank_memory.h: on which NUMA nodes the memory of a rank is, and on which it computes (pages=yes).
 *
 * Invariant: What a rank wrote are parts that add up to 1 (t/unit/test_report.c:
 * memory_is_told).
 */
#pragma once

#include "libmalleable/controller/state/controller.h"

struct mal_memory {
	bool known;				 /* the rank looked */
	double pages[MAL_NODES], cpu[MAL_NODES]; /* parts of its pages, and of its CPU time */
	unsigned int nodes;			 /* with any of both */
	/* The node with most pages beyond the part of the CPU time; that with most CPU time. */
	unsigned int far, near;
	double apart; /* the part of its pages that is where it does not compute */
};

struct mal_memory mal_memory_read(const struct mal_controller *controller, unsigned int rank);
