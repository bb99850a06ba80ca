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
plan $(($# + $(wc -w <<<"${kinds_mpich:-one}") + 5))
start_cluster
cd "$work" || exit 1

# Rank 0 comes 50 ms late ten times, in which it sleeps: time outside MPI. Rank 1 waits in the
# meantime, and is outside MPI as long where that is not seen. A loop of looks is a wait only as
# long as it is not interrupted.
waits() {
	local most=0.5
	case $kind in test | iprobe | get-status | win-test | parrived) most=0.75 ;; esac
	report_has ".per_rank[1].mpi_s > 0.12 and
		.per_rank[1].serial_s < $most * .per_rank[0].serial_s"
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

# A rank that naps in a wait wakes for what others want of it. The best of three: on a busy machine
# it may have to wait for a CPU. (The sum in the window of MPICH 4.0.2 is 0 without us too.)
serves() {
	for _ in 1 2 3; do
		"$@" each
		exits 0 && says 'sum' || return
		served && return
	done
	return 1
}
ok "Open MPI: messages and windows of a waiting rank are served" \
	serves run srun -n2 -c1 --balance --balance-report=off "$programs/progress"
if [ -n "$kinds_mpich" ]; then
	ok "MPICH: messages and windows of a waiting rank are served" \
		serves run "$stage/bin/malleable" run --libdir "$stage/lib/malleable" \
		--balance --balance-report=off -- mpiexec.mpich -n 2 "$programs/progress-mpich"
else
	skip "MPICH: messages and windows of a waiting rank are served" "it is not installed"
fi

# The program is bound eagerly, or lazily, or calls by the slot alone.
sized() {
	local way
	for way in lazy now no-plt; do
		run env OMP_NUM_THREADS=1 "$stage/bin/malleable" run \
			--libdir "$stage/lib/malleable" --balance \
			--balance-report="$work/report.json" -- \
			mpiexec.mpich -n 2 "$programs/sized-mpich-$way"
		exits 0 && says '^total 60$' || return 1
		# Nothing where they are not seen; little where lending helps.
		report_has '.per_rank[1].mpi_s > 0.01 and .per_rank[1].lends > 0' || return 1
	done
}
if [ -n "$kinds_mpich" ]; then
	ok "MPICH: counts of type MPI_Count" sized
else
	skip "MPICH: counts of type MPI_Count" "it is not installed"
fi

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
