#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# MPI libraries that Debian does not have: Intel MPI, MPICH 5 over OFI and UCX, Open MPI 5; and
# Python's mpi4py, which loads MPICH 5 privately.
. "$(dirname "$0")/lib.sh"
need mpich clang
[ "$(nproc)" -ge 2 ] || skip_all "needs two CPUs"
libraries=$builddir/t/mpi
[ -d "$libraries" ] || skip_all "needs contrib/prepare --mpi, which asks PyPI"
plan 23
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 PRTE_ALLOW_RUN_AS_ROOT=1 \
	PRTE_ALLOW_RUN_AS_ROOT_CONFIRM=1
# Debian's name for what has MPICH's binary interface.
mkdir -p "$work/names"

# with LIBRARY VARIABLES PROGRAM...: two ranks, balanced, behind the words in `on`.
on=() policy=auto threads=2
with() {
	local library=$libraries/$1 variables=$2
	shift 2
	ln -sf "$library/lib/libmpi.so.12" "$work/names/libmpich.so.12"
	rm -f "$work/report.json"
	# shellcheck disable=SC2086 # words are wanted
	limit=120 run env $variables I_MPI_ROOT="$library" OPAL_PREFIX="$library" \
		PMIX_PREFIX="$library" PRTE_PREFIX="$library" \
		PATH="$library/bin:$PATH" \
		LD_LIBRARY_PATH="$work/names:$library/lib:$library/lib/mpich" \
		"${on[@]}" "$stage/bin/malleable" run --libdir "$stage/lib/malleable" \
		--balance="$policy" --balance-report="$work/report.json" -- mpiexec -n 2 "$@"
}
# lends WHAT LIBRARY VARIABLES: waits of rank 1, which has a third of the work, are lent.
lends() {
	local what=$1 library=$2 variables=$3 program=${4:-$programs/load-mpich}
	if [ ! -d "$libraries/$library" ] || [ ! -x "$program" ]; then
		skip "$what" "not installed"
		return
	fi
	with "$library" "$variables" env OMP_NUM_THREADS="$threads" "$program" \
		--work=30,10 --iterations=10
	ok "$what" all_of "exits 0" "silent_about 'unknown MPI library'" \
		"report_has '.cpu_changes.lends > 0 and .per_rank[1].boundaries >= 10'"
}
lends "Intel MPI, shared memory: waits are lent" impi_rt I_MPI_FABRICS=shm
lends "Intel MPI, OFI: waits are lent" impi_rt I_MPI_FABRICS=ofi
lends "MPICH 5, UCX: waits are lent" mpich "MPIR_CVAR_NOLOCAL=1 MPIR_CVAR_CH4_NETMOD=ucx"
lends "MPICH 5, OFI: waits are lent" mpich "MPIR_CVAR_NOLOCAL=1 MPIR_CVAR_CH4_NETMOD=ofi"
lends "MPICH 5, shared memory: waits are lent" mpich MPIR_CVAR_NOLOCAL=0
lends "Open MPI 5: waits are lent" openmpi "" "$load"
# A rank with several CPUs lends all but the one on which it polls.
on=("$builddir/t/node/node" --cores=8 --per-rank=4 --) policy=external,lend=yes threads=4
lends "Intel MPI, OFI, whose polls are not seen: waits are lent" impi_rt \
	"I_MPI_FABRICS=ofi I_MPI_THREAD_YIELD=0"
on=() policy=auto threads=2

# Calls with counts of type MPI_Count, which Open MPI 5 does not have: 30 of them.
for library in impi_rt mpich; do
	if [ -d "$libraries/$library" ] && [ -x "$programs/sized-mpich-lazy" ]; then
		with "$library" "" env OMP_NUM_THREADS=2 "$programs/sized-mpich-lazy"
		ok "$library: calls with large counts are boundaries and lend" \
			all_of "exits 0" "says '^total 60$'" \
			"report_has '.per_rank[1] | .boundaries == 30 and .lends > 0'"
	else
		skip "$library: calls with large counts are boundaries and lend" "not installed"
	fi
done

