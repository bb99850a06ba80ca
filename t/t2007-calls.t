#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Each kind of MPI call in which a rank can wait is seen as a wait (t/programs/calls-mpi.c), in Open
# MPI and in MPICH.
. "$(dirname "$0")/lib.sh"
need_cluster
kinds=$("$programs/calls-mpi")
# shellcheck disable=SC2086 # one word each
set -- $kinds
kinds_mpich=
[ ! -x "$programs/calls-mpich" ] || kinds_mpich=$("$programs/calls-mpich")
plan $(($# + $(wc -w <<<"${kinds_mpich:-one}") + 2))
start_cluster
cd "$work" || exit 1

# Rank 0 comes 50 ms late ten times, the first few of which may be in no window; what else there is
# to wait for is less.
# A loop of looks is a wait only as long as it is not interrupted.
waits() {
	local least=0.3
	case $kind in test | iprobe | get-status | win-test) least=0.12 ;; esac
	report_has ".per_rank[1].mpi_s > $least"
}
for kind; do
	run srun -n2 --balance --balance-report="$work/report.json" "$programs/calls-mpi" "$kind"
	ok "Open MPI: $kind" all_of "exits 0" "says done" waits
done
[ -n "$kinds_mpich" ] || skip "MPICH" "it is not installed"
for kind in $kinds_mpich; do
	run "$stage/bin/malleable" run --libdir "$stage/lib/malleable" \
		--balance --balance-report="$work/report.json" -- \
		mpiexec.mpich -n 2 "$programs/calls-mpich" "$kind"
	ok "MPICH: $kind" all_of "exits 0" "says done" waits
done

run srun -n2 env LD_PRELOAD="$programs/pmpi.so" "$programs/calls-mpi" recv
cp "$work/err" "$work/plain"
run srun -n2 --balance --balance-report=off bash \
	-c "LD_PRELOAD=\$LD_PRELOAD:$programs/pmpi.so exec $programs/calls-mpi recv"
ok "another tool that interposes MPI sees the same calls" \
	all_of "exits 0" "[ \$(grep -c '^pmpi: 10 barriers' $work/plain) = 2 ]" \
	"[ \$(grep -c '^pmpi: 10 barriers' $work/err) = 2 ]"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
run mpirun --oversubscribe -n 2 "$programs/spawn"
if [ "$status" -ne 0 ]; then
	# Open MPI 5 finds no way from one job to the other on a machine that has the loopback
	# device alone.
	skip "MPI_Comm_spawn: the new process runs beside the balanced ones" \
		"it fails without us too"
else
	run "$stage/bin/malleable" run --libdir "$stage/lib/malleable" \
		--balance --balance-report="$work/report.json" -- \
		mpirun --oversubscribe -n 2 "$programs/spawn"
	ok "MPI_Comm_spawn: the new process runs beside the balanced ones" \
		all_of "exits 0" "says 'sum 42'"
fi
