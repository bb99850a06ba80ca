/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * counters.h: what each rank counts: one table.
 *
 * controller/report/counter_table.c sums and prints the rows, and doc/man/expand describes them in
 * the man page. So a new counter is one row here, beside the code that counts. segment.h then fails
 * to compile until its version changes.
 *
 * Invariant: each row with a key reaches the report, the status and the man page
 * (t/unit/test_report.c: each_counter_is_told).
 */
#pragma once

#include <stdatomic.h>
#include <stdint.h>

/* What ends a phase, in ascending order of strength (mal_header.kind). */
enum mal_boundary_kind {
	MAL_BOUNDARY_NONE,
	MAL_BOUNDARY_CALL,	 /* any call of MPI */
	MAL_BOUNDARY_PERIOD,	 /* a repeating sequence of the rank's regions */
	MAL_BOUNDARY_COLLECTIVE, /* a collective call of all ranks */
	MAL_BOUNDARY_MARK,	 /* malleable_phase() */
	MAL_BOUNDARY_KINDS
};

/*
 * Rows: X(field, kind, key in JSON, meaning), one a line. Kinds: CHANGE, a number, in the report's
 * line "CPUs:" too, in this order; EVENT, a number; TIME, ticks, in JSON seconds; PART, ticks or a
 * number of which other figures are made, without a key.
 */
/* clang-format off */
#define MAL_COUNTERS(X) \
	X(serial, PART, "", "ticks outside regions and MPI") \
	X(mpi, PART, "", "ticks in blocking MPI calls") \
	X(region, PART, "", "ticks inside regions, primary thread") \
	X(thread_ticks, PART, "", "ticks inside regions times threads") \
	X(regions, PART, "", "regions that ran") \
	X(free, PART, "", "regions of which it was proved that any team will do") \
	X(kept, PART, "", "regions that could have any team, but for bits of results") \
	X(overhead_ticks, PART, "", "ticks that the library's slow paths took") \
	X(lends, CHANGE, "lends", "CPUs offered in waits") \
	X(borrows, CHANGE, "borrows", "CPUs taken when a region started") \
	X(grants, CHANGE, "grants", "running threads of other ranks sent to the rank's CPUs") \
	X(reclaims, CHANGE, "reclaims", "lent CPUs taken back") \
	X(moves, CHANGE, "moves", "CPUs received for good") \
	X(evictions, EVENT, "evictions", "reclaims that found a borrower at work") \
	X(overlap, TIME, "overlap_s", "from such a reclaim until the borrower had left") \
	X(reclaim_ticks, TIME, "reclaims_s", "all that reclaims took")
/* clang-format on */

/* Cumulative counters of a rank; one writer, its primary thread. The hottest share a cache line. */
struct mal_counters {
#define MAL_COUNTER_FIELD(name, kind, key, meaning) _Atomic uint64_t name;
	MAL_COUNTERS(MAL_COUNTER_FIELD)
#undef MAL_COUNTER_FIELD
	_Atomic uint64_t boundaries[MAL_BOUNDARY_KINDS]; /* of each kind */
};