python=$(python3 -c 'import sys; print(sys.executable)') packages=$(echo \
	"$libraries"/mpi4py/lib/python3*/site-packages)
if [ -d "$libraries/mpich" ] && PYTHONPATH=$packages "$python" -c 'import mpi4py' 2>/dev/null; then
	with mpich "MPI4PY_MPIABI=mpich PYTHONPATH=$packages" "$python" \
		"$srcdir/t/programs/private.py"
	ok "MPICH 5, loaded privately by mpi4py: its phases and waits are seen" \
		all_of "exits 0" "says 'total 12'" \
		"report_has '.per_rank[1].boundaries >= 24 and .per_rank[1].mpi_s > 0'"
else
	skip "MPICH 5, loaded privately by mpi4py: its phases and waits are seen" "not installed"
fi

# The standard's own binary interface: MPI_COMM_WORLD is another.
for library in impi_rt mpich; do
	if [ -e "$libraries/$library/lib/libmpi_abi.so.1" ] &&
		[ -s "$libraries/$library/lib/libmpi_abi.so.1" ] &&
		"${CC:-cc}" -o "$work/standard" "$srcdir/t/programs/standard.c" \
		"$libraries/$library/lib/libmpi_abi.so.1" 2>"$work/err"; then
		with "$library" "" "$work/standard"
		ok "$library with MPI 5's binary interface: its phases are seen" \
			all_of "exits 0" "says 'ranks 2'" \
			"report_has '.per_rank[1].boundaries == 12'"
	else
		skip "$library with MPI 5's binary interface: its phases are seen" "not installed"
	fi
done

# Phases without MPI_COMM_WORLD, of calls that do not block, and of persistent ones, 20 of each
# kind; Debian has them for MPICH alone. A wait for a part of a message is one too.
newer() {
	local library=$1 requests=$2 calls=$3
	if [ ! -d "$libraries/$library" ] || [ ! -x "$requests" ] || [ ! -x "$calls" ]; then
		skip "$library: persistent and non-blocking collective calls" "not installed"
		skip "$library: in a session without MPI_COMM_WORLD" "not installed"
		skip "$library: MPI_Parrived" "not installed"
		return
	fi
	with "$library" "" "$requests"
	ok "$library: persistent and non-blocking collective calls" all_of "exits 0" \
		"says 'phases 80'" "report_has '.per_rank[1].boundaries == 80'"
	with "$library" "" "$requests" sessions
	ok "$library: in a session without MPI_COMM_WORLD" all_of "exits 0" "says 'phases 80'" \
		"report_has '.per_rank[1] | .boundaries == 80 and .mpi_s > 0'"
	with "$library" "" "$calls" parrived
	ok "$library: MPI_Parrived" all_of "exits 0" "says done" \
		"report_has '.per_rank[1].mpi_s > 0.12'" \
		"report_has '.per_rank[1].serial_s < 0.75 * .per_rank[0].serial_s'"
}
cd "$work" || exit 1
for program in requests calls-mpi; do
	"${CC:-cc}" -O1 -std=gnu11 -o "$work/$program" -I"$libraries/openmpi/include" \
		"$srcdir/t/programs/$program.c" "$libraries/openmpi/lib/libmpi.so.40" \
		-Wl,--allow-shlib-undefined 2>"$work/err" || sed 's/^/# /' "$work/err"
done
newer openmpi "$work/requests" "$work/calls-mpi"
for library in impi_rt mpich; do
	newer "$library" "$programs/requests-mpich" "$programs/calls-mpich"
done

# A rank that naps in a wait wakes for what others want of it. The best of three: on a busy machine
# it may have to wait for a CPU.
serves() {
	for _ in 1 2 3; do
		with "$1" "" "$2" each
		exits 0 && says 'sum 1000' || return
		served && return
	done
	return 1
}
for library in impi_rt mpich; do
	if [ -d "$libraries/$library" ] && [ -x "$programs/progress-mpich" ]; then
		ok "$library: messages and windows of a waiting rank are served" \
			serves "$library" "$programs/progress-mpich"
	else
		skip "$library: messages and windows of a waiting rank are served" "not installed"
	fi
done
