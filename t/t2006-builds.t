#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Programs built otherwise than for libomp and Open MPI's C: GCC's libgomp, Fortran, threads of
# their own, oneTBB, MPICH.
. "$(dirname "$0")/lib.sh"
need fortran cxx tbb
need_cluster
start_cluster

seconds() { grep -h -o 'elapsed [0-9.]*' "$work/out" "$work/err" | head -n1 | cut -d' ' -f2; }
result() { grep -o 'result [0-9a-f]*' "$1"; }
same() {
	[ "$(result "$work/off")" = "$(result "$work/out")" ] || { echo "# another result"; false; }
}
without() {
	run srun -n2 -c1 "$@"
	cp "$work/out" "$work/off"
	exits 0 && result "$work/off" >"$work/result"
}
balanced() {
	run srun -n2 -c1 --balance --balance-report="$work/report.json" "$@"
	exits 0 && same
}
# fits PROGRAM...: balanced it has the same result.
fits() { without "$@" && balanced "$@"; }
# gains PROGRAM...: balanced it takes at most nine tenths of the time. Something else may run on the
# machine: the best of up to four.
gains() {
	local off on best=1e9
	without "$@" || return
	off=$(seconds)
	for _ in 1 2 3 4; do
		balanced "$@" || return
		on=$(seconds)
		best=$(awk -v a="$best" -v b="$on" 'BEGIN {print a < b ? a : b}')
		awk -v on="$best" -v off="$off" 'BEGIN {exit !(on < 0.9 * off)}' && return
	done
	echo "# $off s, balanced $best s"
	return 1
}
# fits_or_gains WHAT PROGRAM: with an argument it has little work.
fits_or_gains() {
	if full; then ok "$1 gains" gains "$2"; else ok "$1: the same result" fits "$2" 1; fi
}

# runtime_of BALANCE: what a program for libgomp has mapped while it runs.
runtime_of() {
	begin srun -n1 "$@" "$programs/patterns-gcc" plain 2 "$work/stop"
	wait_until grep -q . "$work/out"
	cat "/proc/$(pids_of patterns-gcc)/maps" >"$work/maps"
	ended
}
runtime_of --balance
ok "a program for libgomp runs on libomp" all_of "exits 0" "grep -q libomp.so $work/maps"
runtime_of --balance=gomp=keep
ok "with gomp=keep a program for libgomp stays on it" \
	all_of "exits 0" "grep -q libgomp.so $work/maps" \
	"! grep -q libomp.so $work/maps"
runtime_of
ok "without --balance a program for libgomp stays on it" \
	all_of "exits 0" "grep -q libgomp.so $work/maps" \
	"! grep -q libomp.so $work/maps"
run srun -n1 --balance sh \
	-c "echo preload=\$LD_PRELOAD; $programs/patterns-gcc plain 2; echo preload=\$LD_PRELOAD"
ok "a program behind a script is balanced, and the script keeps its environment" \
	all_of "exits 0" \
	"[ \"\$(grep -c 'preload=[^:]*libmalleable.so:[^:]*libmalleable_mpi.so\$' $work/out)\" = 2 ]"

fits_or_gains "libgomp's program on libomp" "$programs/bindings-mpi"
fits_or_gains "Fortran, mpif.h" "$programs/bindings-mpif"
fits_or_gains "Fortran, use mpi_f08" "$programs/bindings-f08"
ok "Fortran's phases are its collectives" report_has \
	'.per_rank[1].boundaries >= 20 and ([.per_rank[].mpi_s] | add) > 0'
run srun -n2 -c1 --balance --balance-report="$work/report.json" "$programs/bindings-marks" 1
ok "Fortran, use malleable" all_of "exits 0" "says 'balanced T'" \
	"report_has '.per_rank[0].boundaries == 20'"
run srun -n2 -c1 "$programs/bindings-marks" 1
ok "which does nothing without --balance" all_of "exits 0" "says 'balanced F'"
fits_or_gains "threads of its own" "$programs/pthreads"
ok "a program with threads of its own runs in cpuset mode" \
	report_has '.per_rank[0].mode == "cpuset"'
if full; then
	ok "work of a program's own threads is seen" report_has '.per_rank[0].work_s > 0.5'
	run srun -n2 -c1 --balance --balance-report="$work/report.json" "$programs/turns"
	ok "threads that compute in turns keep no CPU" \
		all_of "exits 0" "report_has '.cpu_changes | .lends > 3 * .grants'"
fi
run srun -n2 -c1 --balance "$programs/pins"
pins() { [ "$(grep -c ' wrong 0$' "$work/out")" = 6 ] || { sed 's/^/# /' "$work/out"; false; }; }
ok "threads that the program bound itself stay there, others get more CPUs" \
	all_of "exits 0" pins "says '^free wrong 0, wide$'"
fits_or_gains oneTBB "$programs/tbb"
run srun -n2 -c1 --balance=gomp=keep --balance-report="$work/report.json" "$programs/patterns-gcc" \
	plain 2
ok "libgomp kept: the report tells why" \
	all_of "exits 0" "report_has '.per_rank[0].why | test(\"OMPT\")'"

# MPICH's own launcher: Debian builds it without Slurm's process manager.
if [ -x "$programs/load-mpich" ]; then
	mpich() { run "$stage/bin/malleable" run --libdir "$stage/lib/malleable" --balance="$1" \
		--balance-report="$work/report.json" -- \
		mpiexec.mpich -n 2 "${@:2}"; }
	begin "$stage/bin/malleable" run --libdir "$stage/lib/malleable" --balance \
		--balance-report="$work/report.json" -- mpiexec.mpich -n 2 \
		env OMP_NUM_THREADS=2 "$programs/load-mpich" --work=30,10 --until="$work/stop"
	lends() {
		"$stage/bin/malleable" status --here --json 2>/dev/null |
			jq -e '.[0].ranks[1].lends > 0' >/dev/null 2>&1
	}
	wait_until lends
	ended
	ok "MPICH: waits are seen and lent" all_of "exits 0" \
		"report_has '.cpu_changes.lends > 0 and ([.per_rank[].mpi_s] | add) > 0'"
	run mpiexec.mpich -n 2 env OMP_NUM_THREADS=1 "$programs/patterns-mpich" plain 20
	cp "$work/out" "$work/plain"
	mpich auto env OMP_NUM_THREADS=1 "$programs/patterns-mpich" plain 20
	ok "MPICH: the same result" all_of "exits 0" "cmp $work/plain $work/out"
	mpich auto env OMP_NUM_THREADS=1 "$programs/bindings-mpich" 1
	ok "MPICH: Fortran, use mpi_f08" all_of "exits 0" \
		"report_has '.per_rank[1].boundaries >= 20'"
else
	for what in "waits are seen and lent" "the same result" "Fortran, use mpi_f08"; do
		skip "MPICH: $what" "MPICH is not installed"
	done
fi
done_testing
