#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Each kind of MPI call in which a rank can wait is seen as a wait (t/programs/calls-mpi.c), in Open
# MPI and in MPICH.
. "$(dirname "$0")/lib.sh"
need_cluster
start_cluster
cd "$work" || exit 1
calls=("$programs/calls-mpi" "$programs/calls-mpich")

# waits: rank 1 is seen waiting in the one balanced step here, now.
waits() {
	"$stage/bin/malleable" status --here --json 2>/dev/null |
		jq -e '.[0].ranks[1].waiting' >/dev/null 2>&1
}
# each_waits NAME PROGRAM COMMAND...: in each kind of call in turn, of a program that COMMAND runs.
each_waits() {
	local name=$1 program=$2 kind
	shift 2
	mkdir "$name"
	begin "$@" "$program" all "$work/$name"
	for kind in $("$program"); do
		wait_until test -e "$name/$kind.called"
		ok "$name: $kind" wait_until waits
		: >"$name/$kind.come"
	done
	ended
	ok "$name: the program ends" all_of "exits 0" "says done"
}
mpich() {
	run "$stage/bin/malleable" run --libdir "$stage/lib/malleable" --balance \
		--balance-report="$work/report.json" -- mpiexec.mpich -n 2 "$@"
}
each_waits "Open MPI" "${calls[0]}" srun -n2 --balance
if [ -x "${calls[1]}" ]; then
	each_waits MPICH "${calls[1]}" "$stage/bin/malleable" run \
		--libdir "$stage/lib/malleable" --balance -- mpiexec.mpich -n 2
else
	skip "MPICH: each kind" "MPICH is not installed"
fi

# For how long: rank 0 comes 50 ms late ten times, in which it sleeps: time outside MPI. Rank 1
# waits in the meantime, and is outside MPI as long where that is not seen. A loop of looks is a
# wait only as long as it is not interrupted.
looped="test iprobe get-status win-test parrived"
long() {
	local most=0.5
	[[ " $looped " != *" $1 "* ]] || most=0.75
	report_has ".per_rank[1].mpi_s > 0.12 and
		.per_rank[1].serial_s < $most * .per_rank[0].serial_s"
}
if full; then
	for kind in $("${calls[0]}"); do
		run srun -n2 --balance --balance-report="$work/report.json" "${calls[0]}" "$kind"
		ok "Open MPI: all of the time in $kind" all_of "exits 0" "says done" "long $kind"
	done
	for kind in $([ ! -x "${calls[1]}" ] || "${calls[1]}"); do
		mpich "${calls[1]}" "$kind"
		ok "MPICH: all of the time in $kind" all_of "exits 0" "says done" "long $kind"
	done
fi

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
if full; then
	ok "Open MPI: messages and windows of a waiting rank are served" \
		serves run srun -n2 -c1 --balance --balance-report=off "$programs/progress"
	if [ -x "$programs/progress-mpich" ]; then
		ok "MPICH: messages and windows of a waiting rank are served" \
			serves mpich "$programs/progress-mpich"
	fi
fi

# The program is bound eagerly, or lazily, or calls by the slot alone.
sized() {
	local way
	for way in lazy now no-plt; do
		mpich env OMP_NUM_THREADS=2 "$programs/sized-mpich-$way"
		exits 0 && says '^total 60$' && ! says writable || return 1
		report_has '.per_rank[1].boundaries == 30' || return 1
		# Nothing where they are not seen; little where lending helps.
		! full || report_has '.per_rank[1].mpi_s > 0.01 and .per_rank[1].lends > 0' ||
			return 1
	done
}
if [ -x "${calls[1]}" ]; then
	ok "MPICH: counts of type MPI_Count" sized
else
	skip "MPICH: counts of type MPI_Count" "MPICH is not installed"
fi

run srun -n2 env LD_PRELOAD="$programs/pmpi.so" "$programs/calls-mpi" recv
cp "$work/err" "$work/plain"
run srun -n2 --balance --balance-report=off bash \
	-c "LD_PRELOAD=\$LD_PRELOAD:$programs/pmpi.so exec $programs/calls-mpi recv"
ok "another tool that interposes MPI sees the same calls" \
	all_of "exits 0" "[ \$(grep -c '^pmpi: 10 barriers' $work/plain) = 2 ]" \
	"[ \$(grep -c '^pmpi: 10 barriers' $work/err) = 2 ]"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
run "${mpirun[@]}" -n 2 "$programs/spawn"
if [ "$status" -ne 0 ]; then
	# Open MPI 5 finds no way from one job to the other on a machine that has the loopback
	# device alone.
	skip "MPI_Comm_spawn: the new process runs beside the balanced ones" \
		"it fails without us too"
else
	run "$stage/bin/malleable" run --libdir "$stage/lib/malleable" \
		--balance --balance-report="$work/report.json" -- \
		"${mpirun[@]}" -n 2 "$programs/spawn"
	ok "MPI_Comm_spawn: the new process runs beside the balanced ones" \
		all_of "exits 0" "says 'sum 42'"
fi
done_testing
