#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Programs built otherwise than for libomp and Open MPI's C: GCC's libgomp, Fortran, threads of
# their own, oneTBB, MPICH.
. "$(dirname "$0")/lib.sh"
need_cluster
plan 18
start_cluster

# Work that takes a while, so that something can be gained. seconds: of the last run.
seconds() { grep -h -o 'elapsed [0-9.]*' "$work/out" "$work/err" | head -n1 | cut -d' ' -f2; }
result() { grep -o 'result [0-9a-f]*' "$1"; }
# gains TIMES-MOST PROGRAM...: balanced it takes at most so much of the time, and the result is the
# same. The better of two runs counts: other work on the machine makes runs longer, not shorter.
gains() {
	local most=$1 off on best=1e9
	shift
	run srun -n2 -c1 "$@"
	exits 0 || return 1
	off=$(seconds)
	cp "$work/out" "$work/off"
	# Something else may run on the machine: the best of up to four.
	for _ in 1 2 3 4; do
		run srun -n2 -c1 --balance --balance-report="$work/report.json" "$@"
		exits 0 || return 1
		[ "$(result "$work/off")" = "$(result "$work/out")" ] || {
			echo "# another result"
			return 1
		}
		on=$(seconds)
		best=$(awk -v a="$best" -v b="$on" 'BEGIN {print a < b ? a : b}')
		awk -v on="$best" -v off="$off" -v most="$most" 'BEGIN {exit !(on < most * off)}' &&
			return 0
	done
	echo "# $off s, balanced $best s"
	return 1
}
runtime_of() {
	run srun -n1 "$@" sh \
		-c 'exec "$0" plain 400 & sleep 1; cat /proc/$!/maps >'"$work/maps"'; wait' \
		"$programs/patterns-gcc"
}

runtime_of --balance
ok "a program for libgomp runs on libomp" all_of "exits 0" "grep -q libomp.so $work/maps"
runtime_of --balance=gomp=keep
ok "not with gomp=keep" all_of "exits 0" "! grep -q libomp.so $work/maps"
runtime_of
ok "and not without --balance" all_of "exits 0" "! grep -q libomp.so $work/maps"
run srun -n1 --balance sh \
	-c "echo preload=\$LD_PRELOAD; $programs/patterns-gcc plain 2; echo preload=\$LD_PRELOAD"
ok "also behind a script, which keeps its own environment" \
	all_of "exits 0" \
	"[ \"\$(grep -c 'preload=[^:]*libmalleable.so:[^:]*libmalleable_mpi.so\$' $work/out)\" = 2 ]"

ok "libgomp's program gains on libomp" gains 0.9 "$programs/bindings-mpi"
ok "Fortran, mpif.h" gains 0.9 "$programs/bindings-mpif"
ok "Fortran, use mpi_f08" gains 0.9 "$programs/bindings-f08"
ok "Fortran's phases are its collectives" report_has \
	'.per_rank[1].boundaries >= 20 and .per_rank[1].mpi_s > 0.1'
run srun -n2 -c1 --balance --balance-report="$work/report.json" "$programs/bindings-marks"
ok "Fortran, use malleable" all_of "exits 0" "says 'balanced T'" \
	"report_has '.per_rank[0].boundaries == 20'"
run srun -n2 -c1 "$programs/bindings-marks"
ok "which does nothing without --balance" all_of "exits 0" "says 'balanced F'"
ok "threads of its own gain" gains 0.9 "$programs/pthreads"
ok "in cpuset mode, and their work is seen" report_has \
	'.per_rank[0] | .mode == "cpuset" and .work_s > 0.5'
run srun -n2 -c1 --balance "$programs/pins"
pins() { [ "$(grep -c ' wrong 0$' "$work/out")" = 6 ] || { sed 's/^/# /' "$work/out"; false; }; }
ok "threads that the program bound itself stay there, others get more CPUs" \
	all_of "exits 0" pins "says '^free wrong 0, wide$'"
ok "oneTBB gains" gains 0.9 "$programs/tbb" 10
run srun -n2 -c1 --balance=gomp=keep --balance-report="$work/report.json" "$programs/patterns-gcc" \
	plain 200
ok "libgomp kept: the result is right, CPUs are lent" \
	all_of "exits 0" "report_has '.per_rank[0].why | test(\"OMPT\")'"

# MPICH's own launcher: Debian builds it without Slurm's process manager.
if [ -x "$programs/load-mpich" ]; then
	mpich() { run "$stage/bin/malleable" run --libdir "$stage/lib/malleable" --balance="$1" \
		--balance-report="$work/report.json" -- \
		mpiexec.mpich -n 2 "${@:2}"; }
	mpich auto env OMP_NUM_THREADS=1 "$programs/load-mpich" --work=30,10 --iterations=10
	ok "MPICH: waits are seen and lent" all_of "exits 0" \
		"report_has '.cpu_changes.lends > 0 and .per_rank[1].mpi_s > 0.1'"
	mpich off env OMP_NUM_THREADS=1 "$programs/patterns-mpich" plain
	cp "$work/out" "$work/plain"
	mpich auto env OMP_NUM_THREADS=1 "$programs/patterns-mpich" plain
	ok "MPICH: the same result" all_of "exits 0" "cmp $work/plain $work/out"
	mpich auto env OMP_NUM_THREADS=1 "$programs/bindings-mpich"
	ok "MPICH: Fortran, use mpi_f08" all_of "exits 0" \
		"report_has '.per_rank[1].boundaries >= 20'"
else
	for what in "waits are seen and lent" "the same result" "Fortran, use mpi_f08"; do
		skip "MPICH: $what" "MPICH is not installed"
	done
fi
