#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# The hot path does not get longer unseen: instructions per region and thread, per MPI call, per
# MPI_Test that finds nothing, per wait that ends at its first poll, per declared wait that ends at
# once, and per begin and end of a named region, in a step and outside. The bounds are what was
# counted, 310, 200, 55, 150, 92, 401 and 31, and some more: a wait that reads the clock takes 290.
# A busy machine adds to a count and never takes from it, as ranks that were preempted have more to
# look at: so the best of three counts. A poll that takes 5 us is worth a look at the clock, and
# each poll does under callgrind on a slow machine: the wait is bounded in --full alone.
. "$(dirname "$0")/lib.sh"
need mpi clang
command -v valgrind >/dev/null || skip_all "needs valgrind"
plan 1
# counted REGION CALL TEST WAIT DECLARED NAMED OUTSIDE: no more than these, in one of three counts.
counted() {
	for _ in 1 2 3; do
		OMPI_ALLOW_RUN_AS_ROOT=1 "$srcdir/t/bench/instructions" --build "$builddir" \
			--max-region "$1" --max-call "$2" --max-test "$3" --max-wait "$4" \
			--max-declared "$5" --max-named "$6" --max-outside "$7" \
			>"$work/out" 2>"$work/err" && return
	done
	sed 's/^/# /' "$work/out"
	return 1
}
wait=0
full && wait=230
ok "instructions of the hot path" counted 335 225 90 "$wait" 120 440 40
